//! Entries, and what is asked for.

use super::{FieldError, bounded, time, timestamp};
use crate::{
    app::audit::EntryQuery,
    domain::{
        ids::{ActionId, SessionId},
        limits,
        unit::EntryRow,
    },
    pb::v1,
};

/// The filters of a query, its page size and token.
///
/// # Errors
/// When a filter has not the form of what it names.
pub fn query(message: v1::QueryEntriesRequest) -> Result<(EntryQuery, i64, String), FieldError> {
    let v1::QueryEntriesRequest {
        session,
        action,
        kind,
        tool,
        decision,
        reason,
        since,
        until,
        page_size,
        page_token,
    } = message;
    let given = |text: String| (!text.is_empty()).then_some(text);
    let session = given(session)
        .map(|name| {
            let handle = name.strip_prefix("sessions/").unwrap_or(&name);
            SessionId::parse(handle).map_err(|e| FieldError::new("session", e.to_string()))
        })
        .transpose()?;
    let action = given(action)
        .map(|name| {
            let handle = name.rsplit('/').next().unwrap_or(&name);
            ActionId::parse(handle).map_err(|e| FieldError::new("action", e.to_string()))
        })
        .transpose()?;
    let query = EntryQuery {
        session,
        action,
        kind: given(bounded("kind", kind, limits::NAME_MAX_BYTES)?),
        tool: given(bounded("tool", tool, limits::NAME_MAX_BYTES)?),
        decision: given(bounded("decision", decision, limits::NAME_MAX_BYTES)?),
        reason: given(bounded("reason", reason, limits::NAME_MAX_BYTES)?),
        since: since.map(timestamp),
        until: until.map(timestamp),
        after: None,
        limit: 0,
    };
    Ok((query, i64::from(page_size), page_token))
}

/// An entry as a message.
#[must_use]
pub fn entry(row: EntryRow) -> v1::Entry {
    v1::Entry {
        name: format!("entries/{}", row.entry),
        occurred_at: Some(time(row.occurred_at)),
        kind: row.kind,
        canonical_json: row.bytes,
        leaf_hash: row.leaf_hash,
    }
}
