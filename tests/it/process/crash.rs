//! Killed at the worst moment, and two at once: one effect, and somebody knows what became of it.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;
use stateguard::pb::v1;
use tonic::Code;

use super::{
    action,
    daemon::{Daemon, signed},
    open, refund_of, world,
};
use crate::support::{stores::Home, world::World};

const POSTS: &str = "SELECT COUNT(*) FROM requests WHERE method = 'POST'";
const REFUNDS: &str = "SELECT COUNT(*) FROM refunds WHERE order_id = 'CMD-9988'";

/// The action's state once it has come to rest.
async fn rested(world: &World, daemon: &Daemon, name: &str) -> v1::ActionState {
    for _ in 0..300 {
        let state = action(world, daemon, name).await.state();
        let moving = [
            v1::ActionState::Dispatched,
            v1::ActionState::OutcomeUnknown,
            v1::ActionState::Succeeded,
            v1::ActionState::Pending,
        ];
        if !moving.contains(&state) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the action never came to rest");
}

async fn killed_while_the_tool_acts(world: World) {
    let configuration = world.configuration();
    let daemon = Daemon::start(&configuration).await;
    let session = open(&world, &daemon, &["CMD-9988"]).await;
    let mut refund = refund_of(&world, &daemon, &session, "CMD-9988").await;
    world
        .fault(
            json!({"path": "/v1/refunds", "method": "POST", "mode": "act_then_hang", "times": 1}),
        )
        .await;
    refund.wait = Some(prost_types::Duration { seconds: 0, nanos: 0 });
    let sent = daemon.intents().submit_intent(signed(&world.agent_token(), refund.clone())).await;
    let name = sent.unwrap().into_inner().name;
    for _ in 0..100 {
        if world.shop_count(REFUNDS).await == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    daemon.kill().await;

    let daemon = Daemon::start(&configuration).await;
    assert_eq!(rested(&world, &daemon, &name).await, v1::ActionState::Verified);
    refund.wait = None;
    let again = daemon.intents().submit_intent(signed(&world.agent_token(), refund)).await;
    let again = again.unwrap().into_inner();
    assert!(again.replayed, "{again:?}");
    assert_eq!(again.name, name);
    assert_eq!(world.shop_count(REFUNDS).await, 1);
    assert_eq!(world.shop_count(POSTS).await, 1, "looked for, not repeated");
}

async fn a_caller_that_leaves_does_not_stop_the_road(world: World) {
    let daemon = Daemon::start(&world.configuration()).await;
    let session = open(&world, &daemon, &["CMD-9988"]).await;
    let refund = refund_of(&world, &daemon, &session, "CMD-9988").await;
    world
        .fault(json!({"path": "/v1/refunds", "method": "POST", "mode": "delay:800ms", "times": 1}))
        .await;
    let mut hasty = signed(&world.agent_token(), refund.clone());
    hasty.set_timeout(Duration::from_millis(200));
    let left = daemon.intents().submit_intent(hasty).await.unwrap_err();
    assert!(matches!(left.code(), Code::Cancelled | Code::DeadlineExceeded), "{left:?}");
    let mut name = None;
    for _ in 0..100 {
        let mut intents = daemon.intents();
        let asked = signed(&world.agent_token(), refund.clone());
        match intents.submit_intent(asked).await {
            Ok(answer) => {
                name = Some(answer.into_inner().name);
                break;
            }
            Err(status) => assert_eq!(status.code(), Code::Aborted, "{status:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let state = rested(&world, &daemon, &name.unwrap()).await;
    assert_eq!(state, v1::ActionState::Verified);
    assert_eq!(world.shop_count(POSTS).await, 1);
}

async fn a_tool_that_fails_twice_sees_one_key(world: World) {
    let daemon = Daemon::start(&world.configuration()).await;
    let session = open(&world, &daemon, &["CMD-9988"]).await;
    let refund = refund_of(&world, &daemon, &session, "CMD-9988").await;
    world.fault(json!({"path": "/v1/refunds", "method": "POST", "mode": "503", "times": 1})).await;
    let sent = daemon.intents().submit_intent(signed(&world.agent_token(), refund)).await;
    let name = sent.unwrap().into_inner().name;
    rested(&world, &daemon, &name).await;
    let keys = "SELECT COUNT(DISTINCT idempotency_key) FROM requests WHERE method = 'POST'";
    assert_eq!(world.shop_count(keys).await, 1);
    assert!(world.shop_count(REFUNDS).await <= 1);
}

/// Each answer comes to a daemon that was not there when the question was asked: one intent goes on,
/// nothing before it is done again.
async fn an_answer_after_a_restart_resumes_one_action(world: World) {
    let configuration = world.configuration();
    let daemon = Daemon::start(&configuration).await;
    let session = open(&world, &daemon, &[]).await;
    let refund = refund_of(&world, &daemon, &session, "CMD-9988").await;
    let asked = daemon.intents().submit_intent(signed(&world.agent_token(), refund)).await;
    let asked = asked.unwrap().into_inner();
    assert_eq!(asked.state(), v1::ActionState::ActionAwaitingConfirmation, "{asked:?}");
    daemon.kill().await;

    let daemon = Daemon::start(&configuration).await;
    let digest = asked.question.unwrap().digest;
    let yes = v1::ConfirmActionRequest {
        name: asked.name.clone(),
        digest: digest.clone(),
        confirm: true,
    };
    let principal = world.customer_token("cus_1001", Some(&digest));
    let confirmed = daemon.intents().confirm_action(signed(&principal, yes)).await.unwrap();
    let mut action = confirmed.into_inner();
    if action.state() == v1::ActionState::ActionAwaitingApproval {
        daemon.kill().await;
        let daemon = Daemon::start(&configuration).await;
        let question = action.question.take().unwrap();
        let ballot = v1::VoteRequest {
            name: question.escalation,
            digest: question.digest,
            approve: true,
            reason: String::new(),
        };
        let approver = world.person_token("ann", &["approver", "refund_approver"]);
        let mut approvals =
            v1::approval_service_client::ApprovalServiceClient::new(daemon.channel());
        action = approvals.vote(signed(&approver, ballot)).await.unwrap().into_inner();
        assert!(action.outcome.as_ref().is_some_and(|outcome| outcome.executed), "{action:?}");
        assert_eq!(rested(&world, &daemon, &asked.name).await, v1::ActionState::Verified);
    } else {
        assert_eq!(rested(&world, &daemon, &asked.name).await, v1::ActionState::Verified);
    }
    assert_eq!(world.shop_count(POSTS).await, 1);
    assert_eq!(world.shop_count(REFUNDS).await, 1);
}

mod sqlite {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_answer_after_a_restart_resumes_one_action() {
        let world = world(Home::sqlite().await).await;
        super::an_answer_after_a_restart_resumes_one_action(world).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_while_the_tool_acts() {
        super::killed_while_the_tool_acts(world(Home::sqlite().await).await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_caller_that_leaves_does_not_stop_the_road() {
        super::a_caller_that_leaves_does_not_stop_the_road(world(Home::sqlite().await).await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_tool_that_fails_twice_sees_one_key() {
        super::a_tool_that_fails_twice_sees_one_key(world(Home::sqlite().await).await).await;
    }
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_answer_after_a_restart_resumes_one_action() {
        let world = world(Home::postgres().await).await;
        super::an_answer_after_a_restart_resumes_one_action(world).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_while_the_tool_acts() {
        super::killed_while_the_tool_acts(world(Home::postgres().await).await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_caller_that_leaves_does_not_stop_the_road() {
        let world = world(Home::postgres().await).await;
        super::a_caller_that_leaves_does_not_stop_the_road(world).await;
    }

    /// Two daemon processes on one database count as one.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_hundred_submissions_to_two_daemons_make_one_dispatch() {
        let world = world(Home::postgres().await).await;
        let configuration = world.configuration();
        let daemons = [Daemon::start(&configuration).await, Daemon::start(&configuration).await];
        let session = open(&world, &daemons[0], &["CMD-9988"]).await;
        let refund = refund_of(&world, &daemons[1], &session, "CMD-9988").await;
        let calls: Vec<_> = (0..100)
            .map(|number| {
                let mut intents = daemons[number % 2].intents();
                let request = signed(&world.agent_token(), refund.clone());
                tokio::spawn(async move { intents.submit_intent(request).await })
            })
            .collect();
        let mut names = BTreeSet::new();
        for call in calls {
            match call.await.unwrap() {
                Ok(answer) => {
                    names.insert(answer.into_inner().name);
                }
                Err(status) => assert_eq!(status.code(), Code::Aborted, "{status:?}"),
            }
        }
        assert_eq!(names.len(), 1);
        assert_eq!(world.shop_count(POSTS).await, 1);
        assert_eq!(world.shop_count(REFUNDS).await, 1);
        let name = names.pop_first().unwrap();
        assert_eq!(rested(&world, &daemons[1], &name).await, v1::ActionState::Verified);
    }
}
