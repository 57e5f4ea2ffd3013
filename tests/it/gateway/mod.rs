//! The gateway against a hostile server on real sockets: how far an attempt got, and what came.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use secrecy::SecretString;
use serde_json::json;
use stateguard::{
    domain::{
        contract_terms::EffectClass,
        request::RenderedRequest,
        response::{Framing, RawResponse},
    },
    gateway::{
        AttemptReport, Call, Endpoint, Gateway, HttpExecutor, Permit, Phase, ReadPermit,
        TransportFault,
    },
};

use crate::support::{
    clock::ManualClock,
    hostile::{Hostile, Step},
};

const SECOND: Duration = Duration::from_secs(1);

fn read_permit() -> Permit {
    Permit::Read(ReadPermit::new(EffectClass::Read).unwrap())
}

fn get(segment: &str) -> Call {
    Call {
        tool: "get_book".to_owned(),
        request: RenderedRequest {
            endpoint: "library".to_owned(),
            method: "GET".to_owned(),
            path: vec!["v1".to_owned(), segment.to_owned()],
            query: vec![("shelf".to_owned(), "a&b".to_owned())],
            headers: BTreeMap::new(),
            body: None,
        },
        idempotency_header: None,
        accept: "application/json".to_owned(),
        max_bytes: 1_000,
        timeout: SECOND,
    }
}

fn gateway(address: &str) -> Gateway {
    let secret = vec![("X-Api-Key".to_owned(), SecretString::from("hush-4711"))];
    let endpoint = Endpoint::new(&format!("http://{address}/base/"), secret).unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-05T09:00:00Z"));
    let executor = Arc::new(HttpExecutor::new(clock.clone()).unwrap());
    Gateway::new(BTreeMap::from([("library".to_owned(), endpoint)]), executor, clock)
}

async fn attempt(server: &Hostile, call: &Call, timeout: Duration) -> AttemptReport {
    gateway(&server.at.to_string()).attempt(&read_permit(), call, timeout).await
}

async fn answer(bytes: &[u8]) -> (Phase, RawResponse) {
    let server = Hostile::answering(bytes).await;
    let report = attempt(&server, &get("b1"), SECOND).await;
    (report.phase, report.response.unwrap_or_else(|| panic!("no answer: {:?}", report.fault)))
}

fn head(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}\r\n")
}

