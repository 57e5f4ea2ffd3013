//! Corrupted answers and their look-alikes, served by a hostile server on real sockets, read by the
//! gateway and judged by the post-hook. The cases are files of `tests/corpus/responses`.

mod contract;
mod mails;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use stateguard::{
    domain::{contract_terms::EffectClass, request::RenderedRequest, response::RawResponse},
    expr::Bindings,
    gateway::{Call, Endpoint, Gateway, HttpExecutor, Permit, ReadPermit},
    hook::post::{Accepted, Reader, StopKind, Stopped, check_response},
};

use self::contract::{Overrides, get_book};
use crate::support::{
    clock::ManualClock,
    hostile::{Hostile, Step},
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    row: String,
    about: String,
    expect: String,
    head: Vec<String>,
    body: Vec<Piece>,
    /// `none`: no `Content-Length` is added.
    length: Option<String>,
    /// What follows the answer: `hang`, `flood`; without it the connection closes.
    then: Option<String>,
    /// Byte by byte.
    #[serde(default)]
    drip: bool,
    #[serde(default)]
    contract: Overrides,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Hex { hex: String },
    Repeat { repeat: String, times: usize },
}

impl Piece {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => hex::decode(hex).unwrap(),
            Self::Repeat { repeat, times } => repeat.repeat(*times).into_bytes(),
        }
    }
}

impl Case {
    fn script(&self) -> Vec<Step> {
        let body: Vec<u8> = self.body.iter().flat_map(Piece::bytes).collect();
        let mut head = self.head.clone();
        let names = ["content-length:", "transfer-encoding:"];
        let framed = |line: &String| names.iter().any(|n| line.to_lowercase().starts_with(n));
        if self.length.is_none() && !head.iter().any(framed) {
            head.push(format!("Content-Length: {}", body.len()));
        }
        let head = (head.join("\r\n") + "\r\n\r\n").into_bytes();
        let mut script = vec![Step::Send(head)];
        script.push(if self.drip { Step::Drip(body) } else { Step::Send(body) });
        match self.then.as_deref() {
            None => {}
            Some("hang") => script.push(Step::Hang),
            Some("flood") => script.push(Step::Flood(b"10\r\n0123456789abcdef\r\n".to_vec())),
            Some(other) => panic!("{}: unknown `then`: {other}", self.row),
        }
        script
    }
}

fn cases() -> Vec<(String, Case)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/responses");
    let mut found: Vec<(String, Case)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let case = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
            (name, case)
        })
        .collect();
    assert!(found.len() > 1, "the corpus is missing");
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

async fn fetch(case: &Case, max_bytes: u64) -> RawResponse {
    let server = Hostile::playing(case.script()).await;
    let endpoint = Endpoint::new(&format!("http://{}/", server.at), Vec::new()).unwrap();
    let clock = Arc::new(ManualClock::at("2026-01-05T09:00:00Z"));
    let executor = Arc::new(HttpExecutor::new(clock.clone()).unwrap());
    let endpoints = BTreeMap::from([("library".to_owned(), endpoint)]);
    let call = Call {
        tool: "get_book".to_owned(),
        request: RenderedRequest {
            endpoint: "library".to_owned(),
            method: "GET".to_owned(),
            path: vec!["v1".to_owned(), "books".to_owned(), "bk_17".to_owned()],
            query: Vec::new(),
            headers: BTreeMap::new(),
            body: None,
        },
        idempotency_header: None,
        accept: "application/json".to_owned(),
        max_bytes: usize::try_from(max_bytes).unwrap(),
        timeout: Duration::from_secs(2),
    };
    let permit = Permit::Read(ReadPermit::new(EffectClass::Read).unwrap());
    let stalls = case.then.as_deref() == Some("hang");
    let timeout = Duration::from_millis(if stalls { 150 } else { 5_000 });
    let report = Gateway::new(endpoints, executor, clock).attempt(&permit, &call, timeout).await;
    report.response.unwrap_or_else(|| panic!("{}: {:?}", case.row, report.fault))
}

fn bindings() -> Bindings {
    let mut seen = Bindings::new();
    seen.bind("args", json!({"book_id": "bk_17"}));
    seen.bind("subject", json!({"id": "m_1"}));
    seen
}

const AGENT: Reader = Reader::Agent { claimed: false };

