use stateguard::{
    domain::{
        action::ActionState,
        canonical::Digest,
        clock::Timestamp,
        unit::{ActionRow, BundleRow, Change, Guard, QuarantineRow, Unit},
    },
    store::{Refusal, StoreError, SumQuery, commit_one},
};

use super::build::{World, at};
use crate::support::stores::Home;

pub(super) async fn a_road_holds_session_data_statements_and_request(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let (mine, other) = (world.opened(&*store).await, world.opened(&*store).await);
    let cited = world.datum(&mine.session, false);
    let uncited = world.datum(&mine.session, false);
    let said = world.datum(&mine.session, true);
    let foreign = world.datum(&other.session, false);
    let action = world.ids.action();
    let mut changes: Vec<Change> =
        [&cited, &uncited, &said, &foreign].map(|row| Change::InsertDatum(row.clone())).into();
    changes.push(Change::RememberRequest {
        session: mine.session.clone(),
        request_id: "r1".into(),
        digest: Digest::of(b"request"),
        action: action.clone(),
    });
    world.put(&*store, changes).await.unwrap();

    let wanted = [cited.datum.clone(), foreign.datum.clone(), world.ids.datum("mail").unwrap()];
    let road =
        store.road(&world.tenant, &mine.session, &wanted, Some("r1")).await.unwrap().unwrap();
    assert_eq!(road.session, mine);
    assert_eq!(road.data, [cited]);
    assert_eq!(road.statements, std::slice::from_ref(&said));
    assert_eq!(road.request, Some((Digest::of(b"request"), action)));

    let road =
        store.road(&world.tenant, &mine.session, std::slice::from_ref(&said.datum), Some("r2"));
    let road = road.await.unwrap().unwrap();
    assert_eq!((road.data.len(), road.statements.len(), road.request), (1, 1, None));
    assert!(store.road(&world.tenant, &world.ids.session(), &[], None).await.unwrap().is_none());
}

pub(super) async fn nothing_of_another_tenant_is_ever_returned(home: &Home) {
    let (store, acme, zeta) = (home.store(), World::of("acme"), World::of("zeta"));
    let session = acme.opened(&*store).await;
    let (datum, action) = (acme.datum(&session.session, true), acme.action(&session.session));
    let question = acme.question(&action.action, &session.session);
    let (inputs, entry) = (acme.ids.inputs(), acme.entry(&session.session, 1));
    let unit = Unit {
        changes: vec![
            Change::InsertDatum(datum.clone()),
            Change::InsertAction(action.clone()),
            Change::InsertQuestion(question.clone()),
            Change::InsertInputs {
                inputs: inputs.clone(),
                session: session.session.clone(),
                sealed: vec![1],
            },
        ],
        entries: vec![entry.clone()],
        ..acme.unit("all")
    };
    commit_one(&*store, unit).await.unwrap();
    let t = &zeta.tenant;
    assert!(store.session(t, &session.session).await.unwrap().is_none());
    assert!(store.sessions(t, None, None, 9).await.unwrap().is_empty());
    assert!(
        store
            .road(t, &session.session, std::slice::from_ref(&datum.datum), None)
            .await
            .unwrap()
            .is_none()
    );
    assert!(store.datum(t, &datum.datum).await.unwrap().is_none());
    assert!(store.data(t, &session.session, None, 9).await.unwrap().is_empty());
    assert!(store.action(t, &action.action).await.unwrap().is_none());
    assert!(store.actions(t, &session.session, None, 9).await.unwrap().is_empty());
    assert!(store.question(t, &question.question).await.unwrap().is_none());
    assert!(store.question_of(t, &action.action).await.unwrap().is_none());
    assert!(store.questions(t, question.state, question.need, None, 9).await.unwrap().is_empty());
    assert!(store.inputs(t, &inputs).await.unwrap().is_none());
    assert!(store.entry(t, &entry.entry).await.unwrap().is_none());
    let query = stateguard::store::EntryQuery { limit: 9, ..Default::default() };
    assert!(store.entries(t, &query).await.unwrap().is_empty());
    assert!(store.effect(t, "lend_book", "hmac-sha256:k1", "s").await.unwrap().waiting.is_none());
    let moved = zeta.step(&session);
    let refused = commit_one(&*store, moved).await.unwrap_err();
    assert_eq!(refused, Refusal::SessionMoved(session.session.clone()));
    assert_eq!(store.inputs(&acme.tenant, &inputs).await.unwrap(), Some(vec![1]));
    assert_eq!(store.tenants().await.unwrap(), [acme.tenant]);
}

