//! Story 5: the same refund twice, after a crash, and from a second session. One refund.

use super::{ACT, LAMP, NORA, Scene, scene::last_of};
use crate::demo::{agent::Deed, error::DemoError, wire::AgentOrder};

const MAIL: &str = "broken-on-arrival";
const REFUND: &str = "create_refund_request";

pub(super) async fn play(scene: &mut Scene) -> Result<(), DemoError> {
    scene.say(format!("Nora signed a form for {LAMP}; the agent gets the refund paid."));
    let first = refund(scene).await?;
    scene.expect(
        "the first refund is executed and verified",
        first.state == "VERIFIED" && !first.replayed,
    );
    scene.say("The agent sends the same intent again.");
    let again = sent_again(scene).await?;
    scene.expect("it gets the stored outcome", is_replay(&first, &again));
    scene
        .say("SIGKILL. Another daemon starts on the same store, and the agent sends it once more.");
    scene.stage.crash_and_restart().await?;
    let after = sent_again(scene).await?;
    scene.expect("the outcome survived the crash and is replayed", is_replay(&first, &after));
    let found = scene.look_into_the_shop().await?;
    scene.expect("the shop was asked for a refund once", found.asked("POST", "/v1/refunds") == 1);
    scene.say("A second session, again with a signed form for the same order.");
    let second = refund(scene).await?;
    scene.expect(
        "the second session's refund is not executed",
        !second.executed && second.verdict != "ALLOW",
    );
    let found = scene.look_into_the_shop().await?;
    let only = matches!(found.refunds.as_slice(), [only] if only.order_id == LAMP);
    scene.expect(format!("the shop has one refund for {LAMP}"), only);
    scene.expect("and was still asked for one once", found.asked("POST", "/v1/refunds") == 1);
    Ok(())
}

async fn refund(scene: &mut Scene) -> Result<Deed, DemoError> {
    scene.open_signed_in(NORA, Some((ACT, LAMP))).await?;
    scene.agent(AgentOrder::Read { mail: MAIL.to_owned() }).await?;
    scene.agent(AgentOrder::LookUp).await?;
    let deeds = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    Ok(last_of(&deeds, REFUND).cloned().unwrap_or_default())
}

async fn sent_again(scene: &mut Scene) -> Result<Deed, DemoError> {
    Ok(scene.agent(AgentOrder::Again).await?.pop().unwrap_or_default())
}

fn is_replay(first: &Deed, again: &Deed) -> bool {
    again.replayed && again.executed && again.result == first.result && !again.result.is_null()
}
