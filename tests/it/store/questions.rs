use stateguard::{
    domain::unit::{Change, Guard, QuestionRow, QuestionState, Unit},
    store::{Refusal, StoreError, commit_one},
};

use super::build::{World, at};
use crate::support::stores::Home;

async fn asked(world: &World, home: &Home) -> QuestionRow {
    let session = world.opened(&*home.store()).await.session;
    let action = world.action(&session);
    let question = world.question(&action.action, &session);
    let changes = vec![Change::InsertAction(action), Change::InsertQuestion(question.clone())];
    world.put(&*home.store(), changes).await.unwrap();
    question
}

fn answering(world: &World, question: &QuestionRow, becomes: QuestionState) -> Unit {
    let by = (becomes == QuestionState::Granted).then(|| "hmac-sha256:u1".to_owned());
    let guard = Guard::SpendQuestion { question: question.question.clone(), becomes, by };
    Unit { guards: vec![guard], ..world.unit("answer") }
}

pub(super) async fn a_question_is_spent_once(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let question = asked(&world, home).await;
    assert_eq!(
        store.question(&world.tenant, &question.question).await.unwrap(),
        Some(question.clone())
    );
    commit_one(&*store, answering(&world, &question, QuestionState::Granted)).await.unwrap();
    for later in [QuestionState::Granted, QuestionState::Refused, QuestionState::Expired] {
        let refused = commit_one(&*store, answering(&world, &question, later)).await.unwrap_err();
        let gone = Refusal::QuestionGone {
            question: question.question.clone(),
            state: QuestionState::Granted,
        };
        assert_eq!(refused, gone);
    }
}

pub(super) async fn of_many_answers_one_counts(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let question = asked(&world, home).await;
    let mut racing = tokio::task::JoinSet::new();
    for n in 0..20 {
        let becomes = if n % 2 == 0 { QuestionState::Granted } else { QuestionState::Refused };
        let (store, unit) = (store.clone(), answering(&world, &question, becomes));
        racing.spawn(async move { commit_one(&*store, unit).await.is_ok() });
    }
    assert_eq!(racing.join_all().await.into_iter().filter(|ok| *ok).count(), 1);
}

pub(super) async fn a_question_of_an_action_is_the_pending_one(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let first = asked(&world, home).await;
    assert_eq!(store.question_of(&world.tenant, &world.ids.action()).await.unwrap(), None);
    commit_one(&*store, answering(&world, &first, QuestionState::Stale)).await.unwrap();
    let latest = store.question_of(&world.tenant, &first.action).await.unwrap().unwrap();
    assert_eq!(latest.state, QuestionState::Stale);
    let second = world.question(&first.action, &first.session);
    world.put(&*store, vec![Change::InsertQuestion(second.clone())]).await.unwrap();
    assert_eq!(
        store.question_of(&world.tenant, &first.action).await.unwrap(),
        Some(second.clone())
    );
    let pending = store
        .questions(&world.tenant, QuestionState::Pending, second.need, None, 10)
        .await
        .unwrap();
    assert_eq!(pending, std::slice::from_ref(&second));
    let after = store
        .questions(&world.tenant, QuestionState::Pending, second.need, Some(&second.question), 10)
        .await
        .unwrap();
    assert!(after.is_empty());
}

pub(super) async fn overdue_questions_are_found_across_tenants(home: &Home) {
    let (store, acme, zeta) = (home.store(), World::of("acme"), World::of("zeta"));
    let (first, second) = (asked(&acme, home).await, asked(&zeta, home).await);
    assert!(store.overdue_questions(at(59), 10).await.unwrap().is_empty());
    let overdue = store.overdue_questions(at(60), 10).await.unwrap();
    assert_eq!(overdue.len(), 2);
    assert!(overdue.contains(&(acme.tenant.clone(), first.clone())));
    assert!(overdue.contains(&(zeta.tenant.clone(), second)));
    commit_one(&*store, answering(&acme, &first, QuestionState::Expired)).await.unwrap();
    assert_eq!(store.overdue_questions(at(60), 10).await.unwrap().len(), 1);
}

pub(super) async fn spending_an_unknown_question_is_an_error(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let question = world.question(&world.ids.action(), &world.ids.session());
    let refused = commit_one(&*store, answering(&world, &question, QuestionState::Granted))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, Refusal::Store(StoreError::Corrupt { table: "questions", .. })),
        "{refused}"
    );
}
