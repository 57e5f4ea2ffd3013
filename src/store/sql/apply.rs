//! One unit on one open transaction: keys are claimed, sessions and actions moved, questions spent, in this order; then
//! the rest is written and the entries last. Whatever a guard names is checked by the statement that changes it.

use sqlx::{PgConnection, SqliteConnection};

use super::{Fault, execute, scalar, statements as sql};
use crate::{
    domain::{
        ids::{ActionId, QuestionId, SessionId, TenantId},
        unit::{
            ActionRow, BundleRow, Change, DatumRow, EffectRow, EntryRow, Guard, QuarantineRow,
            QuestionRow, QuestionState, SessionRow, Unit,
        },
    },
    store::Refusal,
};

/// A transaction that is open on one of the two databases.
#[derive(Debug)]
pub(crate) enum Tx<'t> {
    Postgres(&'t mut PgConnection),
    Sqlite(&'t mut SqliteConnection),
}

/// Applies a unit; after an error the transaction must be rolled back.
pub(crate) async fn apply(tx: &mut Tx<'_>, unit: &Unit) -> Result<(), Fault> {
    agree_on_versions(unit)?;
    for row in claims(unit) {
        claim_key(tx, unit, row).await?;
    }
    for guard in &unit.guards {
        if let Guard::ExpectSession { session, version } = guard {
            expect_session(tx, unit, session, *version).await?;
        }
    }
    for guard in &unit.guards {
        match guard {
            Guard::ExpectAction { action, version } => {
                expect_action(tx, unit, action, *version).await?;
            }
            Guard::SpendQuestion { question, becomes, by } => {
                spend_question(tx, unit, question, *becomes, by.as_deref()).await?;
            }
            Guard::ExpectSession { .. } | Guard::ClaimKey(_) => {}
        }
    }
    for change in &unit.changes {
        write(tx, unit, change).await?;
    }
    insert_entries(tx, &unit.tenant, &unit.entries).await
}

/// Two units that claim the same keys take them in the same order, so that neither waits for the other.
fn claims(unit: &Unit) -> Vec<&EffectRow> {
    let mut rows: Vec<&EffectRow> = unit
        .guards
        .iter()
        .filter_map(|guard| match guard {
            Guard::ClaimKey(row) => Some(row),
            Guard::ExpectSession { .. }
            | Guard::ExpectAction { .. }
            | Guard::SpendQuestion { .. } => None,
        })
        .collect();
    rows.sort_by(|a, b| (&a.effect, &a.key).cmp(&(&b.effect, &b.key)));
    rows
}

/// A guard and the row that it guards speak of the same version; a unit that does not is a mistake of its builder.
fn agree_on_versions(unit: &Unit) -> Result<(), Fault> {
    for guard in &unit.guards {
        let disagrees = unit.changes.iter().any(|change| match (guard, change) {
            (Guard::ExpectSession { session, version }, Change::PutSession(row)) => {
                row.session == *session && row.version != version + 1
            }
            (Guard::ExpectAction { action, version }, Change::PutAction(row)) => {
                row.action == *action && row.version != version + 1
            }
            _ => false,
        });
        if disagrees {
            let what =
                format!("unit `{}` writes a version that its guard does not expect", unit.name);
            return Err(Fault::corrupt("unit", unit.name, what));
        }
    }
    Ok(())
}

async fn claim_key(tx: &mut Tx<'_>, unit: &Unit, row: &EffectRow) -> Result<(), Fault> {
    let tenant = unit.tenant.as_str();
    let claimed = execute!(
        tx,
        "effects",
        sql::CLAIM_KEY,
        [
            tenant,
            &row.effect,
            &row.key,
            row.generation,
            &row.same,
            row.ordinal,
            row.fingerprint.as_str(),
            row.action.as_str(),
            row.session.as_str(),
            &row.principal,
            row.status.as_str(),
            row.claimed_at.micros(),
            unit.name,
        ]
    )?;
    if claimed == 1 {
        return Ok(());
    }
    let holder = scalar!(
        tx,
        String,
        "effects",
        sql::HOLDER_OF_KEY,
        [tenant, &row.effect, &row.key, row.generation, &row.same, row.ordinal]
    )?;
    // Gone in between: whoever held it rolled back or released it, and this unit can be tried again.
    let holder = holder.as_deref().map_or(Ok(row.action.clone()), |text| {
        ActionId::parse(text).map_err(|e| Fault::corrupt("effects", &row.key, e.to_string()))
    })?;
    Err(Fault::Refused(Refusal::KeyTaken { holder }))
}

/// With a next version in the unit, that row's own update is the check.
async fn expect_session(
    tx: &mut Tx<'_>,
    unit: &Unit,
    session: &SessionId,
    version: i64,
) -> Result<(), Fault> {
    for change in &unit.changes {
        if let Change::PutSession(row) = change
            && row.session == *session
        {
            return put_session(tx, unit, row).await;
        }
    }
    let found = scalar!(
        tx,
        i64,
        "sessions",
        sql::SESSION_AT,
        [unit.tenant.as_str(), session.as_str(), version]
    )?;
    match found {
        Some(_) => Ok(()),
        None => Err(Fault::Refused(Refusal::SessionMoved(session.clone()))),
    }
}

async fn expect_action(
    tx: &mut Tx<'_>,
    unit: &Unit,
    action: &ActionId,
    version: i64,
) -> Result<(), Fault> {
    for change in &unit.changes {
        if let Change::PutAction(row) = change
            && row.action == *action
        {
            return put_action(tx, unit, row).await;
        }
    }
    let found = scalar!(
        tx,
        i64,
        "actions",
        sql::ACTION_AT,
        [unit.tenant.as_str(), action.as_str(), version]
    )?;
    match found {
        Some(_) => Ok(()),
        None => Err(Fault::Refused(Refusal::ActionMoved(action.clone()))),
    }
}

async fn spend_question(
    tx: &mut Tx<'_>,
    unit: &Unit,
    question: &QuestionId,
    becomes: QuestionState,
    by: Option<&str>,
) -> Result<(), Fault> {
    let tenant = unit.tenant.as_str();
    let spent = execute!(
        tx,
        "questions",
        sql::SPEND_QUESTION,
        [tenant, question.as_str(), becomes.as_str(), by, unit.at.micros(), unit.name]
    )?;
    if spent == 1 {
        return Ok(());
    }
    let state = scalar!(tx, String, "questions", sql::QUESTION_STATE, [tenant, question.as_str()])?;
    let state = state.as_deref().and_then(QuestionState::parse).ok_or_else(|| {
        Fault::corrupt("questions", question.as_str(), "there is no such question to spend")
    })?;
    Err(Fault::Refused(Refusal::QuestionGone { question: question.clone(), state }))
}

async fn write(tx: &mut Tx<'_>, unit: &Unit, change: &Change) -> Result<(), Fault> {
    let tenant = unit.tenant.as_str();
    match change {
        Change::OpenSession(row) => open_session(tx, unit, row).await,
        Change::PutSession(row) if is_guarded_session(unit, &row.session) => Ok(()),
        Change::PutSession(row) => put_session(tx, unit, row).await,
        Change::PutAction(row) if is_guarded_action(unit, &row.action) => Ok(()),
        Change::PutAction(row) => put_action(tx, unit, row).await,
        Change::InsertDatum(row) => insert_datum(tx, tenant, row).await,
        Change::InsertAction(row) => insert_action(tx, unit, row).await,
        Change::InsertQuestion(row) => insert_question(tx, unit, row).await,
        Change::InsertQuarantine(row) => insert_quarantine(tx, tenant, row).await,
        Change::KeepBundle(row) => keep_bundle(tx, row).await,
        Change::SettleEffect { effect, action, status } => {
            let settled = execute!(
                tx,
                "effects",
                sql::SETTLE_EFFECT,
                [tenant, effect, action.as_str(), status.as_str(), unit.name]
            )?;
            one_row(settled, "effects", action.as_str(), "no live claim of this action to settle")
        }
        Change::InsertInputs { inputs, session, sealed } => {
            let done = execute!(
                tx,
                "inputs",
                sql::INSERT_INPUTS,
                [tenant, inputs.as_str(), session.as_str(), sealed]
            )?;
            one_row(done, "inputs", inputs.as_str(), "was not written")
        }
        Change::RememberRequest { session, request_id, digest, action } => {
            let done = execute!(
                tx,
                "requests",
                sql::REMEMBER_REQUEST,
                [tenant, session.as_str(), request_id, digest.as_str(), action.as_str()]
            )?;
            if done == 1 { Ok(()) } else { Err(Fault::Refused(Refusal::RequestTaken)) }
        }
    }
}

fn is_guarded_session(unit: &Unit, session: &SessionId) -> bool {
    let guards = unit.guards.iter();
    guards.into_iter().any(|g| matches!(g, Guard::ExpectSession { session: s, .. } if s == session))
}

fn is_guarded_action(unit: &Unit, action: &ActionId) -> bool {
    let guards = unit.guards.iter();
    guards.into_iter().any(|g| matches!(g, Guard::ExpectAction { action: a, .. } if a == action))
}

fn one_row(done: u64, table: &'static str, key: &str, otherwise: &str) -> Result<(), Fault> {
    if done == 1 { Ok(()) } else { Err(Fault::corrupt(table, key, otherwise)) }
}

async fn open_session(tx: &mut Tx<'_>, unit: &Unit, row: &SessionRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "sessions",
        sql::OPEN_SESSION,
        [
            unit.tenant.as_str(),
            row.session.as_str(),
            row.version,
            row.state.as_str(),
            &row.workflow,
            &row.workload,
            &row.principal,
            row.entry_count,
            row.data_count,
            row.opened_at.micros(),
            row.expires_at.micros(),
            row.updated_at.micros(),
            unit.name,
            &row.body,
        ]
    )?;
    one_row(done, "sessions", row.session.as_str(), "was not opened")
}

