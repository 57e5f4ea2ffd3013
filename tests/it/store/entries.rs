use serde_json::json;
use stateguard::{
    domain::{
        clock::Timestamp,
        entry::leaf_hash,
        unit::{EntryRow, Unit},
    },
    store::{EntryQuery, Refusal, StoreError, commit_one},
};

use super::build::{World, at};
use crate::support::stores::Home;

fn unit(world: &World, entries: Vec<EntryRow>) -> Unit {
    Unit { entries, ..world.unit("log") }
}

fn ten() -> EntryQuery {
    EntryQuery { limit: 10, ..EntryQuery::default() }
}

pub(super) async fn entries_come_back_as_they_were_hashed(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.ids.session();
    let entries = vec![world.entry(&session, 1), world.entry(&session, 2)];
    commit_one(&*store, unit(&world, entries.clone())).await.unwrap();
    let found = store.entries(&world.tenant, &ten()).await.unwrap();
    assert_eq!(found, entries);
    assert!(found.iter().all(|row| leaf_hash(&row.bytes) == row.leaf_hash));
    let one = store.entry(&world.tenant, &entries[1].entry).await.unwrap();
    assert_eq!(one, Some(entries[1].clone()));
}

pub(super) async fn times_survive_to_the_microsecond(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.ids.session();
    let times = [
        "2026-01-05T09:00:00.000001Z",
        "2026-01-05T09:00:00.999999Z",
        "2016-12-31T23:59:59.999999Z",
        "2017-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "1969-12-31T23:59:59.999999Z",
    ];
    let times: Vec<Timestamp> =
        times.iter().map(|text| Timestamp::from_rfc3339(text).unwrap()).collect();
    let entries = (1..)
        .zip(&times)
        .map(|(seq, time)| world.entry_with(&session, seq, *time, json!({})))
        .collect();
    commit_one(&*store, unit(&world, entries)).await.unwrap();
    let found = store.entries(&world.tenant, &ten()).await.unwrap();
    let mut sorted = times;
    sorted.sort();
    assert_eq!(found.iter().map(|row| row.occurred_at).collect::<Vec<_>>(), sorted);
}

pub(super) async fn filters_hold_together(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let (one, two) = (world.ids.session(), world.ids.session());
    let decision = |session, seq, verdict: &str, reasons: &[&str]| {
        let members =
            json!({"tool": {"name": "lend_book"}, "decision": verdict, "reasons": reasons});
        world.entry_with(session, seq, at(seq), members)
    };
    let entries = vec![
        decision(&one, 1, "deny", &["not_in_case", "target_not_named"]),
        decision(&one, 2, "allow", &[]),
        decision(&two, 3, "deny", &["target_not_named_x"]),
    ];
    commit_one(&*store, unit(&world, entries.clone())).await.unwrap();
    let find = |query: EntryQuery| {
        let (store, tenant) = (store.clone(), world.tenant.clone());
        async move { store.entries(&tenant, &query).await.unwrap() }
    };
    let reason = |code: &str| EntryQuery { reason: Some(code.into()), ..ten() };
    assert_eq!(find(reason("target_not_named")).await, entries[..1]);
    assert_eq!(find(reason("targetXnotXnamed")).await, []);
    assert_eq!(find(EntryQuery { session: Some(one.clone()), ..ten() }).await, entries[..2]);
    let denied = EntryQuery { decision: Some("deny".into()), ..ten() };
    assert_eq!(find(EntryQuery { session: Some(one), ..denied.clone() }).await, entries[..1]);
    assert_eq!(find(EntryQuery { since: Some(at(2)), ..denied.clone() }).await, entries[2..]);
    assert_eq!(find(EntryQuery { until: Some(at(3)), ..denied.clone() }).await, entries[..1]);
    assert_eq!(find(EntryQuery { tool: Some("get_book".into()), ..ten() }).await, []);
    assert_eq!(
        find(EntryQuery { kind: Some("decision".into()), limit: 2, ..ten() }).await,
        entries[..2]
    );
    assert_eq!(find(EntryQuery { action: Some(world.ids.action()), ..ten() }).await, []);
}

pub(super) async fn a_session_has_each_place_once(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.ids.session();
    commit_one(&*store, unit(&world, vec![world.entry(&session, 1)])).await.unwrap();
    let twice =
        commit_one(&*store, unit(&world, vec![world.entry(&session, 1)])).await.unwrap_err();
    assert!(
        matches!(twice, Refusal::Store(StoreError::Corrupt { table: "entries", .. })),
        "{twice}"
    );
    assert_eq!(store.entries(&world.tenant, &ten()).await.unwrap().len(), 1);
}

pub(super) async fn entries_cannot_be_changed_or_deleted(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.ids.session();
    commit_one(&*store, unit(&world, vec![world.entry(&session, 1)])).await.unwrap();
    for sql in ["UPDATE entries SET kind = 'vote'", "DELETE FROM entries"] {
        let refused = home.tamper(sql).await.unwrap_err().to_string();
        assert!(refused.contains("entries of the decision log"), "{refused}");
    }
    assert_eq!(store.entries(&world.tenant, &ten()).await.unwrap().len(), 1);
}

pub(super) async fn pages_of_entries_have_no_gap(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.ids.session();
    // Several entries of one moment: the id decides between them.
    let entries: Vec<EntryRow> =
        (1..=25).map(|seq| world.entry_with(&session, seq, at(seq / 10), json!({}))).collect();
    commit_one(&*store, unit(&world, entries)).await.unwrap();
    let mut found: Vec<EntryRow> = Vec::new();
    loop {
        let after = found.last().map(|row| (row.occurred_at, row.entry.clone()));
        let page =
            store.entries(&world.tenant, &EntryQuery { after, limit: 7, ..ten() }).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(found.len(), 25);
    assert!(found.is_sorted_by(|a, b| (a.occurred_at, &a.entry) < (b.occurred_at, &b.entry)));
}
