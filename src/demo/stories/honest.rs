//! Story 1: an honest complaint. Signed in and asked for, it is paid; by mail alone, it is prepared.

use serde_json::Value;

use super::{
    ACT, LAMP, LAMP_CENTS, NORA, NORA_MAIL, Part, Scene,
    scene::{last_codes, last_of},
};
use crate::demo::{
    error::DemoError,
    people::{PeopleOrder, Person},
    wire::AgentOrder,
};

const MAIL: &str = "broken-on-arrival";
const REFUND: &str = "create_refund_request";

/// The customer signs in and signs a form: a refund of that order.
pub(super) async fn by_portal(scene: &mut Scene) -> Result<(), DemoError> {
    scene.say(format!("Nora signs in on the portal and signs a form: {ACT} for {LAMP}."));
    let session = scene.open_signed_in(NORA, Some((ACT, LAMP))).await?;
    scene
        .customer_says(
            NORA,
            &session,
            &format!("My lamp arrived broken. I ask for the refund of order {LAMP}."),
        )
        .await?;
    scene.say("The agent reads her mail, looks the order up, and proposes the refund.");
    scene.agent(AgentOrder::Read { mail: MAIL.to_owned() }).await?;
    scene.agent(AgentOrder::LookUp).await?;
    let deeds = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    let refund = last_of(&deeds, REFUND).cloned().unwrap_or_default();
    scene.expect("the refund was allowed", refund.verdict == "ALLOW");
    scene.expect(
        "executed, and its effect read back",
        refund.executed && refund.state == "VERIFIED",
    );
    let session: Value = scene.ask_agent(AgentOrder::Look).await?;
    let (state, outcome) = (session.get("state"), session.get("outcome"));
    scene.expect(
        "the case is closed as refunded",
        state == Some(&Value::from("CLOSED")) && outcome == Some(&Value::from("refunded")),
    );
    let found = scene.look_into_the_shop().await?;
    let is_paid = matches!(found.refunds.as_slice(),
        [only] if only.order_id == LAMP && only.amount_cents == LAMP_CENTS && only.status == "paid");
    scene.expect(format!("the shop paid {LAMP} back once, 49.90 EUR"), is_paid);
    let by_order = format!("/v1/refunds?order_id={LAMP}");
    scene.expect(
        "its access log shows the read-back over another endpoint",
        found.asked_after(("POST", "/v1/refunds"), ("GET", &by_order)),
    );
    Ok(())
}

/// The same mail, and nobody signed in.
pub(super) async fn by_mail(scene: &mut Scene) -> Result<(), DemoError> {
    scene.say("The same mail, but nobody signed in: it only claims to be from Nora.");
    scene.open_by_mail(Some(NORA), NORA_MAIL).await?;
    scene.agent(AgentOrder::Read { mail: MAIL.to_owned() }).await?;
    scene.agent(AgentOrder::LookUp).await?;
    scene.say("The agent prepares a case note. For a mere claim even that is a person's decision.");
    let deeds = scene.agent(AgentOrder::Note).await?;
    let note = deeds.last().cloned().unwrap_or_default();
    scene.expect("the note waits for one approval", note.needs == ["APPROVAL_REQUIRED"]);
    scene.say("Ines, who leads the desk, reads the note and lets it be written.");
    let vote = PeopleOrder::Vote {
        who: Person::DeskLead,
        name: note.escalation.clone(),
        approve: true,
        reason: "a plain summary of the mail".to_owned(),
    };
    let _: Value = scene.people(vote).await?;
    let written = scene.explain(&note.action).await?;
    let state = written.action.as_ref().map(|action| action.state().as_str_name());
    scene.expect("the note is written and read back", state == Some("VERIFIED"));
    scene.say("Then it proposes the refund.");
    let deeds = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    let refund = last_of(&deeds, REFUND).cloned().unwrap_or_default();
    waits_complete(scene, &refund).await?;
    let found = scene.expect_nothing_refunded().await?;
    let notes = found.notes.iter().filter(|note| note.order_id == LAMP).count();
    scene.expect("the shop has the one case note", notes == 1 && found.notes.len() == 1);
    Ok(())
}

/// One approval answers "meant?" and "may it?", since nobody can be asked the first.
async fn waits_complete(
    scene: &mut Scene,
    refund: &crate::demo::agent::Deed,
) -> Result<(), DemoError> {
    scene.expect(
        "the refund waits for one approval, which answers both questions",
        refund.verdict == "APPROVAL_REQUIRED" && refund.needs == ["APPROVAL_REQUIRED"],
    );
    let reasons = last_codes(&scene.told);
    let wanted = ["act_not_asked_for", "principal_not_authenticated", "target_not_named"];
    let has_all = wanted.iter().all(|code| reasons.iter().any(|reason| reason == code));
    scene.expect("because nobody signed in, named the order or asked for the act", has_all);
    if refund.escalation.is_empty() {
        scene.expect("an escalation is waiting", false);
        return Ok(());
    }
    let waiting: Value =
        scene.people(PeopleOrder::Escalation { name: refund.escalation.clone() }).await?;
    let text = |name: &str| waiting.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_complete = text("state") == "pending"
        && text("arguments_json").contains(LAMP)
        && text("amount_minor") == LAMP_CENTS.to_string()
        && text("currency") == "EUR";
    scene.told.parts.push(Part::Waiting(waiting));
    scene.expect(
        "the escalation is pending with the complete action: order, reason, 49.90 EUR",
        is_complete,
    );
    Ok(())
}