#[tokio::test]
async fn a_request_is_sent_as_rendered_and_asks_for_no_encoding() {
    let server = Hostile::answering(head("Content-Length: 2\r\n") + "{}").await;
    let mut call = get("../x y");
    call.request.method = "POST".to_owned();
    call.request.body = Some(json!({"b": 1, "a": "ü"}));
    let report = attempt(&server, &call, SECOND).await;

    let response = report.response.unwrap();
    assert_eq!((response.status, response.framing), (200, Framing::Whole));
    assert_eq!((report.phase, &response.body[..]), (Phase::Answered, &b"{}"[..]));
    assert_eq!(response.header("content-type"), ["application/json"]);
    let request = server.requests().remove(0);
    assert_eq!(report.bytes_sent, request.len() as u64);
    let (sent, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(sent.starts_with("POST /base/v1/..%2Fx%20y?shelf=a%26b HTTP/1.1\r\n"), "{sent}");
    let sent = sent.to_ascii_lowercase();
    for line in [
        "accept-encoding: identity",
        "accept: application/json",
        "content-type: application/json",
        "connection: close",
        "x-api-key: hush-4711",
        &format!("host: {}", server.at),
    ] {
        assert!(sent.lines().any(|l| l == line), "{line} in {sent}");
    }
    assert!(!sent.contains("idempotency-key"));
    assert_eq!(body, r#"{"a":"ü","b":1}"#);
}

#[tokio::test]
async fn a_refused_connection_and_an_unknown_endpoint_provably_sent_nothing() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = free.local_addr().unwrap().to_string();
    drop(free);
    let refused = gateway(&at).attempt(&read_permit(), &get("b1"), SECOND).await;
    assert_eq!((refused.phase, refused.fault), (Phase::NotSent, Some(TransportFault::Refused)));

    let mut call = get("b1");
    call.request.endpoint = "archive".to_owned();
    let unknown = gateway(&at).attempt(&read_permit(), &call, SECOND).await;
    assert_eq!((unknown.phase, unknown.fault), (Phase::NotSent, Some(TransportFault::Unsendable)));
    let dots = gateway(&at).attempt(&read_permit(), &get(".."), SECOND).await;
    assert_eq!((dots.phase, dots.fault), (Phase::NotSent, Some(TransportFault::Unsendable)));
}

#[tokio::test]
async fn a_redirect_is_reported_and_not_followed_and_nothing_is_repeated() {
    let other = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let location = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n",
        other.at
    );
    let server = Hostile::answering(location).await;
    let report = attempt(&server, &get("b1"), SECOND).await;
    assert_eq!(report.response.unwrap().status, 302);
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
    let server = Hostile::answering("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n").await;
    attempt(&server, &get("b1"), SECOND).await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn silence_after_the_request_is_sent_and_the_connection_is_ended_with_the_attempt() {
    let mut server = Hostile::playing(vec![Step::Hang]).await;
    let report = attempt(&server, &get("b1"), Duration::from_millis(150)).await;
    assert_eq!((report.phase, report.fault), (Phase::Sent, Some(TransportFault::Timeout)));
    assert!(report.bytes_sent > 0);
    tokio::time::timeout(SECOND, server.connection_ended()).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_was_sent() {
    for script in [vec![], vec![Step::Reset]] {
        let server = Hostile::playing(script).await;
        let report = attempt(&server, &get("b1"), SECOND).await;
        assert_eq!((report.phase, report.fault), (Phase::Sent, Some(TransportFault::Closed)));
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_malformed_head() {
    for bytes in ["<html>no\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Ty", "SSH-2.0-x\r\n"] {
        let server = Hostile::answering(bytes).await;
        let report = attempt(&server, &get("b1"), SECOND).await;
        let fault = Some(TransportFault::MalformedHead);
        assert_eq!((report.phase, report.fault), (Phase::PartlyAnswered, fault), "{bytes}");
    }
}

#[tokio::test]
async fn short_bodies_are_truncated_however_their_length_was_announced() {
    let declared = head("Content-Length: 500\r\n") + "{\"a\":1}";
    let chunked = head("Transfer-Encoding: chunked\r\n") + "7\r\n{\"a\":1}\r\n";
    for bytes in [declared, chunked] {
        let (phase, response) = answer(bytes.as_bytes()).await;
        assert_eq!((phase, response.framing), (Phase::PartlyAnswered, Framing::Truncated));
        assert_eq!(response.body, b"{\"a\":1}");
    }
}

#[tokio::test]
async fn a_stalled_body_keeps_what_came() {
    let begin = head("Content-Length: 50\r\n") + "{\"a\":";
    let server = Hostile::playing(vec![Step::Send(begin.into()), Step::Hang]).await;
    let report = attempt(&server, &get("b1"), Duration::from_millis(150)).await;
    let response = report.response.unwrap();
    assert_eq!((report.phase, response.framing), (Phase::PartlyAnswered, Framing::Stalled));
    assert_eq!(response.body, b"{\"a\":");
}

#[tokio::test]
async fn bytes_past_the_announced_end_are_seen_at_once_and_a_moment_later() {
    let honest = head("Content-Length: 7\r\nConnection: close\r\n") + "{\"a\":1}";
    let (_, response) = answer((honest.clone() + "{\"a\":2}").as_bytes()).await;
    assert_eq!(response.framing, Framing::Overrun);
    let script = vec![
        Step::Send(honest.clone().into()),
        Step::Wait(Duration::from_millis(2)),
        Step::Send(b"{\"a\":2}".to_vec()),
    ];
    let server = Hostile::playing(script).await;
    let late = attempt(&server, &get("b1"), SECOND).await.response.unwrap();
    assert_eq!(late.framing, Framing::Overrun);
    let (_, response) = answer(honest.as_bytes()).await;
    assert_eq!(response.framing, Framing::Whole);
    let chunked =
        head("Transfer-Encoding: chunked\r\n") + "7\r\n{\"a\":1}\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n";
    assert_eq!(answer(chunked.as_bytes()).await.1.framing, Framing::Overrun);
}

#[tokio::test]
async fn two_statements_of_the_length_conflict() {
    for headers in [
        "Content-Length: 2\r\nContent-Length: 7\r\n",
        "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 2, 7\r\n",
    ] {
        let (phase, response) = answer((head(headers) + "{\"a\":1}").as_bytes()).await;
        assert_eq!(
            (phase, response.framing),
            (Phase::Answered, Framing::LengthConflict),
            "{headers}"
        );
    }
    let (_, same) =
        answer((head("Content-Length: 2\r\nContent-Length: 2\r\n") + "{}").as_bytes()).await;
    assert_eq!(same.framing, Framing::Whole);
}

#[tokio::test]
async fn reading_stops_at_the_byte_limit_and_the_limit_itself_passes() {
    let (_, announced) = answer(head("Content-Length: 1001\r\n").as_bytes()).await;
    assert_eq!((announced.framing, announced.body.len()), (Framing::TooLarge, 0));
    let exact = head("Content-Length: 1000\r\n") + &"x".repeat(1000);
    let (_, exact) = answer(exact.as_bytes()).await;
    assert_eq!((exact.framing, exact.body.len()), (Framing::Whole, 1000));

    let chunk = b"10\r\n0123456789abcdef\r\n".to_vec();
    let begin = head("Transfer-Encoding: chunked\r\n").into_bytes();
    let mut server = Hostile::playing(vec![Step::Send(begin), Step::Flood(chunk)]).await;
    let endless = attempt(&server, &get("b1"), SECOND).await.response.unwrap();
    assert_eq!((endless.framing, endless.body.len()), (Framing::TooLarge, 1000));
    tokio::time::timeout(SECOND, server.connection_ended()).await.unwrap();
}

#[tokio::test]
async fn legal_framing_passes_whatever_its_pieces() {
    let chunked = head("Transfer-Encoding: chunked\r\n")
        + "1;note=x\r\n{\r\n5\r\n\"a\":1\r\n1\r\n}\r\n0\r\nX-Trailer: t\r\n\r\n";
    let server = Hostile::playing(vec![Step::Drip(chunked.into())]).await;
    let response = attempt(&server, &get("b1"), SECOND).await.response.unwrap();
    assert_eq!((response.framing, &response.body[..]), (Framing::Whole, &b"{\"a\":1}"[..]));
    let (_, early) = answer(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
    assert_eq!((early.status, early.framing), (200, Framing::Whole));
    assert_eq!(early.header("link"), Vec::<&str>::new());
    let (_, empty) = answer(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!((empty.status, empty.framing, empty.body.len()), (204, Framing::Whole, 0));
    let (_, old) = answer(b"HTTP/1.0 200 OK\r\n\r\n{}").await;
    assert_eq!((old.framing, &old.body[..]), (Framing::Whole, &b"{}"[..]));
}
