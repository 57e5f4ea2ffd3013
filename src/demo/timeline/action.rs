//! One explained action: a line for a read that went well, a block for everything else.

use serde_json::Value;

use super::{
    Paint, WIDTH,
    paint::{columns, short, wrap},
    verdicts, word,
};
use crate::pb::v1;

/// Where the text of a row begins.
const INDENT: usize = 17;
/// Where the state of an action begins.
const HEAD: usize = 40;
/// Keeps a mark and its word on one line until the row is made.
const GLUE: char = '\u{1}';
/// Values longer than this are cut, in characters.
const VALUE_MAX: usize = 40;

/// The action as one line, or as a block.
pub(super) fn render(explanation: &v1::Explanation, paint: Paint) -> String {
    let action = explanation.action.clone().unwrap_or_default();
    let decision = action.decision.clone().unwrap_or_default();
    let arguments: Value = serde_json::from_str(&explanation.arguments_json).unwrap_or_default();
    let mut text = head(explanation, &action, &decision, &arguments, paint);
    let is_plain = decision.verdict() == v1::Verdict::Allow
        && explanation.effect.is_none()
        && decision.reasons.is_empty()
        && action.outcome.as_ref().is_some_and(|o| o.executed && o.stop_reason.is_empty())
        && !action.replayed;
    if is_plain {
        return text;
    }
    text.push_str(&decided(&decision, paint));
    text.push_str(&provenance(&decision, &arguments));
    text.push_str(&facts(&explanation.facts));
    text.push_str(&checks(&explanation.checks, paint));
    text.push_str(&outcome(explanation, &action, paint));
    text
}

/// A name and its value.
pub(super) fn row(name: &str, value: &str) -> String {
    let gap = " ".repeat(INDENT.saturating_sub(4 + columns(name)));
    wrap(value, &format!("    {name}{gap}"), &" ".repeat(INDENT), WIDTH)
}

fn head(
    explanation: &v1::Explanation,
    action: &v1::Action,
    decision: &v1::Decision,
    arguments: &Value,
    paint: Paint,
) -> String {
    let state = action.state();
    let name = word(state.as_str_name());
    let is_bad = matches!(
        state,
        v1::ActionState::Denied
            | v1::ActionState::Failed
            | v1::ActionState::OutcomeUnknown
            | v1::ActionState::Mismatched
            | v1::ActionState::Duplicated
            | v1::ActionState::Unverifiable
    );
    let is_waiting = decision.verdict() != v1::Verdict::Allow && !is_bad;
    let painted = match (is_bad, is_waiting) {
        (true, _) => paint.bad(&name),
        (false, true) => paint.warn(&name),
        (false, false) => paint.good(&name),
    };
    let replayed = if action.replayed { " (replayed)" } else { "" };
    let about =
        ["order_id", "mail_id"].iter().find_map(|at| arguments.get(at)).and_then(Value::as_str);
    let what = format!("{}  {}", paint.bold(&action.tool), cut(about.unwrap_or_default()));
    let gap = " ".repeat(HEAD.saturating_sub(4 + columns(&what)));
    let rest = format!("{painted}{replayed} {}", paint.dim(&moves(explanation, action)));
    wrap(&rest, &format!("  ● {what}{gap}"), &" ".repeat(HEAD), WIDTH)
}

/// Where the session went from here: `RESOLVING → EXECUTING → CLOSED`.
fn moves(explanation: &v1::Explanation, action: &v1::Action) -> String {
    let since = explanation
        .steps
        .iter()
        .rposition(|step| step.kind == "decision" && step.tool == action.tool)
        .unwrap_or(explanation.steps.len());
    let mut path: Vec<&str> = Vec::new();
    for step in explanation.steps.iter().skip(since) {
        let Some((from, to)) = step.session_transition.split_once(" -> ") else { continue };
        if path.last() != Some(&from) {
            path.push(from);
        }
        path.push(to);
    }
    if path.is_empty() { action.session_state.clone() } else { path.join(" → ") }
}

fn decided(decision: &v1::Decision, paint: Paint) -> String {
    let verdict = match decision.verdict() {
        v1::Verdict::Allow => paint.good("allow"),
        v1::Verdict::Deny => paint.bad("deny"),
        v1::Verdict::ConfirmationRequired | v1::Verdict::ApprovalRequired => paint.warn("ask"),
        v1::Verdict::Unspecified => "?".to_owned(),
    };
    let needs = verdicts(decision.needs());
    let needs =
        if needs.is_empty() { String::new() } else { format!(" for {}", needs.join(", then ")) };
    let cell = paint.dim(&format!("matrix: {} × {}", decision.matrix_row, decision.matrix_column));
    let mut text = row("decided", &format!("{verdict}{needs} · {cell}"));
    for (n, reason) in decision.reasons.iter().enumerate() {
        let name = if n == 0 { "because" } else { "" };
        let rule =
            if reason.rule.is_empty() { String::new() } else { format!(" [{}]", reason.rule) };
        text.push_str(&row(name, &format!("{}: {}{}", reason.code, reason.text, paint.dim(&rule))));
    }
    text
}