async fn put_session(tx: &mut Tx<'_>, unit: &Unit, row: &SessionRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "sessions",
        sql::PUT_SESSION,
        [
            unit.tenant.as_str(),
            row.session.as_str(),
            row.version,
            row.state.as_str(),
            row.entry_count,
            row.data_count,
            row.expires_at.micros(),
            row.updated_at.micros(),
            unit.name,
            &row.body,
        ]
    )?;
    if done == 1 { Ok(()) } else { Err(Fault::Refused(Refusal::SessionMoved(row.session.clone()))) }
}

async fn insert_datum(tx: &mut Tx<'_>, tenant: &str, row: &DatumRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "data",
        sql::INSERT_DATUM,
        [
            tenant,
            row.datum.as_str(),
            row.session.as_str(),
            row.is_statement,
            row.created_at.micros(),
            row.size,
            &row.body,
            &row.content,
        ]
    )?;
    one_row(done, "data", row.datum.as_str(), "was not written")
}

async fn insert_action(tx: &mut Tx<'_>, unit: &Unit, row: &ActionRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "actions",
        sql::INSERT_ACTION,
        [
            unit.tenant.as_str(),
            row.action.as_str(),
            row.session.as_str(),
            row.version,
            row.state.as_str(),
            &row.tool,
            row.effect_key.as_deref(),
            row.effect_same.as_deref(),
            row.fingerprint.as_ref().map(|digest| digest.as_str()),
            row.subject.as_deref(),
            &row.principal,
            row.amount_minor,
            row.send_before.map(|at| at.micros()),
            row.proposed_at.micros(),
            row.updated_at.micros(),
            unit.name,
            &row.body,
        ]
    )?;
    one_row(done, "actions", row.action.as_str(), "was not written")
}

