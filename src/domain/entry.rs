//! One line of the decision log: canonical bytes, hashed as stored; columns are derived from them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{
    canonical::{self, NotCanonical},
    clock::Timestamp,
    contract_terms::vocabulary,
    ids::{ActionId, EntryId, SessionId, TenantId},
    unit::EntryRow,
};

/// The version of the entry format.
pub const ENTRY_VERSION: i64 = 1;

vocabulary! {
    /// What an entry is about.
    EntryKind {
        /// A session was opened.
        SessionOpened = "session_opened",
        /// The principal spoke.
        Statement = "statement",
        /// Content was stored.
        Datum = "datum",
        /// Content reached the model.
        Exposure = "exposure",
        /// An intent was decided.
        Decision = "decision",
        /// A write may have been sent from here on.
        Dispatch = "dispatch",
        /// What came of it.
        Outcome = "outcome",
        /// What was read back.
        Verification = "verification",
        /// A person is asked.
        Question = "question",
        /// A person answered.
        Vote = "vote",
        /// A session moved for another reason.
        Transition = "transition",
        /// A value was raised.
        Endorsement = "endorsement",
        /// A bundle took force.
        Bundle = "bundle",
        /// An operator did something.
        Admin = "admin",
        /// A call was refused at the door.
        Refusal = "refusal",
    }
}

/// What every entry has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryHead {
    /// Its handle.
    pub entry: EntryId,
    /// Whose log.
    pub tenant: TenantId,
    /// What it is about.
    pub kind: EntryKind,
    /// The session, and its place in it from 1.
    pub session: Option<(SessionId, i64)>,
    /// The action.
    pub action: Option<ActionId>,
    /// When it happened.
    pub occurred_at: Timestamp,
}

/// An entry before it is keyed: its bytes and what is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drafted {
    head: EntryHead,
    /// The canonical bytes.
    pub bytes: Vec<u8>,
    columns: Columns,
}

/// The columns that are derived from an entry's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// Member `session`.
    pub session: Option<String>,
    /// Member `session_seq`.
    pub session_seq: Option<i64>,
    /// Member `action`.
    pub action: Option<String>,
    /// Member `kind`.
    pub kind: String,
    /// Member `occurred_at_us`.
    pub occurred_at_us: i64,
    /// Member `tool.name`.
    pub tool: Option<String>,
    /// Member `decision`.
    pub decision: Option<String>,
    /// Member `reasons`, joined by one space.
    pub reasons: String,
}

/// Derives the columns from an entry's document.
#[must_use]
pub fn columns(document: &Value) -> Columns {
    let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
    let reasons = document.get("reasons").and_then(Value::as_array);
    Columns {
        session: text("session"),
        session_seq: document.get("session_seq").and_then(Value::as_i64),
        action: text("action"),
        kind: text("kind").unwrap_or_default(),
        occurred_at_us: document.get("occurred_at_us").and_then(Value::as_i64).unwrap_or(0),
        tool: document.pointer("/tool/name").and_then(Value::as_str).map(str::to_owned),
        decision: text("decision"),
        reasons: reasons
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// The RFC 6962 leaf hash of an entry's bytes, in hex.
#[must_use]
pub fn leaf_hash(bytes: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update([0_u8]);
    hasher.update(bytes);
    hex::encode(hasher.finalize())
}

/// Drafts an entry: its head and the members of its kind, as canonical bytes.
///
/// # Errors
/// When a member has no canonical form.
pub fn draft(head: EntryHead, members: Map<String, Value>) -> Result<Drafted, NotCanonical> {
    let mut document = members;
    let mut put = |name: &str, value: Value| {
        document.insert(name.to_owned(), value);
    };
    put("v", Value::from(ENTRY_VERSION));
    put("kind", Value::from(head.kind.as_str()));
    put("entry_id", Value::from(head.entry.as_str()));
    put("tenant", Value::from(head.tenant.as_str()));
    put("occurred_at_us", Value::from(head.occurred_at.micros()));
    if let Some((session, seq)) = &head.session {
        put("session", Value::from(session.as_str()));
        put("session_seq", Value::from(*seq));
    }
    if let Some(action) = &head.action {
        put("action", Value::from(action.as_str()));
    }
    let document = Value::Object(document);
    let bytes = canonical::to_bytes(&document)?;
    Ok(Drafted { head, columns: columns(&document), bytes })
}

impl Drafted {
    /// The row, with the keyed digest of the bytes.
    #[must_use]
    pub fn keyed(self, mac: String) -> EntryRow {
        EntryRow {
            entry: self.head.entry,
            session_seq: self.head.session.as_ref().map(|(_, seq)| *seq),
            session: self.head.session.map(|(session, _)| session),
            action: self.head.action,
            kind: self.columns.kind,
            occurred_at: self.head.occurred_at,
            tool: self.columns.tool,
            decision: self.columns.decision,
            reasons: self.columns.reasons,
            leaf_hash: leaf_hash(&self.bytes),
            bytes: self.bytes,
            mac,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_what_the_bytes_say() {
        let tail = "0".repeat(26);
        let head = EntryHead {
            entry: EntryId::parse(&format!("ent_{tail}")).unwrap(),
            tenant: TenantId::parse("acme").unwrap(),
            kind: EntryKind::Decision,
            session: Some((SessionId::parse(&format!("ses_{tail}")).unwrap(), 7)),
            action: None,
            occurred_at: Timestamp::from_micros(i64::from(i32::MAX) * 3_000_001),
        };
        let members =
            json!({"tool": {"name": "lend_book"}, "decision": "deny", "reasons": ["a", "b"]});
        let Value::Object(members) = members else { panic!("an object") };
        let row = draft(head, members).unwrap().keyed("hmac-sha256:00".to_owned());
        let read: Value = serde_json::from_slice(&row.bytes).unwrap();
        let derived = columns(&read);
        assert_eq!(derived.tool, row.tool);
        assert_eq!(derived.reasons, "a b");
        assert_eq!(derived.session_seq, Some(7));
        assert_eq!(derived.occurred_at_us, row.occurred_at.micros());
        assert_eq!(row.leaf_hash.len(), 64);
        assert_ne!(row.leaf_hash, hex::encode(Sha256::digest(&row.bytes)), "prefixed by 0x00");
    }
}
