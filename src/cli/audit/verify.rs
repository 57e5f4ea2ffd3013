//! `stateguard audit verify`: hashes, keys, columns, places, states, and every decision made again.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use clap::Args;
use serde_json::json;

use super::{LogArgs, Unanswered, because};
use crate::{
    app::audit::{Auditor, Report},
    cli::output::{Exit, Output},
    config::Environment,
    decision_log::check::Finding,
};

/// What is checked.
#[derive(Debug, Args)]
pub struct VerifyCommand {
    #[command(flatten)]
    log: LogArgs,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(
    command: &VerifyCommand,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<Exit, Unanswered> {
    let config = command.log.config(environment)?;
    let sealer = Arc::new(LogArgs::sealer(&config, environment)?);
    let store = command.log.store(&config, environment).await?;
    let watched = command.output == Output::Text && io::stderr().is_terminal();
    let progress = |entries: u64| {
        if watched {
            drop(write!(io::stderr(), "\r{entries} entries"));
        }
    };
    let report = Auditor::new(store, sealer).verify(progress).await.map_err(because)?;
    if watched {
        writeln!(io::stderr(), "\r")?;
    }
    match command.output {
        Output::Json => writeln!(out, "{:#}", as_json(&report))?,
        Output::Text => print(&report, out)?,
    }
    Ok(if report.findings.is_empty() { Exit::Good } else { Exit::Tampered })
}

fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        writeln!(
            out,
            "{} {} {}: {}",
            finding.tenant,
            finding.fault,
            subject(finding),
            finding.detail
        )?;
    }
    writeln!(
        out,
        "{} entries of {} sessions checked, {} decisions made again: {}",
        report.entries,
        report.sessions,
        report.decisions,
        match report.findings.len() {
            0 => "nothing was changed".to_owned(),
            1 => "1 finding".to_owned(),
            count => format!("{count} findings"),
        }
    )
}

/// The entry, action or session that a finding is about.
fn subject(finding: &Finding) -> String {
    let entry = finding.entry.as_ref().map(ToString::to_string);
    let action = finding.action.as_ref().map(ToString::to_string);
    let session = finding.session.as_ref().map(ToString::to_string);
    match (entry, action, session) {
        (Some(entry), _, Some(session)) => format!("{entry} of {session}"),
        (Some(entry), _, None) => entry,
        (None, Some(action), _) => action,
        (None, None, session) => session.unwrap_or_default(),
    }
}

fn as_json(report: &Report) -> serde_json::Value {
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "fault": finding.fault.as_str(),
                "tenant": finding.tenant.as_str(),
                "entry": finding.entry.as_ref().map(|id| id.as_str()),
                "session": finding.session.as_ref().map(|id| id.as_str()),
                "action": finding.action.as_ref().map(|id| id.as_str()),
                "detail": finding.detail,
            })
        })
        .collect();
    json!({
        "entries": report.entries,
        "sessions": report.sessions,
        "decisions_made_again": report.decisions,
        "findings": findings,
    })
}
