//! `stateguard audit query`.

use std::io::Write;

use clap::Args;

use super::{LogArgs, Unanswered, because};
use crate::{
    cli::output::{Exit, Output},
    config::Environment,
    domain::{
        clock::Timestamp,
        ids::{ActionId, SessionId, TenantId},
        unit::EntryRow,
    },
    store::{EntryQuery, Store},
};

/// Rows read at a time.
const PAGE: i64 = 500;

/// Which entries are wanted; all filters must hold.
#[derive(Debug, Args)]
pub struct QueryCommand {
    #[command(flatten)]
    log: LogArgs,
    /// Of this session.
    #[arg(long)]
    session: Option<String>,
    /// About this action.
    #[arg(long)]
    action: Option<String>,
    /// Of this kind, such as `decision`.
    #[arg(long)]
    kind: Option<String>,
    /// About this tool.
    #[arg(long)]
    tool: Option<String>,
    /// With this verdict.
    #[arg(long)]
    decision: Option<String>,
    /// With this reason code.
    #[arg(long)]
    reason: Option<String>,
    /// At or after this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most this many.
    #[arg(long, default_value_t = 1_000)]
    limit: i64,
    /// `json` prints the canonical bytes, one entry a line.
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

impl QueryCommand {
    fn query(&self) -> Result<EntryQuery, String> {
        let time = |text: &Option<String>| {
            text.as_ref()
                .map(|text| {
                    Timestamp::from_rfc3339(text).ok_or_else(|| {
                        format!("`{text}` is not a time such as `2026-01-05T09:00:00Z`")
                    })
                })
                .transpose()
        };
        let session = self.session.as_deref().map(SessionId::parse).transpose();
        let action = self.action.as_deref().map(ActionId::parse).transpose();
        Ok(EntryQuery {
            session: session.map_err(|error| error.to_string())?,
            action: action.map_err(|error| error.to_string())?,
            kind: self.kind.clone(),
            tool: self.tool.clone(),
            decision: self.decision.clone(),
            reason: self.reason.clone(),
            since: time(&self.since)?,
            until: time(&self.until)?,
            after: None,
            limit: self.limit.clamp(0, PAGE),
        })
    }
}

pub(super) async fn run(
    command: &QueryCommand,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<Exit, Unanswered> {
    let query = command.query()?;
    let config = command.log.config(environment)?;
    let store = command.log.store(&config, environment).await?;
    let mut left = command.limit;
    for tenant in command.log.tenants(&*store).await? {
        left = print_all(&*store, &tenant, query.clone(), left, command.output, out).await?;
    }
    Ok(Exit::Good)
}

async fn print_all(
    store: &dyn Store,
    tenant: &TenantId,
    mut query: EntryQuery,
    mut left: i64,
    output: Output,
    out: &mut dyn Write,
) -> Result<i64, Unanswered> {
    while left > 0 {
        query.limit = left.min(PAGE);
        let page = store.entries(tenant, &query).await.map_err(because)?;
        let Some(last) = page.last() else { break };
        query.after = Some((last.occurred_at, last.entry.clone()));
        for row in &page {
            match output {
                Output::Json => {
                    out.write_all(&row.bytes)?;
                    out.write_all(b"\n")?;
                }
                Output::Text => print(tenant, row, out)?,
            }
        }
        left -= i64::try_from(page.len()).unwrap_or(left);
    }
    Ok(left)
}

fn print(tenant: &TenantId, row: &EntryRow, out: &mut dyn Write) -> std::io::Result<()> {
    let place = match (&row.session, row.session_seq) {
        (Some(session), Some(seq)) => format!("{session}#{seq}"),
        _ => "-".to_owned(),
    };
    let or_dash = |text: Option<&str>| text.filter(|t| !t.is_empty()).unwrap_or("-").to_owned();
    writeln!(
        out,
        "{} {tenant} {place:<34} {:<14} {:<24} {:<21} {} {}",
        row.occurred_at,
        row.kind,
        or_dash(row.tool.as_deref()),
        or_dash(row.decision.as_deref()),
        row.entry,
        or_dash(Some(&row.reasons)),
    )
}
