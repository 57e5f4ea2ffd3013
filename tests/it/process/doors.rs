//! The doors: who may not come in is told so with a status, a code and what to do.

use serde_json::json;
use stateguard::pb::v1;
use tonic::{Code, Request, Status};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_types::StatusExt;

use super::{
    daemon::{Daemon, signed, submission},
    open, world,
};
use crate::support::stores::Home;

fn code(status: &Status) -> (Code, String) {
    let details = status.get_error_details();
    let info = details.error_info().expect("every refusal has an ErrorInfo").clone();
    assert!(info.metadata.contains_key("remedy"), "{info:?}");
    (status.code(), info.metadata["code"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_door_has_its_answer() {
    let world = world(Home::sqlite().await).await;
    let daemon = Daemon::start(&world.configuration()).await;
    let session = open(&world, &daemon, &[]).await;
    let get = |name: &str| v1::GetSessionRequest { name: name.to_owned() };

    let nobody = daemon.sessions().get_session(Request::new(get(&session))).await.unwrap_err();
    assert_eq!(code(&nobody), (Code::Unauthenticated, "token_missing".to_owned()));
    let scribble = daemon.sessions().get_session(signed("a.b.c", get(&session))).await.unwrap_err();
    assert_eq!(code(&scribble), (Code::Unauthenticated, "token_malformed".to_owned()));
    // A token that names a principal is not one that calls.
    let named = world.session_token("cus_1001");
    let wrong_kind =
        daemon.sessions().get_session(signed(&named, get(&session))).await.unwrap_err();
    assert_eq!(wrong_kind.code(), Code::Unauthenticated);

    let token = world.agent_token();
    let unknown = format!("sessions/ses_{}", "0".repeat(26));
    let missing = daemon.sessions().get_session(signed(&token, get(&unknown))).await.unwrap_err();
    assert_eq!(code(&missing), (Code::NotFound, "not_found".to_owned()));
    let nonsense = daemon.sessions().get_session(signed(&token, get("x"))).await.unwrap_err();
    assert_eq!(nonsense.message(), missing.message(), "no oracle");

    let mut viewless = submission(&session, "get_order", &json!({"order_id": "CMD-9988"}), None);
    viewless.result_view = 0;
    let invalid = daemon.intents().submit_intent(signed(&token, viewless)).await.unwrap_err();
    assert_eq!(code(&invalid), (Code::InvalidArgument, "field_invalid".to_owned()));
    assert!(invalid.message().contains("result_view"), "{}", invalid.message());

    let huge = "x".repeat(2 << 20);
    let huge = submission(&session, "get_order", &json!({"order_id": huge}), None);
    let refused = daemon.intents().submit_intent(signed(&token, huge)).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");

    let exact = json!({"order_id": "CMD-9988", "n": 9_007_199_254_740_993_i64});
    let decided = submission(&session, "get_order", &exact, None);
    let decided = daemon.intents().submit_intent(signed(&token, decided)).await.unwrap();
    assert_eq!(decided.into_inner().decision.unwrap().verdict(), v1::Verdict::Deny);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_and_readiness_are_told() {
    let world = world(Home::sqlite().await).await;
    let daemon = Daemon::start(&world.configuration()).await;
    let mut health = HealthClient::new(daemon.channel());
    let service = HealthCheckRequest { service: "stateguard.v1.IntentService".to_owned() };
    let status = health.check(service).await.unwrap().into_inner().status();
    assert_eq!(status, tonic_health::pb::health_check_response::ServingStatus::Serving);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for path in ["livez", "readyz", "metrics"] {
        let answer = client.get(format!("{}/{path}", daemon.http)).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}");
    }
}
