use stateguard::{
    domain::{
        session::SessionState,
        unit::{Change, Guard, SessionRow, Unit},
    },
    store::{Refusal, StoreError, commit_one},
};

use super::build::{World, at};
use crate::support::stores::Home;

pub(super) async fn an_opened_session_reads_back_whole(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let opened = world.opened(&*store).await;
    assert_eq!(store.session(&world.tenant, &opened.session).await.unwrap(), Some(opened));
    assert_eq!(store.session(&world.tenant, &world.ids.session()).await.unwrap(), None);
}

pub(super) async fn a_session_moves_only_from_the_version_that_was_read(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let first = world.opened(&*store).await;
    commit_one(&*store, world.step(&first)).await.unwrap();
    let again = commit_one(&*store, world.step(&first)).await.unwrap_err();
    assert_eq!(again, Refusal::SessionMoved(first.session.clone()));
    let second = store.session(&world.tenant, &first.session).await.unwrap().unwrap();
    assert_eq!((second.version, second.entry_count, second.updated_at), (2, 1, at(2)));
    commit_one(&*store, world.step(&second)).await.unwrap();
}

pub(super) async fn of_many_writers_of_one_version_one_wins(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (store, unit) = (store.clone(), world.step(&session));
        writers.spawn(async move { commit_one(&*store, unit).await });
    }
    let answers = writers.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let moved = Refusal::SessionMoved(session.session.clone());
    assert_eq!(answers.into_iter().filter_map(Result::err).filter(|e| *e == moved).count(), 19);
}

pub(super) async fn a_refused_unit_leaves_nothing_behind(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let (datum, claim) = (world.datum(&session.session, false), world.claim("k", "s"));
    let stale = SessionRow { version: 9, ..session.clone() };
    let unit = Unit {
        guards: vec![
            Guard::ClaimKey(claim.clone()),
            Guard::ExpectSession { session: session.session.clone(), version: 8 },
        ],
        changes: vec![Change::InsertDatum(datum.clone()), Change::PutSession(stale)],
        entries: vec![world.entry(&session.session, 1)],
        ..world.unit("late")
    };
    let refused = commit_one(&*store, unit).await.unwrap_err();
    assert_eq!(refused, Refusal::SessionMoved(session.session.clone()));
    assert_eq!(store.datum(&world.tenant, &datum.datum).await.unwrap(), None);
    let view = store.effect(&world.tenant, "lend_book", "k", "s").await.unwrap();
    assert!(view.by_key.is_none() && view.by_same.is_empty());
    assert_eq!(store.session(&world.tenant, &session.session).await.unwrap(), Some(session));
}

pub(super) async fn a_guard_without_a_new_version_still_holds(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let at_version = |version| Unit {
        guards: vec![Guard::ExpectSession { session: session.session.clone(), version }],
        changes: vec![Change::InsertDatum(world.datum(&session.session, false))],
        ..world.unit("add")
    };
    commit_one(&*store, at_version(1)).await.unwrap();
    let refused = commit_one(&*store, at_version(2)).await.unwrap_err();
    assert_eq!(refused, Refusal::SessionMoved(session.session.clone()));
    assert_eq!(store.data(&world.tenant, &session.session, None, 10).await.unwrap().len(), 1);
}

pub(super) async fn a_unit_that_contradicts_its_guard_is_refused(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let mut unit = world.step(&session);
    unit.guards = vec![Guard::ExpectSession { session: session.session.clone(), version: 7 }];
    let refused = commit_one(&*store, unit).await.unwrap_err();
    assert!(
        matches!(refused, Refusal::Store(StoreError::Corrupt { table: "unit", .. })),
        "{refused}"
    );
}

pub(super) async fn units_of_one_call_are_answered_in_order(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let session = world.opened(&*store).await;
    let closed = SessionRow { version: 3, state: SessionState::Closed, ..session.clone() };
    let third = Unit { changes: vec![Change::PutSession(closed)], ..world.unit("close") };
    let units = vec![world.step(&session), world.step(&session), third];
    let answers: Vec<bool> = store.commit(units).await.iter().map(Result::is_ok).collect();
    assert_eq!(answers, [true, false, true]);
    let row = store.session(&world.tenant, &session.session).await.unwrap().unwrap();
    assert_eq!(row.state, SessionState::Closed);
}
