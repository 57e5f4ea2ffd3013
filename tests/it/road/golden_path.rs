//! What is right goes through: read, resolved, executed, read back, closed; and again, replayed.

use serde_json::json;
use stateguard::domain::{
    action::ActionState, contract_terms::Verdict, reason::ReasonCode, session::SessionState,
};

use super::both;
use crate::support::world::{World, codes, name};

both! {
    an_honest_refund_is_executed_verified_and_closes_the_case
    the_same_intent_again_is_answered_with_the_stored_outcome
    another_session_gets_no_second_refund
    a_confirmed_refund_still_needs_its_approval_and_then_runs_once
    a_tool_that_lies_is_mismatched_and_halts_the_session
    an_answer_that_never_came_is_looked_up_and_settled_without_a_second_request
}

async fn an_honest_refund_is_executed_verified_and_closes_the_case(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    assert_eq!(session.state, SessionState::Analyzing);
    let answer = world.refund(&session, "CMD-9988").await.unwrap();
    assert_eq!(answer.action.decision.verdict, Verdict::Allow, "{:?}", answer.action.decision);
    assert_eq!(answer.action.state, ActionState::Verified, "{:?}", answer.action.verification);
    assert_eq!(answer.session_state, SessionState::Closed);
    assert_eq!(
        world.shop_count("SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'").await,
        1
    );
    let asked_by_order =
        "SELECT COUNT(*) FROM requests WHERE method = 'GET' AND path LIKE '/v1/refunds?order_id=%'";
    assert_eq!(world.shop_count(asked_by_order).await, 1, "verified over another endpoint");
}

async fn the_same_intent_again_is_answered_with_the_stored_outcome(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let intent = world.refund_intent(&session, "CMD-9988").await;
    let first = world.submit(&session, intent.clone()).await.unwrap();
    let second = world.submit(&session, intent.clone()).await.unwrap();
    assert!(second.replayed && !first.replayed);
    assert_eq!(second.action.id, first.action.id);
    assert_eq!(second.action.state, ActionState::Verified);
    assert_eq!(second.result.unwrap().content, first.result.unwrap().content);
    let other_daemon = world.daemon(99).await;
    let third = other_daemon
        .submit(&world.agent(), crate::support::world::submission(&session, intent))
        .await
        .unwrap();
    assert!(third.replayed);
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 1);
}

async fn another_session_gets_no_second_refund(world: World) {
    let first = world.open("cus_1001", &["CMD-9990"]).await;
    let done = world.refund(&first, "CMD-9990").await.unwrap();
    assert_eq!(done.action.state, ActionState::Verified, "{:?}", codes(&done));
    let second = world.open("cus_1001", &["CMD-9990"]).await;
    let again = world.refund(&second, "CMD-9990").await.unwrap();
    assert_ne!(again.action.decision.verdict, Verdict::Allow);
    assert!(codes(&again).contains(&ReasonCode::PossibleDuplicate.as_str()), "{:?}", codes(&again));
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 1);
}

async fn a_confirmed_refund_still_needs_its_approval_and_then_runs_once(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let mail = world.ingest(&session, "My order CMD-9988 arrived broken.").await;
    let mut intent = world.refund_intent(&session, "CMD-9988").await;
    intent.citations[0].datum = mail.id.to_string();
    intent.citations[0].place = stateguard::domain::intent::CitedPlace::Text {
        pointer: stateguard::domain::pointer::Pointer::root(),
        exact: "CMD-9988".to_owned(),
    };
    let asked = world.submit(&session, intent).await.unwrap();
    assert_eq!(
        codes(&asked),
        ["act_not_asked_for", "target_not_named", "untrusted_source_for_sensitive_action"]
    );
    assert_eq!(asked.action.state, ActionState::AwaitingConfirmation);
    assert_eq!(asked.session_state, SessionState::AwaitingConfirmation);
    let confirmed = world.confirm("cus_1001", &asked).await.unwrap();
    assert_eq!(confirmed.action.state, ActionState::AwaitingApproval, "{:?}", codes(&confirmed));
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 0);
    let question = confirmed.question.unwrap();
    let ballot = |digest: &str| stateguard::app::approval::Ballot {
        escalation: format!("escalations/{}", question.question),
        digest: digest.to_owned(),
        approve: true,
        reason: String::new(),
    };
    let approver = world.person("ann", &["approver", "refund_approver"]);
    let outdated =
        world.app.vote(&approver, ballot(&asked.question.unwrap().digest.to_string())).await;
    assert_eq!(outdated.unwrap_err().code, ReasonCode::ViewOutdated);
    let himself = world.person("p_cus_1001", &["approver", "refund_approver"]);
    let own = world.app.vote(&himself, ballot(question.digest.as_str())).await;
    assert_eq!(own.unwrap_err().code, ReasonCode::NotEligible);
    let done = world.app.vote(&approver, ballot(question.digest.as_str())).await.unwrap();
    assert_eq!(done.action.state, ActionState::Verified, "{:?}", codes(&done));
    let twice = world.app.vote(&approver, ballot(question.digest.as_str())).await;
    assert_eq!(twice.unwrap_err().code, ReasonCode::QuestionAnswered);
    assert_eq!(
        world.shop_count("SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'").await,
        1
    );
}

async fn a_tool_that_lies_is_mismatched_and_halts_the_session(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    world.fault(json!({"path": "/v1/refunds", "method": "POST", "mode": "lie"})).await;
    let answer = world.refund(&session, "CMD-9988").await.unwrap();
    assert_eq!(answer.action.state, ActionState::Mismatched);
    assert_eq!(answer.session_state, SessionState::Halted);
    let after = world.read_order(&session, "CMD-9988").await;
    assert_eq!(codes(&after), ["session_halted"]);
}

async fn an_answer_that_never_came_is_looked_up_and_settled_without_a_second_request(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let fault =
        json!({"path": "/v1/refunds", "method": "POST", "mode": "act_then_hang", "times": 1});
    world.fault(fault).await;
    let answer = world.refund(&session, "CMD-9988").await.unwrap();
    assert_eq!(answer.action.state, ActionState::Verified, "{:?}", answer.action.outcome);
    assert_eq!(answer.action.outcome.unwrap().settled_by, "look_up");
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 1);
    let session = world.app.session(&world.agent(), &name(&session)).await.unwrap();
    assert_eq!(session.state, SessionState::Closed);
}
