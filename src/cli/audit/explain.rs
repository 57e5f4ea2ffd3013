//! `stateguard audit explain`: the story of one action, from its entries.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use super::{LogArgs, Unanswered, because};
use crate::{
    app::intent::{Step, story},
    cli::output::{Exit, Output},
    config::Environment,
    domain::{
        ids::{ActionId, SessionId, TenantId},
        unit::EntryRow,
    },
    store::{EntryQuery, Store},
};

/// Entries read for one story; a session's cap on steps keeps it below.
const ENTRIES_MAX: i64 = 2_000;

/// Which action.
#[derive(Debug, Args)]
pub struct ExplainCommand {
    /// `act_…`, or the name that the API gives: `sessions/ses_…/actions/act_…`.
    action: String,
    #[command(flatten)]
    log: LogArgs,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(
    command: &ExplainCommand,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<Exit, Unanswered> {
    let handle = command.action.rsplit('/').next().unwrap_or_default();
    let action = ActionId::parse(handle).map_err(|error| error.to_string())?;
    let config = command.log.config(environment)?;
    let store = command.log.store(&config, environment).await?;
    for tenant in command.log.tenants(&*store).await? {
        let entries = entries(&*store, &tenant, &action).await?;
        let steps = story(&entries, &action, true).map_err(|refused| refused.to_string())?;
        if steps.is_empty() {
            continue;
        }
        let decisions = decisions(&entries, &action);
        match command.output {
            Output::Json => writeln!(out, "{:#}", as_json(&tenant, &action, &steps, &decisions))?,
            Output::Text => print(&action, &steps, &decisions, out)?,
        }
        return Ok(Exit::Good);
    }
    Err(Unanswered::Because(format!("no entry is about `{action}`")))
}

/// All entries of the session that the action belongs to.
async fn entries(
    store: &dyn Store,
    tenant: &TenantId,
    action: &ActionId,
) -> Result<Vec<EntryRow>, String> {
    let about = EntryQuery { action: Some(action.clone()), limit: 1, ..EntryQuery::default() };
    let first = store.entries(tenant, &about).await.map_err(because)?;
    let session: Option<SessionId> = first.into_iter().next().and_then(|row| row.session);
    let Some(session) = session else { return Ok(Vec::new()) };
    let all = EntryQuery { session: Some(session), limit: ENTRIES_MAX, ..EntryQuery::default() };
    let mut entries = store.entries(tenant, &all).await.map_err(because)?;
    entries.sort_by_key(|row| row.session_seq);
    Ok(entries)
}

/// The documents of the action's decisions, in order.
fn decisions(entries: &[EntryRow], action: &ActionId) -> Vec<Value> {
    entries
        .iter()
        .filter(|row| row.action.as_ref() == Some(action) && row.kind == "decision")
        .filter_map(|row| serde_json::from_slice(&row.bytes).ok())
        .collect()
}

fn as_json(tenant: &TenantId, action: &ActionId, steps: &[Step], decisions: &[Value]) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|step| {
            json!({"at": step.at.rfc3339(), "kind": step.kind, "text": step.text, "tool": step.tool,
                "session_transition": step.session_transition, "action_transition": step.action_transition,
                "reasons": step.reasons, "entry": step.entry})
        })
        .collect();
    json!({"tenant": tenant.as_str(), "action": action.as_str(), "steps": steps, "decisions": decisions})
}

fn print(
    action: &ActionId,
    steps: &[Step],
    decisions: &[Value],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{action}\n")?;
    for step in steps {
        write!(out, "{}  {}", step.at, step.text)?;
        for moved in [&step.session_transition, &step.action_transition] {
            if !moved.is_empty() {
                write!(out, "  [{moved}]")?;
            }
        }
        writeln!(out)?;
        if !step.reasons.is_empty() {
            writeln!(out, "{:>29}because {}", "", step.reasons.join(", "))?;
        }
    }
    for decision in decisions {
        print_origins(decision, out)?;
    }
    Ok(())
}

/// Where each argument of a decision came from.
fn print_origins(decision: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let list = |value: &Value, name: &str| {
        let items = value.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let arguments = decision.get("arguments").and_then(Value::as_array);
    let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\nwhere the arguments came from ({})", text(decision, "decision"))?;
    for argument in arguments {
        write!(
            out,
            "  {:<20} {:<9} {:<9} from {}",
            text(argument, "at"),
            text(argument, "role"),
            text(argument, "integrity"),
            Some(list(argument, "sources"))
                .filter(|s| !s.is_empty())
                .unwrap_or_else(|| "the model".to_owned()),
        )?;
        for (label, member) in [("named by", "named_by"), ("endorsed by", "endorsed_by")] {
            let said = text(argument, member);
            if !said.is_empty() {
                write!(out, ", {label} {said}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