async fn judge(case: &Case) -> Result<Accepted, Stopped> {
    let contract = get_book(&case.contract);
    let response = fetch(case, contract.response.max_bytes).await;
    check_response(&contract, &response, &bindings(), AGENT)
}

#[tokio::test]
async fn every_corrupted_answer_is_stopped_for_its_reason_and_every_look_alike_passes() {
    let cases = cases();
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        let judged = judge(case).await;
        let found = match &judged {
            Ok(_) => "pass",
            Err(stopped) => stopped.code.as_str(),
        };
        if found != case.expect {
            wrong.push(format!("{name} ({}): {} expected, {judged:?}", case.about, case.expect));
        }
    }
    let passing = cases.iter().filter(|(_, case)| case.expect == "pass").count();
    assert!(cases.len() - passing >= 60 && passing >= 25, "{} cases, {passing} pass", cases.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn answer(body: &Value) -> RawResponse {
    let body = body.to_string().into_bytes();
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let framing = stateguard::domain::response::Framing::Whole;
    RawResponse { status: 200, headers, framing, body }
}

fn book() -> Value {
    json!({"book_id": "bk_17", "title": "Ada", "copies": 3, "state": "lent", "lender": "m_1"})
}

#[test]
fn an_accepted_answer_leaves_projected_and_labelled() {
    let contract = get_book(&Overrides::default());
    let accepted = check_response(&contract, &answer(&book()), &bindings(), AGENT).unwrap();

    assert_eq!(accepted.result, book());
    assert_eq!(accepted.projected, json!({"book_id": "bk_17", "title": "Ada", "state": "lent"}));
    assert_eq!(accepted.display.as_deref(), Some("bk_17"));
    assert!(accepted.finished);
    let label = |at: &str| {
        let at = stateguard::domain::pointer::Pointer::parse(at).unwrap();
        accepted.labels.at(&at).integrity.as_str()
    };
    assert_eq!((label("/book_id"), label("/title")), ("internal", "untrusted"));

    let claimed = Reader::Agent { claimed: true };
    let seen = check_response(&contract, &answer(&book()), &bindings(), claimed).unwrap();
    assert_eq!(seen.projected, json!({"state": "lent"}));
    let daemon = check_response(&contract, &answer(&book()), &bindings(), Reader::Daemon).unwrap();
    assert_eq!(daemon.projected, book());
}

#[test]
fn somebody_elses_record_is_stopped_for_an_agent_and_read_by_the_daemon() {
    let contract = get_book(&Overrides { relation: true, ..Overrides::default() });
    let mut foreign = book();
    foreign["lender"] = json!("m_2");
    let stopped = check_response(&contract, &answer(&foreign), &bindings(), AGENT).unwrap_err();
    assert_eq!(stopped.kind, StopKind::NotRelated);
    assert_eq!(stopped.code.public().as_str(), "not_permitted");
    assert!(check_response(&contract, &answer(&book()), &bindings(), AGENT).is_ok());
    assert!(check_response(&contract, &answer(&foreign), &bindings(), Reader::Daemon).is_ok());
    // No subject: the relation cannot be evaluated, which is not "true".
    let stopped = check_response(&contract, &answer(&book()), &Bindings::new(), AGENT);
    assert!(stopped.is_err());
}

#[test]
fn accepted_but_not_done_is_not_finished() {
    let contract = get_book(&Overrides { outcome: true, ..Overrides::default() });
    let finished = |state: &str| {
        let mut book = book();
        book["state"] = json!(state);
        check_response(&contract, &answer(&book), &bindings(), AGENT).unwrap().finished
    };
    assert!(finished("lent"));
    assert!(!finished("on_shelf"));
}

#[test]
fn what_is_told_about_a_stop_quotes_no_value_of_the_answer() {
    let contract = get_book(&Overrides::default());
    for (name, value) in [
        ("title", json!(17)),
        ("state", json!("zebra-7731")),
        ("book_id", json!("zebra-7731")),
        ("due", json!("zebra-7731")),
        ("copies", json!("zebra-7731")),
        ("error", json!({"message": "zebra-7731"})),
    ] {
        let mut body = book();
        body[name] = value;
        let stopped = check_response(&contract, &answer(&body), &bindings(), AGENT).unwrap_err();
        assert!(!format!("{stopped:?}").contains("zebra"), "{stopped:?}");
    }
}
