use std::sync::Arc;

use stateguard::{
    domain::unit::{Change, EffectRow, EffectStatus, Guard, Unit},
    store::{Refusal, Store, StoreError, commit_one},
};

use super::build::World;
use crate::support::stores::Home;

fn claiming(world: &World, claim: &EffectRow) -> Unit {
    world.dispatching(claim.clone())
}

fn settled(claim: &EffectRow, status: EffectStatus) -> Change {
    Change::SettleEffect { effect: claim.effect.clone(), action: claim.action.clone(), status }
}

pub(super) async fn a_claimed_key_is_held_by_its_action(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let (first, second) = (world.claim("k", "s1"), world.claim("k", "s2"));
    commit_one(&*store, claiming(&world, &first)).await.unwrap();
    let refused = commit_one(&*store, claiming(&world, &second)).await.unwrap_err();
    assert_eq!(refused, Refusal::KeyTaken { holder: first.action });
    let elsewhere = EffectRow { effect: "reserve_room".into(), ..world.claim("k", "s1") };
    commit_one(&*store, claiming(&world, &elsewhere)).await.unwrap();
    let zeta = World::of("zeta");
    commit_one(&*store, claiming(&zeta, &zeta.claim("k", "s1"))).await.unwrap();
}

pub(super) async fn the_same_effect_under_another_key_is_held_too(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let (first, second) = (world.claim("k1", "same"), world.claim("k2", "same"));
    commit_one(&*store, claiming(&world, &first)).await.unwrap();
    let refused = commit_one(&*store, claiming(&world, &second)).await.unwrap_err();
    assert_eq!(refused, Refusal::KeyTaken { holder: first.action });
}

pub(super) async fn an_approved_repetition_takes_the_next_ordinal(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    commit_one(&*store, claiming(&world, &world.claim("k1", "same"))).await.unwrap();
    let again = EffectRow { ordinal: 1, ..world.claim("k2", "same") };
    commit_one(&*store, claiming(&world, &again)).await.unwrap();
    let third = EffectRow { ordinal: 1, ..world.claim("k3", "same") };
    let refused = commit_one(&*store, claiming(&world, &third)).await.unwrap_err();
    assert_eq!(refused, Refusal::KeyTaken { holder: again.action });
    let view = store.effect(&world.tenant, "lend_book", "k9", "same").await.unwrap();
    assert_eq!(view.by_same.len(), 2);
}

pub(super) async fn a_released_key_is_free_in_the_next_generation(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let first = world.claim("k", "s");
    commit_one(&*store, claiming(&world, &first)).await.unwrap();
    world.put(&*store, vec![settled(&first, EffectStatus::Released)]).await.unwrap();
    let view = store.effect(&world.tenant, "lend_book", "k", "s").await.unwrap();
    assert_eq!((view.by_key, view.generation, view.by_same.len()), (None, 1, 0));
    let same_generation = commit_one(&*store, claiming(&world, &world.claim("k", "s"))).await;
    assert_eq!(same_generation.unwrap_err(), Refusal::KeyTaken { holder: first.action });
    let next = EffectRow { generation: 1, ..world.claim("k", "s") };
    commit_one(&*store, claiming(&world, &next)).await.unwrap();
    let view = store.effect(&world.tenant, "lend_book", "k", "s").await.unwrap();
    assert_eq!((view.by_key, view.generation), (Some(next.clone()), 1));
    assert_eq!(view.by_same, [next]);
}

pub(super) async fn a_settled_effect_stays_claimed(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let first = world.claim("k", "s");
    commit_one(&*store, claiming(&world, &first)).await.unwrap();
    world.put(&*store, vec![settled(&first, EffectStatus::Settled)]).await.unwrap();
    let refused = commit_one(&*store, claiming(&world, &world.claim("k", "s"))).await.unwrap_err();
    assert_eq!(refused, Refusal::KeyTaken { holder: first.action });
    let view = store.effect(&world.tenant, "lend_book", "k", "s").await.unwrap();
    assert_eq!(view.by_key.unwrap().status, EffectStatus::Settled);
}

pub(super) async fn settling_what_nobody_claimed_is_an_error(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let claim = world.claim("k", "s");
    let refused =
        world.put(&*store, vec![settled(&claim, EffectStatus::Settled)]).await.unwrap_err();
    assert!(
        matches!(refused, Refusal::Store(StoreError::Corrupt { table: "effects", .. })),
        "{refused}"
    );
}

/// How many of these claims, all sent at once, were granted.
async fn granted(world: &World, stores: &[Arc<dyn Store>], claims: Vec<EffectRow>) -> usize {
    let mut racing = tokio::task::JoinSet::new();
    for (n, claim) in claims.into_iter().enumerate() {
        let (store, unit) = (stores[n % stores.len()].clone(), claiming(world, &claim));
        racing.spawn(async move { commit_one(&*store, unit).await });
    }
    let answers = racing.join_all().await;
    let taken = |answer: &Result<_, Refusal>| matches!(answer, Err(Refusal::KeyTaken { .. }));
    let permits = answers.iter().flatten().filter(|receipt| receipt.dispatch.is_some()).count();
    assert_eq!(permits + answers.iter().filter(|a| taken(a)).count(), answers.len(), "{answers:?}");
    permits
}

pub(super) async fn a_hundred_claims_of_one_key_make_one_dispatch(home: &Home) {
    let world = World::of("acme");
    let claims = (0..100).map(|_| world.claim("k", "s")).collect();
    assert_eq!(granted(&world, &[home.store()], claims).await, 1);
}

pub(super) async fn two_handles_on_one_database_make_one_dispatch(home: &Home) {
    let world = World::of("acme");
    let stores = [home.store(), home.another().await];
    let claims = (0..100).map(|n| world.claim(&format!("k{n}"), "same")).collect();
    assert_eq!(granted(&world, &stores, claims).await, 1);
}

pub(super) async fn units_that_claim_two_keys_crosswise_all_get_an_answer(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let mut racing = tokio::task::JoinSet::new();
    for n in 0..20 {
        let (a, b) = (world.claim("ka", "sa"), world.claim("kb", "sb"));
        let guards = if n % 2 == 0 { [a, b] } else { [b, a] };
        let guards = guards.into_iter().map(Guard::ClaimKey).collect();
        let (store, unit) = (store.clone(), Unit { guards, ..world.unit("both") });
        racing.spawn(async move { commit_one(&*store, unit).await });
    }
    let answers = racing.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
}

pub(super) async fn a_permit_comes_only_with_a_dispatch(home: &Home) {
    let (store, world) = (home.store(), World::of("acme"));
    let claim = world.claim("k", "s");
    let receipt = commit_one(&*store, claiming(&world, &claim)).await.unwrap();
    assert_eq!(receipt.dispatch.unwrap().value().action, claim.action);
    assert!(commit_one(&*store, world.unit("nothing")).await.unwrap().dispatch.is_none());
}
