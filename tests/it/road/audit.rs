//! An auditor finds what was changed behind the daemon's back, and nothing where nothing was.

use std::collections::BTreeSet;

use serde_json::json;
use stateguard::{app::audit::Auditor, decision_log::check::Fault};

use super::both;
use crate::support::world::{World, intent};

both! {
    a_record_as_written_has_no_findings
    what_was_edited_is_named
}

async fn played(world: &World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    world.say(&session, "cus_1001", "please look at CMD-9988").await;
    world.refund(&session, "CMD-9988").await.unwrap();
    let other = world.open("cus_1001", &[]).await;
    world.submit(&other, intent("wire_money", json!({}))).await.unwrap();
    let asked = world.refund(&other, "CMD-9990").await.unwrap();
    world.confirm("cus_1001", &asked).await.unwrap();
}

async fn faults(world: &World) -> BTreeSet<Fault> {
    let mut auditor = Auditor::new(world.home.store(), world.sealer());
    let report = auditor.verify(|_| ()).await.unwrap();
    assert!(report.entries > 10 && report.sessions == 2 && report.decisions >= 5, "{report:?}");
    for finding in &report.findings {
        println!("{finding:?}");
    }
    report.findings.iter().map(|finding| finding.fault).collect()
}

async fn a_record_as_written_has_no_findings(world: World) {
    Box::pin(played(&world)).await;
    assert_eq!(Box::pin(faults(&world)).await, BTreeSet::new());
}

async fn what_was_edited_is_named(world: World) {
    Box::pin(played(&world)).await;
    let tamper = |sql: &'static str| {
        let home = &world.home;
        async move { home.tamper(sql).await }
    };
    let refused = tamper("UPDATE entries SET decision = 'allow'").await;
    assert!(refused.is_err(), "the log refuses to be changed");
    // Whoever gets past that is seen.
    world.home.open_the_log().await;
    tamper("UPDATE entries SET decision = 'allow' WHERE decision = 'deny'").await.unwrap();
    assert_eq!(faults(&world).await, [Fault::ColumnDrift].into());
    tamper("UPDATE entries SET decision = 'deny' WHERE reasons = 'unknown_tool'").await.unwrap();
    tamper("UPDATE sessions SET state = 'RESOLVING' WHERE state = 'CLOSED'").await.unwrap();
    assert_eq!(faults(&world).await, [Fault::StateDrift].into());
    tamper("UPDATE sessions SET state = 'CLOSED' WHERE state = 'RESOLVING'").await.unwrap();
    tamper("DELETE FROM entries WHERE kind = 'dispatch'").await.unwrap();
    assert!(faults(&world).await.contains(&Fault::EntryMissing));
    tamper("DELETE FROM inputs").await.unwrap();
    assert!(faults(&world).await.contains(&Fault::InputsMissing));
}