fn provenance(decision: &v1::Decision, arguments: &Value) -> String {
    let mut text = String::new();
    for (n, argument) in decision.arguments.iter().enumerate() {
        let name = if n == 0 { "arguments" } else { "" };
        let value = arguments.pointer(&argument.argument).map(Value::to_string).unwrap_or_default();
        let mut parts = vec![
            format!("{} {}", argument.argument, cut(&short(&value))),
            format!("({}, {})", argument.role, argument.integrity),
        ];
        let sources: Vec<String> = argument.sources.iter().map(|source| short(source)).collect();
        if sources.is_empty() {
            parts.push("from the model".to_owned());
        } else {
            parts.push(format!("from {}", sources.join(", ")));
        }
        if !argument.named_by.is_empty() {
            parts.push(format!("named by {}", argument.named_by));
        } else if argument.role == "target" {
            parts.push("named by nobody".to_owned());
        }
        if !argument.endorsement.is_empty() {
            parts.push(format!("endorsed: {}", argument.endorsement));
        }
        text.push_str(&row(name, &parts.join(" · ")));
    }
    text
}

fn cut(value: &str) -> String {
    if value.chars().count() <= VALUE_MAX {
        return value.to_owned();
    }
    let mut short: String = value.chars().take(VALUE_MAX - 1).collect();
    short.push('…');
    short
}

fn facts(facts: &[v1::FactUsed]) -> String {
    let told = |fact: &v1::FactUsed| {
        let version = if fact.version.is_empty() {
            String::new()
        } else {
            format!(" version {}", fact.version)
        };
        let age = match fact.age_us {
            0..1_000 => "read right before".to_owned(),
            us => format!("read {} ms before", us / 1_000),
        };
        format!("{} = {}{version}, {}, {age}", fact.name, fact.tool, fact.state)
    };
    facts.iter().map(|fact| row("facts", &told(fact))).collect()
}

fn checks(checks: &[v1::CheckRun], paint: Paint) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let told = |check: &v1::CheckRun| match check.verdict.as_str() {
        "pass" => format!("{}{GLUE}{}", paint.good("✓"), check.check),
        "note" => format!("{}{GLUE}{}", paint.dim("·"), check.check),
        "needs" => format!("{}{GLUE}{}", paint.warn("?"), check.check),
        "refuse" => format!("{}{GLUE}{}", paint.bad("✗"), check.check),
        _ => paint.dim(&format!("-{GLUE}{}", check.check)),
    };
    let all: Vec<String> = checks.iter().map(told).collect();
    row("checks", &all.join(" ")).replace(GLUE, " ")
}

fn outcome(explanation: &v1::Explanation, action: &v1::Action, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(outcome) = &action.outcome {
        let executed = if outcome.executed { "executed" } else { "not executed" };
        let stop = if outcome.stop_reason.is_empty() {
            String::new()
        } else {
            format!(", {}", outcome.stop_reason)
        };
        let attempts = if outcome.attempts == 1 {
            "1 attempt".to_owned()
        } else {
            format!("{} attempts", outcome.attempts)
        };
        text.push_str(&row("tool", &format!("{executed}, {attempts}{stop}")));
        if !outcome.result_json.is_empty() {
            text.push_str(&row("result", &short(&outcome.result_json)));
        }
    }
    if let Some(effect) = &explanation.effect {
        let held = effect.rules_held.iter().map(|rule| format!("{} {rule}", paint.good("✓")));
        let broken = effect.rules_broken.iter().map(|rule| format!("{} {rule}", paint.bad("✗")));
        let rules: Vec<String> = held.chain(broken).collect();
        text.push_str(&row(
            "read back",
            &format!("by {}: {} {}", effect.tool, effect.verdict, rules.join(" ")),
        ));
    }
    text
}

/// The session's log up to this action, a line an entry.
pub(super) fn log(explanation: &v1::Explanation, paint: Paint) -> String {
    let Some(first) = explanation.steps.first().and_then(|step| step.at.as_ref()).map(micros)
    else {
        return String::new();
    };
    let mut text =
        format!("    {}\n", paint.dim(&format!("log of {}", short(&explanation.session))));
    for step in &explanation.steps {
        let at = step.at.as_ref().map_or(0, micros).saturating_sub(first);
        let time = format!("{:>6}.{:03} s", at / 1_000_000, at / 1_000 % 1_000);
        let mut said = short(&step.text);
        for moved in [&step.session_transition, &step.action_transition] {
            if !moved.is_empty() {
                said.push_str(&format!(" · {}", paint.dim(&moved.replace("->", "→"))));
            }
        }
        let begin = format!("    {}  {:<14} ", paint.dim(&time), step.kind);
        text.push_str(&wrap(&said, &begin, &" ".repeat(33), WIDTH));
    }
    text
}

fn micros(time: &prost_types::Timestamp) -> i64 {
    time.seconds.saturating_mul(1_000_000).saturating_add(i64::from(time.nanos) / 1_000)
}
