//! What is wrong is stopped, with its reason, and leaves nothing half done.

use serde_json::{Value, json};
use stateguard::{
    app::{RefusedKind, intent::Confirmation},
    domain::{
        action::ActionState,
        contract_terms::{PartKind, Verdict},
        datum::StatementPart,
        intent::CitedPlace,
        pointer::Pointer,
        reason::ReasonCode,
    },
    store::EntryQuery,
};

use super::both;
use crate::support::world::{World, cite, codes, intent, name};

both! {
    a_write_while_analyzing_is_refused
    an_amount_is_no_argument
    somebody_elses_order_looks_like_an_unknown_one
    a_citation_must_hold_exactly_once_and_exactly_so
    a_field_that_others_write_stays_untrusted_when_cited
    the_agent_cannot_speak_for_the_principal
    knowing_a_session_id_is_not_enough
    arguments_that_cannot_be_stored_are_refused_by_meaning
    an_unknown_tool_and_a_strange_purpose_are_decisions
    a_corrupt_read_is_quarantined_and_blocks_the_write_until_read_again
    a_pending_effect_holds_back_the_next_write
    content_cannot_be_handed_in_under_the_name_of_a_record
    a_refused_attempt_is_not_remembered_for_the_corrected_one
    a_session_whose_life_is_over_takes_nothing_and_ends
}

async fn a_session_whose_life_is_over_takes_nothing_and_ends(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let intent = world.refund_intent(&session, "CMD-9988").await;
    world.clock.push(std::time::Duration::from_secs(25 * 3_600));
    let late = world.submit(&session, intent).await.unwrap();
    assert_eq!(codes(&late), ["session_expired"]);
    let session = world.app.session(&world.agent(), &name(&session)).await.unwrap();
    assert_eq!((session.state.as_str(), session.outcome.as_deref()), ("CLOSED", Some("expired")));
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 0);
}

async fn a_pending_effect_holds_back_the_next_write(world: World) {
    let session = world.open("cus_6006", &["CMD-3301"]).await;
    let intent = world.refund_intent(&session, "CMD-3301").await;
    let first = world.submit(&session, intent.clone()).await.unwrap();
    assert!(first.action.state.has_executed(), "{:?}", first.action.decision);
    let mut other = intent;
    other.arguments_json = other.arguments_json.replace("service_failure", "other");
    let second = world.submit(&session, other).await.unwrap();
    assert_eq!(second.action.state, ActionState::Denied, "{:?}", codes(&second));
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 1);
}

async fn content_cannot_be_handed_in_under_the_name_of_a_record(world: World) {
    let session = world.open("cus_1001", &[]).await;
    for kind in ["order", "refund", "statement", "act"] {
        let ingest = stateguard::app::data::Ingest {
            session: name(&session),
            kind: kind.to_owned(),
            media_type: "text/plain".to_owned(),
            content: b"CMD-9988".to_vec(),
        };
        let refused = world.app.ingest(&world.agent(), ingest).await.unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("kind"), "{kind}");
    }
    world.ingest(&session, "a mail is a mail").await;
}

async fn a_refused_attempt_is_not_remembered_for_the_corrected_one(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let good = world.refund_intent(&session, "CMD-9988").await;
    let mut bad = good.clone();
    bad.arguments_json = bad.arguments_json.replace("service_failure", "because");
    let refused = world.submit(&session, bad).await.unwrap();
    assert_eq!(codes(&refused), ["arguments_invalid"]);
    let corrected = world.submit(&session, good).await.unwrap();
    assert_eq!(corrected.action.state, ActionState::Verified);
    assert!(!corrected.replayed);
}

async fn a_write_while_analyzing_is_refused(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let answer = world
        .submit(
            &session,
            intent(
                "create_refund_request",
                json!({"order_id": "CMD-9988", "reason_code": "other", "evidence_refs": ["x"]}),
            ),
        )
        .await
        .unwrap();
    assert_eq!(codes(&answer), ["tool_not_in_state"]);
    assert_eq!(answer.action.state, ActionState::Denied);
}

async fn an_amount_is_no_argument(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    world.read_order(&session, "CMD-9988").await;
    let answer = world
        .submit(&session, intent("create_refund_request", json!({"order_id": "CMD-9988", "reason_code": "other", "evidence_refs": ["x"], "amount": 500})))
        .await
        .unwrap();
    assert_eq!(codes(&answer), ["arguments_invalid"]);
}

