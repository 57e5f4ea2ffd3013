//! Rows as the databases hold them, and the way from there to the rows of the domain.

use std::fmt::Display;

use sqlx::FromRow;

use crate::{
    domain::{
        action::ActionState,
        canonical::Digest,
        clock::Timestamp,
        contract_terms::Need,
        ids::{ActionId, DatumId, EntryId, QuarantineId, QuestionId, SessionId, TenantId},
        session::SessionState,
        unit::{
            ActionRow, BundleRow, DatumRow, EffectRow, EffectStatus, EntryRow, QuarantineRow,
            QuestionRow, QuestionState, SessionRow,
        },
    },
    store::StoreError,
};

/// A row of which one column cannot be what the domain needs.
struct Reading<'k> {
    table: &'static str,
    key: &'k str,
}

impl Reading<'_> {
    fn id<T, E: Display>(&self, column: &str, read: Result<T, E>) -> Result<T, StoreError> {
        read.map_err(|error| self.corrupt(column, &error.to_string()))
    }

    fn word<T>(&self, column: &str, read: Option<T>) -> Result<T, StoreError> {
        read.ok_or_else(|| self.corrupt(column, "not one of the known words"))
    }

    fn optional<T, E: Display>(
        &self,
        column: &str,
        text: Option<&str>,
        parse: fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.id(column, parse(text))).transpose()
    }

    fn digest(&self, column: &str, text: &str) -> Result<Digest, StoreError> {
        self.word(column, Digest::parse(text))
    }

    fn corrupt(&self, column: &str, what: &str) -> StoreError {
        StoreError::Corrupt {
            table: self.table,
            key: self.key.to_owned(),
            what: format!("column `{column}`: {what}"),
        }
    }
}

pub(super) fn tenant(text: &str, table: &'static str) -> Result<TenantId, StoreError> {
    Reading { table, key: text }.id("tenant_id", TenantId::parse(text))
}

#[derive(FromRow)]
pub(super) struct SessionSql {
    session_id: String,
    version: i64,
    state: String,
    workflow: String,
    workload: String,
    principal: String,
    entry_count: i64,
    data_count: i64,
    opened_at: i64,
    expires_at: i64,
    updated_at: i64,
    body: Vec<u8>,
}