async fn put_action(tx: &mut Tx<'_>, unit: &Unit, row: &ActionRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "actions",
        sql::PUT_ACTION,
        [
            unit.tenant.as_str(),
            row.action.as_str(),
            row.version,
            row.state.as_str(),
            row.effect_key.as_deref(),
            row.effect_same.as_deref(),
            row.fingerprint.as_ref().map(|digest| digest.as_str()),
            row.subject.as_deref(),
            row.amount_minor,
            row.send_before.map(|at| at.micros()),
            row.updated_at.micros(),
            unit.name,
            &row.body,
        ]
    )?;
    if done == 1 { Ok(()) } else { Err(Fault::Refused(Refusal::ActionMoved(row.action.clone()))) }
}

async fn insert_question(tx: &mut Tx<'_>, unit: &Unit, row: &QuestionRow) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "questions",
        sql::INSERT_QUESTION,
        [
            unit.tenant.as_str(),
            row.question.as_str(),
            row.action.as_str(),
            row.session.as_str(),
            row.need.as_str(),
            row.state.as_str(),
            row.digest.as_str(),
            row.asked_at.micros(),
            row.expires_at.micros(),
            unit.name,
            &row.body,
        ]
    )?;
    one_row(done, "questions", row.question.as_str(), "was not written")
}