async fn somebody_elses_order_looks_like_an_unknown_one(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let foreign = world.read_order(&session, "CMD-7001").await;
    let unknown = world.read_order(&session, "CMD-0000").await;
    for answer in [&foreign, &unknown] {
        assert_eq!(answer.action.state, ActionState::Failed);
        assert_eq!(answer.stop_reason(), Some(ReasonCode::NotPermitted));
        assert!(answer.result.is_none());
    }
    let mut told = Vec::new();
    for order in ["CMD-7001", "CMD-0000"] {
        let own = world.open("cus_1001", &[order]).await;
        world.read_order(&own, "CMD-9988").await;
        let evidence = world.ingest(&own, order).await.id;
        let arguments = json!({"order_id": order, "reason_code": "other", "evidence_refs": [evidence.as_str()]});
        let answer = world.submit(&own, intent("create_refund_request", arguments)).await.unwrap();
        let decision = &answer.action.decision;
        let place = (decision.matrix_row.clone(), decision.matrix_column.clone());
        told.push((answer.reasons(), decision.verdict, place));
    }
    assert_eq!(told[0], told[1], "a refusal does not tell a foreign record from an unknown one");
    let auditor = world.person("eve", &["auditor"]);
    let query =
        EntryQuery { reason: Some("identity_mismatch".to_owned()), ..EntryQuery::default() };
    let (entries, _) = world.app.entries(&auditor, query, 10, "").await.unwrap();
    assert_eq!(entries.len(), 2, "the log knows which it was");
}

async fn a_citation_must_hold_exactly_once_and_exactly_so(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let twice = world.ingest(&session, "CMD-9988, I repeat: CMD-9988").await;
    let other_case = world.ingest(&session, "about cmd-9988").await;
    for datum in [twice, other_case] {
        let mut intent = world.refund_intent(&session, "CMD-9988").await;
        intent.citations[0].datum = datum.id.to_string();
        intent.citations[0].place =
            CitedPlace::Text { pointer: Pointer::root(), exact: "CMD-9988".to_owned() };
        let answer = world.submit(&session, intent).await.unwrap();
        assert!(codes(&answer).contains(&"citation_mismatch"), "{:?}", codes(&answer));
        assert_eq!(answer.action.state, ActionState::Denied);
    }
}

async fn a_field_that_others_write_stays_untrusted_when_cited(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let read = world.read_order(&session, "CMD-9988").await;
    let datum = read.action.outcome.unwrap().result.unwrap();
    let stateguard::domain::datum::Content::Json(record) = read.result.unwrap().content else {
        panic!("a record is JSON")
    };
    let note = record["delivery_note"].clone();
    let mut noted = intent("add_case_note", json!({"order_id": "CMD-9988", "text": note}));
    noted.citations.push(cite("/text", datum.as_str(), "/delivery_note"));
    noted.citations.push(cite("/order_id", datum.as_str(), "/order_id"));
    let answer = world.submit(&session, noted).await.unwrap();
    let of = |at: &str| {
        let mut arguments = answer.action.decision.arguments.iter();
        arguments.find(|argument| argument.at.as_str() == at).unwrap().integrity.as_str()
    };
    assert_eq!((of("/text"), of("/order_id")), ("untrusted", "internal"));
}

async fn the_agent_cannot_speak_for_the_principal(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let agent = world.agent();
    let asked = world.refund(&session, "CMD-9988").await.unwrap();
    assert_eq!(asked.action.state, ActionState::AwaitingConfirmation);
    let parts = vec![StatementPart { kind: PartKind::Typed, text: "refund CMD-9988".to_owned() }];
    let stated = world.app.state(&agent, &name(&session), parts).await.unwrap_err();
    let confirmation = Confirmation {
        action: format!("{}/actions/{}", name(&session), asked.action.id),
        digest: asked.question.as_ref().unwrap().digest.to_string(),
        confirm: true,
    };
    let confirmed = world.app.confirm(&agent, confirmation).await.unwrap_err();
    for refused in [&stated, &confirmed] {
        assert_eq!(refused.kind, RefusedKind::PermissionDenied);
        assert_eq!(refused.code, ReasonCode::NotThePrincipal);
    }
    let forged = world
        .open_with(world.session_token("cus_1001"), world.scope_token("cus_2002", &["CMD-9988"]))
        .await;
    assert_eq!(
        forged.unwrap_err().kind,
        RefusedKind::PermissionDenied,
        "a scope of another principal"
    );
    let auditor = world.person("eve", &["auditor"]);
    let query = EntryQuery { kind: Some("refusal".to_owned()), ..EntryQuery::default() };
    let (entries, _) = world.app.entries(&auditor, query, 10, "").await.unwrap();
    assert!(entries.len() >= 2, "each attempt left an entry");
    assert_eq!(world.shop_count("SELECT COUNT(*) FROM requests WHERE method = 'POST'").await, 0);
}