pub(super) async fn content_comes_back_byte_for_byte(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let mut datum = world.datum(&session, false);
    datum.content = (0..=255).cycle().take(200_000).collect();
    let quarantined = QuarantineRow {
        quarantine: world.ids.quarantine(),
        action: world.ids.action(),
        session: session.clone(),
        tool: "lend_book".into(),
        reason: "response_corruption:json_syntax".into(),
        received_at: at(5),
        body: vec![0; 1_000],
    };
    let changes =
        vec![Change::InsertDatum(datum.clone()), Change::InsertQuarantine(quarantined.clone())];
    world.put(&*store, changes).await.unwrap();
    assert_eq!(store.datum(&world.tenant, &datum.datum).await.unwrap(), Some(datum));
    let read = store.quarantined(&world.tenant, &quarantined.quarantine).await.unwrap();
    assert_eq!(read, Some(quarantined));
}

pub(super) async fn a_request_id_leads_to_one_action(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let remember = |action| Change::RememberRequest {
        session: session.clone(),
        request_id: "r1".into(),
        digest: Digest::of(b"request"),
        action,
    };
    world.put(&*store, vec![remember(world.ids.action())]).await.unwrap();
    let again = world.put(&*store, vec![remember(world.ids.action())]).await.unwrap_err();
    assert_eq!(again, Refusal::RequestTaken);
}

pub(super) async fn sums_count_what_waits_and_what_is_unknown(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let row = |state: ActionState, amount, seconds| ActionRow {
        state,
        amount_minor: amount,
        send_before: Some(at(9)),
        proposed_at: at(seconds),
        ..world.action(&session)
    };
    let waiting = row(ActionState::AwaitingApproval, Some(100), 10);
    let rows = vec![
        waiting.clone(),
        row(ActionState::OutcomeUnknown, Some(20), 11),
        row(ActionState::Dispatched, Some(3), 12),
        row(ActionState::Verified, None, 13),
        row(ActionState::Failed, Some(1_000), 13),
        row(ActionState::Denied, Some(1_000), 13),
        ActionRow { tool: "other_tool".into(), ..row(ActionState::Verified, Some(1_000), 13) },
        ActionRow { subject: Some("c2".into()), ..row(ActionState::Verified, Some(5_000), 13) },
        row(ActionState::Verified, Some(1_000), 9),
    ];
    world.put(&*store, rows.into_iter().map(Change::InsertAction).collect()).await.unwrap();
    let query = SumQuery {
        tools: vec!["lend_book".into(), "return_book".into()],
        subject: Some("hmac-sha256:c1".into()),
        principal: None,
        session: None,
        since: at(10),
        except: None,
    };
    let sum = |query: SumQuery| {
        let (store, tenant) = (store.clone(), world.tenant.clone());
        async move { store.sum(&tenant, &query).await.unwrap() }
    };
    assert_eq!(sum(query.clone()).await, 123);
    assert_eq!(sum(SumQuery { subject: None, ..query.clone() }).await, 5_123);
    assert_eq!(sum(SumQuery { except: Some(waiting.action), ..query.clone() }).await, 23);
    assert_eq!(sum(SumQuery { session: Some(world.ids.session()), ..query.clone() }).await, 0);
    assert_eq!(sum(SumQuery { principal: Some("p2".into()), ..query.clone() }).await, 0);
    assert_eq!(
        sum(SumQuery { since: at(9), session: Some(session.clone()), ..query }).await,
        1_123
    );
}

pub(super) async fn an_effect_view_shows_claims_and_who_waits(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let waits = world.action(&session);
    let done = ActionRow { state: ActionState::Denied, ..world.action(&session) };
    let changes = vec![Change::InsertAction(done), Change::InsertAction(waits.clone())];
    world.put(&*store, changes).await.unwrap();
    let view = store.effect(&world.tenant, "lend_book", "hmac-sha256:k1", "s").await.unwrap();
    assert_eq!(view.waiting, Some((waits.action, Some(Digest::of(b"f1")))));
    assert_eq!((view.by_key, view.generation), (None, 0));
}

