//! Many at once, and two daemons: one effect.

use serde_json::json;
use stateguard::{
    app::{approval::Ballot, audit::Auditor},
    domain::reason::ReasonCode,
};

use super::both;
use crate::support::world::{World, intent, submission};

both! {
    a_hundred_submissions_of_one_effect_make_one_dispatch
    a_hundred_answers_to_one_question_have_one_outcome
    reads_and_writes_of_one_session_do_not_lose_each_other
}

async fn a_hundred_answers_to_one_question_have_one_outcome(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let asked = world.refund(&session, "CMD-9988").await.unwrap();
    let confirmed = world.confirm("cus_1001", &asked).await.unwrap();
    let question = confirmed.question.unwrap();
    let second = world.daemon(4_321).await;
    let calls = (0..100).map(|number| {
        let app = if number % 2 == 0 { world.app.clone() } else { second.clone() };
        let approver = world.person(&format!("ann_{number}"), &["approver", "refund_approver"]);
        let ballot = Ballot {
            escalation: format!("escalations/{}", question.question),
            digest: question.digest.to_string(),
            approve: number % 3 != 2,
            reason: "it does not look right".to_owned(),
        };
        tokio::spawn(async move { app.vote(&approver, ballot).await })
    });
    let mut counted = 0;
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(_) => counted += 1,
            Err(refused) => assert_eq!(refused.code, ReasonCode::QuestionAnswered, "{refused:?}"),
        }
    }
    assert_eq!(counted, 1, "one answer counts");
    let posts = world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await;
    assert!(posts <= 1, "{posts}");
    let refunds =
        world.shop_count("SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'").await;
    assert_eq!(refunds, posts);
}

async fn reads_and_writes_of_one_session_do_not_lose_each_other(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let refund = world.refund_intent(&session, "CMD-9988").await;
    let mut calls = vec![submission(&session, refund)];
    for number in 0..12 {
        let order = if number % 2 == 0 { "CMD-9990" } else { "CMD-8120" };
        calls.push(submission(&session, intent("get_order", json!({"order_id": order}))));
    }
    let calls: Vec<_> = calls
        .into_iter()
        .map(|submission| {
            let (app, caller) = (world.app.clone(), world.agent());
            tokio::spawn(async move { app.submit(&caller, submission).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let report = Auditor::new(world.home.store(), world.sealer()).verify(|_| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(
        world.shop_count("SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'").await,
        1
    );
}

async fn a_hundred_submissions_of_one_effect_make_one_dispatch(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let intent = world.refund_intent(&session, "CMD-9988").await;
    let second = world.daemon(1_234).await;
    let calls = (0..100).map(|number| {
        let app = if number % 2 == 0 { world.app.clone() } else { second.clone() };
        let (caller, submission) = (world.agent(), submission(&session, intent.clone()));
        tokio::spawn(async move { app.submit(&caller, submission).await })
    });
    let mut actions = std::collections::BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(answer) => {
                let state = answer.action.state;
                assert!(state.has_executed(), "{state}: {:?}", answer.action.decision.code_texts());
                actions.insert(answer.action.id);
            }
            Err(refused) => {
                assert_eq!(refused.code, ReasonCode::IdempotencyInFlight, "{refused:?}")
            }
        }
    }
    assert_eq!(actions.len(), 1, "one action holds the effect");
    assert_eq!(
        world.shop_count("SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'").await,
        1
    );
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 1);
}