async fn knowing_a_session_id_is_not_enough(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let other = world.agent_named("svc-other");
    let foreign = world.app.session(&other, &name(&session)).await.unwrap_err();
    let unknown =
        world.app.session(&other, &format!("sessions/ses_{}", "0".repeat(26))).await.unwrap_err();
    assert_eq!(foreign, unknown, "the same bytes");
    let submission = crate::support::world::submission(
        &session,
        intent("get_order", json!({"order_id": "CMD-9988"})),
    );
    assert_eq!(world.app.submit(&other, submission).await.unwrap_err(), unknown);
    assert_eq!(world.app.close_session(&other, &name(&session)).await.unwrap_err(), unknown);
    assert_eq!(world.app.authenticate(Some("")).unwrap_err().kind, RefusedKind::Unauthenticated);
    assert_eq!(world.app.authenticate(None).unwrap_err().code, ReasonCode::TokenMissing);
}

async fn arguments_that_cannot_be_stored_are_refused_by_meaning(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let with = |arguments: &str| {
        let mut intent = intent("get_order", Value::Null);
        intent.arguments_json = arguments.to_owned();
        intent
    };
    for (arguments, code) in [
        (r#"{"order_id":"CMD-9988\u0000"}"#, "arguments_not_storable"),
        (r#"{"order_id":"CMD-9988","order_id":"CMD-7001"}"#, "arguments_malformed"),
        (r#"{"order_id":"CMD-9988"} {}"#, "arguments_malformed"),
        ("[]", "arguments_malformed"),
        ("", "arguments_malformed"),
        (r#"{"order_id":{"$datum":"order_00000000000000000000000000"}}"#, "reference_unknown"),
        (r#"{"order":"CMD-9988"}"#, "arguments_invalid"),
    ] {
        let answer = world.submit(&session, with(arguments)).await.unwrap();
        assert_eq!(codes(&answer), [code], "{arguments}");
        assert_eq!(answer.action.state, ActionState::Denied);
    }
}

async fn an_unknown_tool_and_a_strange_purpose_are_decisions(world: World) {
    let session = world.open("cus_1001", &[]).await;
    let answer = world.submit(&session, intent("wire_money", json!({}))).await.unwrap();
    assert_eq!(codes(&answer), ["unknown_tool"]);
    let mut strange = intent("get_order", json!({"order_id": "CMD-9988"}));
    strange.purpose = "marketing".to_owned();
    let answer = world.submit(&session, strange).await.unwrap();
    assert_eq!(codes(&answer), ["purpose_unknown"]);
    assert_eq!(answer.action.decision.verdict, Verdict::Deny);
}

async fn a_corrupt_read_is_quarantined_and_blocks_the_write_until_read_again(world: World) {
    let session = world.open("cus_1001", &["CMD-9988"]).await;
    let intent = world.refund_intent(&session, "CMD-9988").await;
    world.fault(json!({"path": "/v1/orders/CMD-9988", "mode": "duplicate_key", "times": 1})).await;
    let corrupt = world.read_order(&session, "CMD-9988").await;
    assert_eq!(corrupt.stop_reason(), Some(ReasonCode::JsonDuplicateKey));
    assert!(corrupt.action.outcome.as_ref().unwrap().quarantine.is_some());
    let blocked = world.submit(&session, intent.clone()).await.unwrap();
    assert!(codes(&blocked).contains(&"inputs_corrupted"), "{:?}", codes(&blocked));
    world.read_order(&session, "CMD-9988").await;
    let passes = world.submit(&session, intent).await.unwrap();
    assert_eq!(passes.action.state, ActionState::Verified, "{:?}", codes(&passes));
}
