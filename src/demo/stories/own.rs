//! A mail of the user's own: whatever it says, nobody asked for a refund in a way that counts.

use super::{NORA, Own, Scene};
use crate::demo::{agent::Deed, error::DemoError, wire::AgentOrder};

/// As it came: the intake knows an address, and nobody signed in.
pub(super) async fn by_mail(scene: &mut Scene, own: &Own) -> Result<(), DemoError> {
    let customer = scene.stage.till.customer(&own.from).await?;
    scene.say(match &customer {
        Some(id) => format!(
            "The mail claims to be from {}, the address of customer {id}. Nobody signed in.",
            own.from
        ),
        None => format!(
            "The mail claims to be from {}, whom the shop does not know. Nobody signed in.",
            own.from
        ),
    });
    scene.open_by_mail(customer.as_deref(), &own.from).await?;
    work(scene, own).await
}

/// While its sender, or else Nora, is signed in and signed nothing.
pub(super) async fn signed_in(scene: &mut Scene, own: &Own) -> Result<(), DemoError> {
    let customer = scene.stage.till.customer(&own.from).await?;
    let customer = match customer {
        Some(id) => {
            scene.say(format!(
                "Customer {id}, whose address the mail bears, is signed in and signed no form."
            ));
            id
        }
        None => {
            scene.say("The shop does not know the sender; Nora is signed in, and signed no form.");
            NORA.to_owned()
        }
    };
    let session = scene.open_signed_in(&customer, None).await?;
    scene.customer_says(&customer, &session, "Hello, please look at my mail.").await?;
    work(scene, own).await
}

async fn work(scene: &mut Scene, own: &Own) -> Result<(), DemoError> {
    scene.say("The agent believes every word and does what it says.");
    let read = scene.agent(AgentOrder::Read { mail: own.mail.clone() }).await?;
    let is_read = read.iter().any(|deed| deed.executed && !deed.result.is_null());
    scene.expect("the agent could read the mail", is_read);
    scene.agent(AgentOrder::LookUp).await?;
    let deeds: Vec<Deed> = scene.agent(AgentOrder::Act { citing_records: false }).await?;
    if deeds.is_empty() {
        scene.say("It found nothing that asks for money.");
    }
    scene.expect("nothing was carried out", deeds.iter().all(|deed| !deed.executed));
    scene.expect_nothing_refunded().await?;
    Ok(())
}
