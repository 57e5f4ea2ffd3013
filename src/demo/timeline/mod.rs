//! Owns: how a story looks on a terminal: `ExplainAction` as a short timeline, 96 columns.
//! Must not know: how anything was played.
//! Start reading at: `story`.

mod action;
mod paint;

use std::collections::HashSet;

use serde_json::Value;

pub(crate) use self::paint::Paint;
use self::paint::{spaced, wrap};
use super::{
    agent::{Attempt, Deed},
    stories::{Part, Story, Told},
    till::Found,
};
use crate::pb::v1;

/// Columns of a line.
pub(super) const WIDTH: usize = 96;
/// Entries of the log that are shown one by one.
const ENTRIES_MAX: usize = 12;

/// The line that opens a story.
pub(crate) fn heading(story: &Story, paint: Paint) -> String {
    let label = match story {
        Story::OwnByMail(_) | Story::OwnSignedIn(_) => String::new(),
        Story::HonestPortal
        | Story::HonestMail
        | Story::HostileMail
        | Story::ForeignOrder
        | Story::Again
        | Story::TooEarly
        | Story::Reach => format!("Story {}  ", story.label()),
    };
    let text = format!("{label}{}", story.title());
    let rule = "─".repeat(WIDTH.saturating_sub(text.chars().count() + 4));
    format!("{} {} {}\n", paint.dim("──"), paint.bold(&text), paint.dim(&rule))
}

/// Everything between the heading and the next story.
pub(crate) fn story(told: &Told, paint: Paint) -> String {
    let mut text = String::new();
    let last_in_session = last_actions(&told.parts);
    let mut told_before: HashSet<&str> = HashSet::new();
    for (at, part) in told.parts.iter().enumerate() {
        text.push_str(&match part {
            Part::Said(said) => format!("\n{}", wrap(said, "  ", "  ", WIDTH)),
            Part::Action(explained) => {
                let name = explained.explanation.action.as_ref().map(|action| action.name.as_str());
                let is_new = told_before.insert(name.unwrap_or_default());
                let mut block = action::render(explained, is_new, paint);
                if last_in_session.contains(&at) {
                    block.push_str(&action::log(&explained.explanation, paint));
                }
                block
            }
            Part::AgentSaw(deed) => agent_saw(deed, paint),
            Part::Tried(attempts) => tried(attempts, paint),
            Part::Waiting(escalation) => waiting(escalation, paint),
            Part::Entries(entries) => logged(entries, paint),
        });
    }
    if let Some(found) = &told.found {
        text.push_str(&shop(found, paint));
    }
    text.push('\n');
    for expectation in &told.expectations {
        let mark = if expectation.held { paint.good("✔") } else { paint.bad("✘") };
        text.push_str(&wrap(&expectation.text, &format!("  {mark} "), "    ", WIDTH));
    }
    text
}

/// The last action told of each session: its steps are the whole log of that session.
fn last_actions(parts: &[Part]) -> Vec<usize> {
    let mut last: Vec<(&str, usize)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if let Part::Action(explained) = part {
            let session = explained.explanation.session.as_str();
            match last.iter_mut().find(|(known, _)| *known == session) {
                Some(known) => known.1 = at,
                None => last.push((session, at)),
            }
        }
    }
    last.into_iter().map(|(_, at)| at).collect()
}

fn agent_saw(deed: &Deed, paint: Paint) -> String {
    let mut codes = deed.reasons.clone();
    if !deed.stop_reason.is_empty() && !codes.contains(&deed.stop_reason) {
        codes.push(deed.stop_reason.clone());
    }
    let codes = if codes.is_empty() { "nothing".to_owned() } else { codes.join(", ") };
    let text = format!("what the agent was told of {} {}: {codes}", deed.tool, deed.about);
    wrap(&paint.dim(&text), "      ", "      ", WIDTH)
}