impl SessionSql {
    pub(super) fn read(self) -> Result<SessionRow, StoreError> {
        let row = Reading { table: "sessions", key: &self.session_id };
        Ok(SessionRow {
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            state: row.word("state", SessionState::parse(&self.state))?,
            version: self.version,
            workflow: self.workflow,
            workload: self.workload,
            principal: self.principal,
            entry_count: self.entry_count,
            data_count: self.data_count,
            opened_at: Timestamp::from_micros(self.opened_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            body: self.body,
        })
    }
}

#[derive(FromRow)]
pub(super) struct DatumSql {
    datum_id: String,
    session_id: String,
    is_statement: bool,
    created_at: i64,
    size: i64,
    body: Vec<u8>,
    content: Vec<u8>,
}

impl DatumSql {
    pub(super) fn read(self) -> Result<DatumRow, StoreError> {
        let row = Reading { table: "data", key: &self.datum_id };
        Ok(DatumRow {
            datum: row.id("datum_id", DatumId::parse(&self.datum_id))?,
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            is_statement: self.is_statement,
            created_at: Timestamp::from_micros(self.created_at),
            size: self.size,
            body: self.body,
            content: self.content,
        })
    }
}

#[derive(FromRow)]
pub(super) struct ActionSql {
    pub(super) tenant_id: String,
    action_id: String,
    session_id: String,
    version: i64,
    state: String,
    tool: String,
    effect_key: Option<String>,
    effect_same: Option<String>,
    fingerprint: Option<String>,
    subject: Option<String>,
    principal: String,
    amount_minor: Option<i64>,
    send_before: Option<i64>,
    proposed_at: i64,
    updated_at: i64,
    body: Vec<u8>,
}

impl ActionSql {
    pub(super) fn read(self) -> Result<ActionRow, StoreError> {
        let row = Reading { table: "actions", key: &self.action_id };
        let fingerprint = self.fingerprint.as_deref().map(|text| row.digest("fingerprint", text));
        Ok(ActionRow {
            action: row.id("action_id", ActionId::parse(&self.action_id))?,
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            state: row.word("state", ActionState::parse(&self.state))?,
            fingerprint: fingerprint.transpose()?,
            version: self.version,
            tool: self.tool,
            effect_key: self.effect_key,
            effect_same: self.effect_same,
            subject: self.subject,
            principal: self.principal,
            amount_minor: self.amount_minor,
            send_before: self.send_before.map(Timestamp::from_micros),
            proposed_at: Timestamp::from_micros(self.proposed_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            body: self.body,
        })
    }
}

#[derive(FromRow)]
pub(super) struct EffectSql {
    effect: String,
    key: String,
    generation: i64,
    same: String,
    ordinal: i64,
    fingerprint: String,
    action_id: String,
    session_id: String,
    principal: String,
    status: String,
    claimed_at: i64,
}

impl EffectSql {
    pub(super) fn read(self) -> Result<EffectRow, StoreError> {
        let row = Reading { table: "effects", key: &self.key };
        Ok(EffectRow {
            fingerprint: row.digest("fingerprint", &self.fingerprint)?,
            action: row.id("action_id", ActionId::parse(&self.action_id))?,
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            status: row.word("status", EffectStatus::parse(&self.status))?,
            generation: self.generation,
            ordinal: self.ordinal,
            claimed_at: Timestamp::from_micros(self.claimed_at),
            effect: self.effect,
            same: self.same,
            principal: self.principal,
            key: self.key,
        })
    }
}

#[derive(FromRow)]
pub(super) struct QuestionSql {
    pub(super) tenant_id: String,
    question_id: String,
    action_id: String,
    session_id: String,
    need: String,
    state: String,
    digest: String,
    asked_at: i64,
    expires_at: i64,
    body: Vec<u8>,
}

impl QuestionSql {
    pub(super) fn read(self) -> Result<QuestionRow, StoreError> {
        let row = Reading { table: "questions", key: &self.question_id };
        Ok(QuestionRow {
            question: row.id("question_id", QuestionId::parse(&self.question_id))?,
            action: row.id("action_id", ActionId::parse(&self.action_id))?,
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            need: row.word("need", Need::parse(&self.need))?,
            state: row.word("state", QuestionState::parse(&self.state))?,
            digest: row.digest("digest", &self.digest)?,
            asked_at: Timestamp::from_micros(self.asked_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            body: self.body,
        })
    }
}

#[derive(FromRow)]
pub(super) struct QuarantineSql {
    quarantine_id: String,
    action_id: String,
    session_id: String,
    tool: String,
    reason: String,
    received_at: i64,
    body: Vec<u8>,
}

impl QuarantineSql {
    pub(super) fn read(self) -> Result<QuarantineRow, StoreError> {
        let row = Reading { table: "quarantine", key: &self.quarantine_id };
        Ok(QuarantineRow {
            quarantine: row.id("quarantine_id", QuarantineId::parse(&self.quarantine_id))?,
            action: row.id("action_id", ActionId::parse(&self.action_id))?,
            session: row.id("session_id", SessionId::parse(&self.session_id))?,
            tool: self.tool,
            reason: self.reason,
            received_at: Timestamp::from_micros(self.received_at),
            body: self.body,
        })
    }
}

#[derive(FromRow)]
pub(super) struct BundleSql {
    digest: String,
    name: String,
    version: String,
    sources: Vec<u8>,
    kept_at: i64,
}

impl BundleSql {
    pub(super) fn read(self) -> Result<BundleRow, StoreError> {
        let row = Reading { table: "bundles", key: &self.digest };
        Ok(BundleRow {
            digest: row.digest("digest", &self.digest)?,
            name: self.name,
            version: self.version,
            sources: self.sources,
            kept_at: Timestamp::from_micros(self.kept_at),
        })
    }
}

#[derive(FromRow)]
pub(super) struct EntrySql {
    entry_id: String,
    session_id: Option<String>,
    session_seq: Option<i64>,
    action_id: Option<String>,
    kind: String,
    occurred_at: i64,
    tool: Option<String>,
    decision: Option<String>,
    reasons: String,
    bytes: Vec<u8>,
    leaf_hash: String,
    mac: String,
}

impl EntrySql {
    pub(super) fn read(self) -> Result<EntryRow, StoreError> {
        let row = Reading { table: "entries", key: &self.entry_id };
        Ok(EntryRow {
            entry: row.id("entry_id", EntryId::parse(&self.entry_id))?,
            session: row.optional("session_id", self.session_id.as_deref(), SessionId::parse)?,
            action: row.optional("action_id", self.action_id.as_deref(), ActionId::parse)?,
            session_seq: self.session_seq,
            kind: self.kind,
            occurred_at: Timestamp::from_micros(self.occurred_at),
            tool: self.tool,
            decision: self.decision,
            reasons: self.reasons,
            bytes: self.bytes,
            leaf_hash: self.leaf_hash,
            mac: self.mac,
        })
    }
}
