//! Many at once, and two daemons: one effect.

use stateguard::domain::reason::ReasonCode;

use super::both;
use crate::support::world::{World, submission};

both! {
    a_hundred_submissions_of_one_effect_make_one_dispatch
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
