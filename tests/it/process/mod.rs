//! The binary itself: killed, started again, two of it on one database, its doors.

mod crash;
pub(crate) mod daemon;
mod doors;

use serde_json::json;
use stateguard::pb::v1;

use self::daemon::{Daemon, signed, submission};
use crate::support::{
    stores::Home,
    world::{RunningClock, World},
};

/// A world whose clock is that of other processes.
async fn world(home: Home) -> World {
    World::at(home, RunningClock::real()).await
}

async fn open(world: &World, daemon: &Daemon, scope: &[&str]) -> String {
    let scope_token = match scope {
        [] => String::new(),
        orders => world.scope_token("cus_1001", orders),
    };
    let message = v1::OpenSessionRequest {
        workflow: "refund".to_owned(),
        purpose: "refund_request".to_owned(),
        principal_token: world.session_token("cus_1001"),
        scope_token,
        narrower: None,
    };
    let request = signed(&world.agent_token(), message);
    daemon.sessions().open_session(request).await.unwrap().into_inner().name
}

/// Reads the order; the intent that asks for its refund, citing what was read.
async fn refund_of(
    world: &World,
    daemon: &Daemon,
    session: &str,
    order: &str,
) -> v1::SubmitIntentRequest {
    let read = submission(session, "get_order", &json!({"order_id": order}), None);
    let read = daemon.intents().submit_intent(signed(&world.agent_token(), read)).await.unwrap();
    let datum = read.into_inner().outcome.unwrap().result_datum;
    let arguments =
        json!({"order_id": order, "reason_code": "service_failure", "evidence_refs": [datum]});
    submission(session, "create_refund_request", &arguments, Some(&datum))
}

async fn action(world: &World, daemon: &Daemon, name: &str) -> v1::Action {
    let message =
        v1::GetActionRequest { name: name.to_owned(), result_view: v1::View::Handle as i32 };
    daemon.intents().get_action(signed(&world.agent_token(), message)).await.unwrap().into_inner()
}