async fn insert_quarantine(
    tx: &mut Tx<'_>,
    tenant: &str,
    row: &QuarantineRow,
) -> Result<(), Fault> {
    let done = execute!(
        tx,
        "quarantine",
        sql::INSERT_QUARANTINE,
        [
            tenant,
            row.quarantine.as_str(),
            row.action.as_str(),
            row.session.as_str(),
            &row.tool,
            &row.reason,
            row.received_at.micros(),
            &row.body,
        ]
    )?;
    one_row(done, "quarantine", row.quarantine.as_str(), "was not written")
}

async fn keep_bundle(tx: &mut Tx<'_>, row: &BundleRow) -> Result<(), Fault> {
    execute!(
        tx,
        "bundles",
        sql::KEEP_BUNDLE,
        [row.digest.as_str(), &row.name, &row.version, &row.sources, row.kept_at.micros()]
    )?;
    Ok(())
}

async fn insert_entries(
    tx: &mut Tx<'_>,
    tenant: &TenantId,
    rows: &[EntryRow],
) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let written = match tx {
        Tx::Postgres(c) => entries_in_one(c, tenant, rows).await,
        Tx::Sqlite(c) => entries_one_by_one(c, tenant, rows).await,
    };
    let written = written.map_err(|error| Fault::sql("entries", error))?;
    let all = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    if written == all {
        Ok(())
    } else {
        Err(Fault::corrupt("entries", tenant.as_str(), "not all entries were written"))
    }
}

/// One round trip for all entries of the unit.
async fn entries_in_one(
    connection: &mut PgConnection,
    tenant: &TenantId,
    rows: &[EntryRow],
) -> Result<u64, sqlx::Error> {
    let texts = |of: fn(&EntryRow) -> &str| rows.iter().map(of).collect::<Vec<&str>>();
    let optional = |of: fn(&EntryRow) -> Option<&str>| rows.iter().map(of).collect::<Vec<_>>();
    sqlx::query(sql::INSERT_ENTRIES.postgres)
        .bind(tenant.as_str())
        .bind(texts(|row| row.entry.as_str()))
        .bind(optional(|row| row.session.as_ref().map(SessionId::as_str)))
        .bind(rows.iter().map(|row| row.session_seq).collect::<Vec<Option<i64>>>())
        .bind(optional(|row| row.action.as_ref().map(ActionId::as_str)))
        .bind(texts(|row| &row.kind))
        .bind(rows.iter().map(|row| row.occurred_at.micros()).collect::<Vec<i64>>())
        .bind(optional(|row| row.tool.as_deref()))
        .bind(optional(|row| row.decision.as_deref()))
        .bind(texts(|row| &row.reasons))
        .bind(rows.iter().map(|row| row.bytes.as_slice()).collect::<Vec<&[u8]>>())
        .bind(texts(|row| &row.leaf_hash))
        .bind(texts(|row| &row.mac))
        .execute(connection)
        .await
        .map(|done| done.rows_affected())
}

/// There is no round trip to save here.
async fn entries_one_by_one(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    rows: &[EntryRow],
) -> Result<u64, sqlx::Error> {
    let mut written = 0;
    for row in rows {
        let done = sqlx::query(sql::INSERT_ENTRIES.sqlite)
            .bind(tenant.as_str())
            .bind(row.entry.as_str())
            .bind(row.session.as_ref().map(SessionId::as_str))
            .bind(row.session_seq)
            .bind(row.action.as_ref().map(ActionId::as_str))
            .bind(&row.kind)
            .bind(row.occurred_at.micros())
            .bind(row.tool.as_deref())
            .bind(row.decision.as_deref())
            .bind(&row.reasons)
            .bind(&row.bytes)
            .bind(&row.leaf_hash)
            .bind(&row.mac)
            .execute(&mut *connection)
            .await?;
        written += done.rows_affected();
    }
    Ok(written)
}