pub(super) async fn listings_page_without_gap_or_repetition(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let mut rows: Vec<ActionRow> = (0..25).map(|_| world.action(&session.session)).collect();
    let changes = rows.iter().cloned().map(Change::InsertAction).collect();
    world.put(&*store, changes).await.unwrap();
    rows.sort_by(|a, b| a.action.cmp(&b.action));
    let mut found: Vec<ActionRow> = Vec::new();
    loop {
        let after = found.last().map(|row| row.action.clone());
        let page =
            store.actions(&world.tenant, &session.session, after.as_ref(), 10).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(found, rows);
    let of_workload =
        store.sessions(&world.tenant, Some("hmac-sha256:w1"), None, 10).await.unwrap();
    assert_eq!(of_workload, [session]);
    assert!(store.sessions(&world.tenant, Some("w2"), None, 10).await.unwrap().is_empty());
}

pub(super) async fn recovery_finds_writes_and_passes_over_finished_reads(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let row = |state, seconds| ActionRow {
        state,
        send_before: Some(at(9)),
        proposed_at: at(seconds),
        ..world.action(&session)
    };
    let older = row(ActionState::Dispatched, 1);
    let newer = row(ActionState::Succeeded, 2);
    let read = ActionRow { effect_key: None, effect_same: None, ..row(ActionState::Succeeded, 0) };
    let rows = [&newer, &older, &read, &row(ActionState::Verified, 0)]
        .map(|r| Change::InsertAction(r.clone()));
    world.put(&*store, rows.into()).await.unwrap();
    let states = [ActionState::Dispatched, ActionState::Succeeded];
    let found = store.actions_in(&states, 10).await.unwrap();
    let tenant = world.tenant.clone();
    assert_eq!(found, [(tenant.clone(), older.clone()), (tenant.clone(), newer)]);
    assert_eq!(store.actions_in(&states, 1).await.unwrap(), [(tenant, older)]);
}

pub(super) async fn a_bundle_is_kept_once(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let bundle = BundleRow {
        digest: Digest::of(b"sources"),
        name: "library".into(),
        version: "1.0.0".into(),
        sources: b"{}".to_vec(),
        kept_at: at(1),
    };
    let later = BundleRow { kept_at: at(2), ..bundle.clone() };
    world.put(&*store, vec![Change::KeepBundle(bundle.clone())]).await.unwrap();
    world.put(&*store, vec![Change::KeepBundle(later)]).await.unwrap();
    assert_eq!(store.bundle(&bundle.digest).await.unwrap(), Some(bundle));
    assert_eq!(store.bundle(&Digest::of(b"other")).await.unwrap(), None);
}

pub(super) async fn an_action_moves_only_from_the_version_that_was_read(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let action = world.action(&session);
    world.put(&*store, vec![Change::InsertAction(action.clone())]).await.unwrap();
    let next = ActionRow {
        version: 2,
        state: ActionState::Dispatched,
        send_before: Some(Timestamp::from_micros(5)),
        ..action.clone()
    };
    let unit = || Unit {
        guards: vec![Guard::ExpectAction { action: action.action.clone(), version: 1 }],
        changes: vec![Change::PutAction(next.clone())],
        ..world.unit("dispatch")
    };
    commit_one(&*store, unit()).await.unwrap();
    let again = commit_one(&*store, unit()).await.unwrap_err();
    assert_eq!(again, Refusal::ActionMoved(action.action.clone()));
    assert_eq!(store.action(&world.tenant, &action.action).await.unwrap(), Some(next));
    let guard_only = Unit {
        guards: vec![Guard::ExpectAction { action: action.action.clone(), version: 1 }],
        ..world.unit("look")
    };
    assert!(matches!(commit_one(&*store, guard_only).await, Err(Refusal::ActionMoved(_))));
}

pub(super) async fn a_row_that_makes_no_sense_is_named(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await.session;
    let action = world.action(&session);
    world.put(&*store, vec![Change::InsertAction(action.clone())]).await.unwrap();
    let state = home.tamper("UPDATE actions SET state = 'dancing'").await;
    assert!(state.is_err(), "the database itself refuses a state that nobody knows");
    home.tamper("UPDATE actions SET fingerprint = 'sha256:short'").await.unwrap();
    let corrupt = store.action(&world.tenant, &action.action).await.unwrap_err();
    assert_eq!(
        corrupt,
        StoreError::Corrupt {
            table: "actions",
            key: action.action.to_string(),
            what: "column `fingerprint`: not one of the known words".into(),
        }
    );
}
