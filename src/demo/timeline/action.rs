//! One explained action: a line for a read that went well, a block for everything else.

use serde_json::Value;

use super::{
    Paint, WIDTH,
    paint::{columns, short, spaced, wrap},
    verdicts, word,
};
use crate::{demo::stories::Explained, pb::v1};

/// Where the text of a row begins.
const INDENT: usize = 17;
/// Where the state of an action begins.
const HEAD: usize = 40;
/// Keeps a mark and its word on one line until the row is made.
const GLUE: char = '\u{1}';
/// Values longer than this are cut, in characters.
const VALUE_MAX: usize = 40;

/// The action as one line, or as a block. What was told of it before is not told again.
pub(super) fn render(explained: &Explained, is_new: bool, paint: Paint) -> String {
    let explanation = &explained.explanation;
    let action = explanation.action.clone().unwrap_or_default();
    let decision = action.decision.clone().unwrap_or_default();
    let arguments: Value = serde_json::from_str(&explanation.arguments_json).unwrap_or_default();
    let mut text = head(explained, &action, &arguments, paint);
    let is_plain = decision.verdict() == v1::Verdict::Allow
        && explanation.effect.is_none()
        && decision.reasons.is_empty()
        && action.outcome.as_ref().is_some_and(|o| o.executed && o.stop_reason.is_empty());
    if is_plain || explained.replayed {
        return text;
    }
    if is_new {
        let is_judged =
            explanation.checks.iter().any(|c| c.check == "policy" && c.verdict != "skipped");
        text.push_str(&decided(&decision, is_judged, paint));
        text.push_str(&provenance(&decision, &arguments));
        text.push_str(&facts(&explanation.facts));
        text.push_str(&checks(&explanation.checks, paint));
    }
    text.push_str(&outcome(explanation, &action, paint));
    text
}

/// A name and its value.
pub(super) fn row(name: &str, value: &str) -> String {
    let gap = " ".repeat(INDENT.saturating_sub(4 + columns(name)));
    wrap(value, &format!("    {name}{gap}"), &" ".repeat(INDENT), WIDTH)
}

fn head(explained: &Explained, action: &v1::Action, arguments: &Value, paint: Paint) -> String {
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
    let is_waiting = matches!(
        state,
        v1::ActionState::ActionAwaitingConfirmation | v1::ActionState::ActionAwaitingApproval
    );
    let painted = match (is_bad, is_waiting) {
        (true, _) => paint.bad(&name),
        (false, true) => paint.warn(&name),
        (false, false) => paint.good(&name),
    };
    let replayed = if explained.replayed { ", the stored outcome again" } else { "" };
    let about =
        ["order_id", "mail_id"].iter().find_map(|at| arguments.get(at)).and_then(Value::as_str);
    let what = format!("{}  {}", paint.bold(&action.tool), cut(about.unwrap_or(&explained.about)));
    let gap = " ".repeat(HEAD.saturating_sub(4 + columns(&what)));
    let rest = format!("{painted}{replayed} {}", paint.dim(&moves(explained, action)));
    wrap(&rest, &format!("  ● {what}{gap}"), &" ".repeat(HEAD), WIDTH)
}

/// Where the session went from here: `RESOLVING → EXECUTING → CLOSED`.
fn moves(explained: &Explained, action: &v1::Action) -> String {
    let steps = &explained.explanation.steps;
    let since = steps
        .iter()
        .rposition(|step| step.kind == "decision" && step.tool == action.tool)
        .unwrap_or(steps.len());
    let mut path: Vec<&str> = Vec::new();
    for step in steps.iter().skip(since) {
        let Some((from, to)) = step.session_transition.split_once(" -> ") else { continue };
        if path.last() != Some(&from) {
            path.push(from);
        }
        path.push(to);
    }
    match (path.is_empty(), explained.session_state.is_empty()) {
        (false, _) => path.join(" → "),
        (true, false) => explained.session_state.clone(),
        (true, true) => action.session_state.clone(),
    }
}

fn decided(decision: &v1::Decision, is_judged: bool, paint: Paint) -> String {
    let verdict = match decision.verdict() {
        v1::Verdict::Allow => paint.good("allow"),
        v1::Verdict::Deny => paint.bad("deny"),
        v1::Verdict::ConfirmationRequired | v1::Verdict::ApprovalRequired => paint.warn("ask"),
        v1::Verdict::Unspecified => "?".to_owned(),
    };
    let needs = verdicts(decision.needs());
    let needs =
        if needs.is_empty() { String::new() } else { format!(" for {}", needs.join(", then ")) };
    let cell = format!(" · matrix: {} × {}", decision.matrix_row, decision.matrix_column);
    let cell = if is_judged { paint.dim(&cell) } else { String::new() };
    let mut text = row("decided", &format!("{verdict}{needs}{cell}"));
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
        } else if !matches!(argument.role.as_str(), "evidence" | "content") {
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
    // The last check is the decision itself, which stands above.
    let all: Vec<String> =
        checks.iter().filter(|check| check.check != "decision").map(told).collect();
    row("checks", &all.join(" ")).replace(GLUE, " ")
}

fn outcome(explanation: &v1::Explanation, action: &v1::Action, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(outcome) = &action.outcome {
        let attempts = match outcome.attempts {
            1 => "1 attempt".to_owned(),
            several => format!("{several} attempts"),
        };
        let how = match (outcome.executed, outcome.stop_reason.as_str()) {
            (true, "") => "executed".to_owned(),
            (true, stop) => format!("executed, then {stop}"),
            (false, "") => "not executed".to_owned(),
            (false, stop) => format!("stopped by {stop}"),
        };
        text.push_str(&row("tool", &format!("{how}, {attempts}")));
        if !outcome.result_json.is_empty() {
            text.push_str(&row("result", &spaced(&outcome.result_json)));
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
        if !step.session_transition.is_empty() {
            let moved = step.session_transition.replace("->", "→");
            said.push_str(&format!(" · {}", paint.dim(&moved)));
        }
        let begin = format!("    {}  {:<14} ", paint.dim(&time), step.kind);
        text.push_str(&wrap(&said, &begin, &" ".repeat(33), WIDTH));
    }
    text
}

fn micros(time: &prost_types::Timestamp) -> i64 {
    time.seconds.saturating_mul(1_000_000).saturating_add(i64::from(time.nanos) / 1_000)
}
