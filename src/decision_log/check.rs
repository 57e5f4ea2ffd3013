//! Is an entry what was written, and is a session's record complete?

use serde_json::Value;

use crate::domain::{
    contract_terms::vocabulary,
    entry::{columns, leaf_hash},
    ids::{ActionId, EntryId, SessionId, TenantId},
    json::{self, JsonLimits},
    unit::EntryRow,
};

vocabulary! {
    /// What is wrong with a record.
    Fault {
        /// Bytes, leaf hash and keyed digest of an entry do not belong together.
        EntryEdited = "entry_edited",
        /// A column disagrees with the bytes it is derived from.
        ColumnDrift = "column_drift",
        /// A session has a gap where an entry was.
        EntryMissing = "entry_missing",
        /// A session or action stands where its entries did not lead it.
        StateDrift = "state_drift",
        /// A decision made again from its inputs comes out otherwise.
        DecisionDiffers = "decision_differs",
        /// The inputs or the bundle of a decision are gone or cannot be opened.
        InputsMissing = "inputs_missing",
        /// A row cannot be opened or read.
        RowUnreadable = "row_unreadable",
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// The tenant.
    pub tenant: TenantId,
    /// The entry.
    pub entry: Option<EntryId>,
    /// The session.
    pub session: Option<SessionId>,
    /// The action.
    pub action: Option<ActionId>,
    /// How it shows.
    pub detail: String,
}

/// Checks one entry: its hash, its keyed digest (told by `is_mac`), its columns. Gives the document
/// where the bytes are one.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_entry(
    tenant: &TenantId,
    row: &EntryRow,
    is_mac: impl Fn(&str, &[u8]) -> bool,
) -> Result<Value, Box<Finding>> {
    let finding = |fault, detail: String| {
        Box::new(Finding {
            fault,
            tenant: tenant.clone(),
            entry: Some(row.entry.clone()),
            session: row.session.clone(),
            action: row.action.clone(),
            detail,
        })
    };
    if leaf_hash(&row.bytes) != row.leaf_hash {
        return Err(finding(
            Fault::EntryEdited,
            "the bytes do not have the stored leaf hash".to_owned(),
        ));
    }
    if !is_mac(&row.mac, &row.bytes) {
        return Err(finding(
            Fault::EntryEdited,
            "the keyed digest is not that of the bytes".to_owned(),
        ));
    }
    let document = json::parse(&row.bytes, &JsonLimits::RESPONSE)
        .map_err(|fault| finding(Fault::EntryEdited, fault.to_string()))?;
    match drift(tenant, row, &document) {
        Some(column) => Err(finding(Fault::ColumnDrift, format!("column `{column}`"))),
        None => Ok(document),
    }
}

fn drift(tenant: &TenantId, row: &EntryRow, document: &Value) -> Option<&'static str> {
    let derived = columns(document);
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let checks = [
        ("tenant_id", text("tenant") == Some(tenant.as_str())),
        ("entry_id", text("entry_id") == Some(row.entry.as_str())),
        ("session_id", derived.session.as_deref() == row.session.as_ref().map(SessionId::as_str)),
        ("session_seq", derived.session_seq == row.session_seq),
        ("action_id", derived.action.as_deref() == row.action.as_ref().map(ActionId::as_str)),
        ("kind", derived.kind == row.kind),
        ("occurred_at_us", derived.occurred_at_us == row.occurred_at.micros()),
        ("tool", derived.tool == row.tool),
        ("decision", derived.decision == row.decision),
        ("reasons", derived.reasons == row.reasons),
    ];
    checks.iter().find(|(_, agrees)| !agrees).map(|(column, _)| *column)
}

/// The places of a session's record that are missing, from 1 to `count`; `seen` is sorted.
#[must_use]
pub fn gaps(seen: &[i64], count: i64) -> Vec<i64> {
    let mut missing = Vec::new();
    let mut wanted = 1;
    for &place in seen {
        while wanted < place {
            missing.push(wanted);
            wanted += 1;
        }
        wanted = place + 1;
    }
    missing.extend(wanted..=count);
    missing
}

/// The state an arrow such as `RESOLVING -> EXECUTING` leads to.
#[must_use]
pub fn led_to<'d>(document: &'d Value, member: &str) -> Option<&'d str> {
    let arrow = document.get("transition")?.get(member)?.as_str()?;
    arrow.split(" -> ").nth(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{
        clock::Timestamp,
        entry::{EntryHead, EntryKind, draft},
    };

    fn row() -> (TenantId, EntryRow) {
        let tail = "0".repeat(26);
        let tenant = TenantId::parse("acme").unwrap();
        let head = EntryHead {
            entry: EntryId::parse(&format!("ent_{tail}")).unwrap(),
            tenant: tenant.clone(),
            kind: EntryKind::Decision,
            session: Some((SessionId::parse(&format!("ses_{tail}")).unwrap(), 3)),
            action: None,
            occurred_at: Timestamp::from_micros(1_000_001),
        };
        let members = json!({"decision": "deny", "reasons": ["unknown_tool"]});
        let Value::Object(members) = members else { panic!("an object") };
        (tenant, draft(head, members).unwrap().keyed("mac".to_owned()))
    }

    fn check(row: &EntryRow) -> Result<Value, Fault> {
        let tenant = TenantId::parse("acme").unwrap();
        check_entry(&tenant, row, |mac, _| mac == "mac").map_err(|finding| finding.fault)
    }

    #[test]
    fn an_entry_as_written_passes() {
        assert!(check(&row().1).is_ok());
    }

    #[test]
    fn an_edit_shows_even_when_the_hash_was_edited_with_it() {
        let (_, mut edited) = row();
        edited.bytes =
            String::from_utf8(edited.bytes).unwrap().replace("deny", "deni").into_bytes();
        assert_eq!(check(&edited), Err(Fault::EntryEdited));
        edited.leaf_hash = leaf_hash(&edited.bytes);
        edited.mac = "guessed".to_owned();
        assert_eq!(check(&edited), Err(Fault::EntryEdited));
    }

    #[test]
    fn a_column_that_says_something_else_is_drift() {
        for change in [
            |row: &mut EntryRow| row.decision = Some("allow".to_owned()),
            |row: &mut EntryRow| row.reasons = String::new(),
            |row: &mut EntryRow| row.session_seq = Some(4),
            |row: &mut EntryRow| row.occurred_at = Timestamp::from_micros(1),
            |row: &mut EntryRow| row.session = None,
        ] {
            let (_, mut drifted) = row();
            change(&mut drifted);
            assert_eq!(check(&drifted), Err(Fault::ColumnDrift));
        }
    }

    #[test]
    fn gaps_are_named_at_the_start_in_the_middle_and_at_the_end() {
        assert!(gaps(&[1, 2, 3], 3).is_empty());
        assert_eq!(gaps(&[2, 5], 6), [1, 3, 4, 6]);
        assert_eq!(gaps(&[], 2), [1, 2]);
    }
}