fn tried(attempts: &[Attempt], paint: Paint) -> String {
    let width = attempts.iter().map(|a| a.what.chars().count()).max().unwrap_or(0);
    let line = |attempt: &Attempt| {
        let gap = " ".repeat(width.saturating_sub(attempt.what.chars().count()));
        let code = if attempt.code == "OK" { paint.bad("OK") } else { paint.warn(&attempt.code) };
        format!("    ▸ {}{gap}  {code}  {}\n", attempt.what, paint.dim(&attempt.reason))
    };
    attempts.iter().map(line).collect()
}

fn waiting(escalation: &Value, paint: Paint) -> String {
    let text = |name: &str| escalation.get(name).and_then(Value::as_str).unwrap_or_default();
    let minor: i64 = text("amount_minor").parse().unwrap_or_default();
    let amount =
        if text("currency").is_empty() { String::new() } else { money(minor, text("currency")) };
    let roles = escalation.get("roles").and_then(Value::as_array).into_iter().flatten();
    let roles: Vec<&str> = roles.filter_map(Value::as_str).collect();
    let rows = [
        ("waiting", format!("{} {}  {amount}", text("tool"), text("resource_id"))),
        ("arguments", spaced(text("arguments_json"))),
        ("facts", spaced(text("facts_json"))),
        ("for", format!("{} ({})", text("principal"), text("assurance"))),
        ("may vote", roles.join(", ")),
        ("model says", text("agent_reason").to_owned()),
    ];
    let rows = rows.iter().filter(|(_, value)| !value.trim().is_empty());
    rows.map(|(name, value)| action::row(&paint.bold(&format!("{name:<11}")), value)).collect()
}

fn logged(entries: &[Value], paint: Paint) -> String {
    let line = |entry: &Value| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let tool = entry.pointer("/tool/name").and_then(Value::as_str).unwrap_or_default();
        let reasons = entry.get("reasons").and_then(Value::as_array).into_iter().flatten();
        let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
        let what = if tool.is_empty() { text("call") } else { tool };
        format!("    log  {:<9} {what:<30} {}\n", text("kind"), paint.dim(&reasons.join(", ")))
    };
    let mut shown: String = entries.iter().take(ENTRIES_MAX).map(line).collect();
    if entries.len() > ENTRIES_MAX {
        shown.push_str(&format!("    log  … and {} more\n", entries.len() - ENTRIES_MAX));
    }
    shown
}

/// What stands in the shop's own database.
fn shop(found: &Found, paint: Paint) -> String {
    let mut rows = Vec::new();
    for refund in &found.refunds {
        let sum = money(refund.amount_cents, &refund.currency);
        rows.push(format!(
            "refund {} of {}: {sum}, {}",
            refund.refund_id, refund.order_id, refund.status
        ));
    }
    if found.refunds.is_empty() {
        rows.push("no refund".to_owned());
    }
    rows.extend(
        found.notes.iter().map(|note| format!("note {} about {}", note.note_id, note.order_id)),
    );
    let writes = found.requests.iter().filter(|request| request.method != "GET").count();
    let reads = found.requests.len() - writes;
    let several = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    rows.push(format!("access log: {}, {}", several(reads, "read"), several(writes, "write")));
    let mut text = format!("\n  {}\n", paint.bold("The shop's own database"));
    for row in rows {
        text.push_str(&format!("    {row}\n"));
    }
    text
}

fn money(minor: i64, currency: &str) -> String {
    format!("{}.{:02} {currency}", minor / 100, minor % 100)
}

/// The name of an enum of the API, as people write it.
pub(super) fn word(name: &str) -> String {
    name.trim_start_matches("ACTION_").to_lowercase().replace('_', " ")
}

/// Verdicts by name.
pub(super) fn verdicts(needs: impl Iterator<Item = v1::Verdict>) -> Vec<String> {
    needs
        .map(|need| match need {
            v1::Verdict::ConfirmationRequired => "confirmation".to_owned(),
            v1::Verdict::ApprovalRequired => "approval".to_owned(),
            v1::Verdict::Allow | v1::Verdict::Deny | v1::Verdict::Unspecified => {
                word(need.as_str_name())
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
