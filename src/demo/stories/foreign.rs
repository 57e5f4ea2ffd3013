//! Story 3: a mail names an order of another customer.

use serde_json::Value;

use super::{LAMP, NORA, Part, Scene, scene::last_of};
use crate::demo::{error::DemoError, people::PeopleOrder, wire::AgentOrder};

const FOREIGN: &str = "CMD-7001";

pub(super) async fn play(scene: &mut Scene) -> Result<(), DemoError> {
    scene.say(format!(
        "Nora is signed in. Her mail asks for the money of {FOREIGN}, which is Henry's."
    ));
    let session = scene.open_signed_in(NORA, None).await?;
    let words = format!("I wrote you a mail. My last order with you was {LAMP}.");
    scene.customer_says(NORA, &session, &words).await?;
    scene.agent(AgentOrder::Read { mail: "somebody-elses-order".to_owned() }).await?;
    let reads = scene.agent(AgentOrder::LookUp).await?;
    let foreign = reads.iter().find(|deed| deed.about == FOREIGN).cloned().unwrap_or_default();
    scene.told.parts.push(Part::AgentSaw(Box::new(foreign.clone())));
    scene.expect(
        "looking it up, the agent sees `not_permitted` and not one byte of the order",
        foreign.has_reason("not_permitted")
            && foreign.result.is_null()
            && foreign.result_datum.is_empty(),
    );
    let deeds = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    let refund = last_of(&deeds, "create_refund_request").cloned().unwrap_or_default();
    scene.told.parts.push(Part::AgentSaw(Box::new(refund.clone())));
    scene.expect(
        "asking for its money is denied",
        refund.verdict == "DENY" && refund.state == "DENIED",
    );
    scene.expect(
        "the agent is told `not_permitted`, never why",
        refund.has_reason("not_permitted") && !refund.has_reason("identity_mismatch"),
    );
    let entries: Vec<Value> =
        scene.people(PeopleOrder::Entries { kind: "decision".to_owned(), session }).await?;
    let says_so = |entry: &&Value| {
        let reasons = entry.get("reasons").and_then(Value::as_array);
        reasons.is_some_and(|codes| codes.contains(&Value::from("identity_mismatch")))
    };
    let entries: Vec<Value> = entries.iter().filter(says_so).cloned().collect();
    scene.expect("the log says `identity_mismatch`", !entries.is_empty());
    scene.told.parts.push(Part::Entries(entries));
    scene.expect_nothing_refunded().await?;
    Ok(())
}
