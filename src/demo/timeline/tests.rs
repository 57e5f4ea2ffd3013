use super::*;
use crate::demo::stories::Explained;

const PLAIN: Paint = Paint { colours: false };

fn at(ms: i64) -> Option<prost_types::Timestamp> {
    Some(prost_types::Timestamp {
        seconds: 1_767_603_600,
        nanos: i32::try_from(ms).unwrap() * 1_000_000,
    })
}

fn step(ms: i64, kind: &str, session: &str, text: &str) -> v1::Step {
    v1::Step {
        at: at(ms),
        kind: kind.into(),
        session_transition: session.into(),
        text: text.into(),
        tool: "lend_book".into(),
        ..Default::default()
    }
}

fn asked() -> v1::Explanation {
    let reason = v1::Reason {
        code: "target_not_named".into(),
        rule: "base/financial-unnamed".into(),
        text: "nobody entitled named this target".into(),
        ..Default::default()
    };
    let argument = v1::ArgumentProvenance {
        argument: "/order_id".into(),
        role: "target".into(),
        integrity: "untrusted".into(),
        sources: vec!["mail_01jgw0000000000000000000zz".into()],
        ..Default::default()
    };
    let decision = v1::Decision {
        verdict: v1::Verdict::ConfirmationRequired.into(),
        needs: vec![v1::Verdict::ConfirmationRequired.into(), v1::Verdict::ApprovalRequired.into()],
        reasons: vec![reason],
        arguments: vec![argument],
        matrix_row: "financial".into(),
        matrix_column: "unclean".into(),
        ..Default::default()
    };
    v1::Explanation {
        action: Some(v1::Action {
            state: v1::ActionState::ActionAwaitingConfirmation.into(),
            decision: Some(decision),
            tool: "lend_book".into(),
            session_state: "AWAITING_CONFIRMATION".into(),
            ..Default::default()
        }),
        session: "sessions/ses_1".into(),
        arguments_json: r#"{"order_id":"B-17"}"#.into(),
        steps: vec![
            step(0, "session_opened", "", "session opened"),
            step(
                12,
                "decision",
                "RESOLVING -> AWAITING_CONFIRMATION",
                "lend_book proposed: confirmation_required",
            ),
        ],
        checks: vec![
            v1::CheckRun {
                check: "admission".into(),
                verdict: "pass".into(),
                ..Default::default()
            },
            v1::CheckRun { check: "policy".into(), verdict: "needs".into(), ..Default::default() },
        ],
        facts: vec![v1::FactUsed {
            name: "book".into(),
            tool: "get_book@2".into(),
            state: "present".into(),
            version: "7".into(),
            age_us: 3_400,
        }],
        ..Default::default()
    }
}

fn explained(explanation: v1::Explanation) -> Part {
    Part::Action(Box::new(Explained { explanation, ..Explained::default() }))
}

fn told(parts: Vec<Part>) -> Told {
    Told { parts, ..Told::default() }
}

#[test]
fn an_asked_action_says_what_why_from_where_and_what_is_missing() {
    let text = story(&told(vec![explained(asked())]), PLAIN);
    for wanted in [
        "● lend_book  B-17",
        "awaiting confirmation RESOLVING → AWAITING_CONFIRMATION",
        "ask for confirmation, then approval · matrix: financial × unclean",
        "target_not_named: nobody entitled named this target [base/financial-unnamed]",
        "/order_id \"B-17\" · (target, untrusted) · from mail_…00zz · named by nobody",
        "book = get_book@2 version 7, present, read 3 ms before",
        "✓ admission ? policy",
        "0.012 s  decision       lend_book proposed",
    ] {
        assert!(text.contains(wanted), "`{wanted}` is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours were asked for");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut explanation = asked();
    explanation.arguments_json = format!("{{\"order_id\":\"{}\"}}", "x".repeat(300));
    let long = "word ".repeat(60) + &"y".repeat(200);
    let parts = vec![Part::Said(long), explained(explanation)];
    let text = story(&told(parts), Paint { colours: true });
    for line in text.lines() {
        assert!(paint::columns(line) <= WIDTH, "{} columns: {line}", paint::columns(line));
    }
}

#[test]
fn a_read_that_went_well_is_one_line_and_its_log_comes_once_a_session() {
    let mut read = asked();
    let action = read.action.as_mut().unwrap();
    action.name = "sessions/ses_1/actions/act_1".into();
    action.state = v1::ActionState::Succeeded.into();
    action.decision =
        Some(v1::Decision { verdict: v1::Verdict::Allow.into(), ..Default::default() });
    action.outcome = Some(v1::Outcome { executed: true, attempts: 1, ..Default::default() });
    let parts = vec![explained(read), explained(asked())];
    let text = story(&told(parts), PLAIN);
    assert_eq!(text.lines().filter(|line| line.contains("log of")).count(), 1);
    assert!(text.lines().next().unwrap().contains("succeeded"), "{text}");
    assert!(text.lines().nth(1).unwrap().contains("● lend_book"), "{text}");
}

#[test]
fn an_action_that_was_told_before_is_not_told_again() {
    let mut again = Explained { explanation: asked(), ..Explained::default() };
    again.replayed = true;
    let parts = vec![explained(asked()), Part::Action(Box::new(again))];
    let text = story(&told(parts), PLAIN);
    assert_eq!(text.lines().filter(|line| line.contains("target_not_named")).count(), 1, "{text}");
    assert!(text.contains("the stored outcome again"), "{text}");
}

#[test]
fn handles_lose_their_middle_and_other_words_do_not() {
    let text = r#"{"a":"mail_01jgw0000000000000000000zz","b":"create_refund_request"}"#;
    assert_eq!(paint::short(text), r#"{"a":"mail_…00zz","b":"create_refund_request"}"#);
}

#[test]
fn what_was_found_in_the_shop_is_said_plainly() {
    let refund = crate::demo::till::Refund {
        refund_id: "rf_1001".into(),
        order_id: "CMD-9988".into(),
        amount_cents: 4_990,
        currency: "EUR".into(),
        status: "paid".into(),
    };
    let found = Found { refunds: vec![refund], notes: vec![], requests: vec![] };
    let text = story(&Told { found: Some(found), ..Told::default() }, PLAIN);
    assert!(text.contains("refund rf_1001 of CMD-9988: 49.90 EUR, paid"), "{text}");
    let nothing = Found { refunds: vec![], notes: vec![], requests: vec![] };
    assert!(story(&Told { found: Some(nothing), ..Told::default() }, PLAIN).contains("no refund"));
}
