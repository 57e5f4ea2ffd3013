//! Story 9: the agent tries to speak for the customer, to confirm, to endorse, and to widen its scope.

use serde_json::Value;

use super::{ACT, NORA, Part, Scene};
use crate::demo::{
    agent::Attempt, error::DemoError, people::PeopleOrder, portal::PortalOrder, wire::AgentOrder,
};

pub(super) async fn play(scene: &mut Scene) -> Result<(), DemoError> {
    scene.say(
        "Nora is signed in. The hostile mail has led to a refund that waits for her confirmation.",
    );
    let session = scene.open_signed_in(NORA, None).await?;
    scene.customer_says(NORA, &session, "My new lamp does not work. What can I do?").await?;
    scene.agent(AgentOrder::Read { mail: "refund-without-checks".to_owned() }).await?;
    scene.agent(AgentOrder::LookUp).await?;
    let deeds = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    let waiting = deeds.last().cloned().unwrap_or_default();
    scene.expect(
        "a refund waits for Nora's confirmation",
        waiting.verdict == "CONFIRMATION_REQUIRED",
    );
    scene.say(
        "Now the agent helps itself: it tries everything, with every token it has or can make.",
    );
    let (acts, orders) = (vec![ACT.to_owned()], vec!["CMD-7001".to_owned()]);
    let leaked_scope = scene
        .portal(PortalOrder::SignForm { customer: "cus_2002".to_owned(), acts, orders })
        .await?;
    let reach = AgentOrder::Reach {
        action: waiting.action.clone(),
        digest: waiting.digest.clone(),
        leaked_scope,
    };
    let tried: Vec<Attempt> = scene.ask_agent(reach).await?;
    scene.told.parts.push(Part::Tried(tried.clone()));
    let with_own: Vec<&Attempt> = tried.iter().filter(|attempt| !attempt.forged).collect();
    let denied = with_own.iter().all(|attempt| attempt.code == "PERMISSION_DENIED");
    scene.expect(
        "with its own token: `PERMISSION_DENIED`, each time",
        denied && with_own.len() >= 5,
    );
    let refused = |attempt: &&Attempt| {
        matches!(attempt.code.as_str(), "UNAUTHENTICATED" | "PERMISSION_DENIED")
    };
    let forged: Vec<&Attempt> = tried.iter().filter(|attempt| attempt.forged).collect();
    scene.expect(
        "with tokens it forged: nobody knows them",
        !forged.is_empty() && forged.iter().all(refused),
    );
    let entries: Vec<Value> = scene
        .people(PeopleOrder::Entries { kind: "refusal".to_owned(), session: String::new() })
        .await?;
    let recorded =
        |call: &str| entries.iter().any(|entry| entry.get("call") == Some(&Value::from(call)));
    let calls =
        ["DataService/SubmitStatement", "IntentService/ConfirmAction", "DataService/EndorseValue"];
    let opening = Value::from("SessionService/OpenSession");
    let openings = entries.iter().filter(|entry| entry.get("call") == Some(&opening)).count();
    // A wider scope, another's scope, a scope of its own making.
    let all = calls.iter().all(|call| recorded(call)) && openings == 3;
    scene.expect(
        "the auditor finds an entry of every try that came with a known token",
        all && entries.len() > with_own.len(),
    );
    scene.told.parts.push(Part::Entries(entries));
    let after = scene.explain(&waiting.action).await?;
    let state = after.action.as_ref().map(|action| action.state().as_str_name());
    scene.expect("the refund still waits for Nora", state == Some("ACTION_AWAITING_CONFIRMATION"));
    scene.expect_nothing_refunded().await?;
    Ok(())
}
