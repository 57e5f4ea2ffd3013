//! Units of work: what is to be remembered, as data.
//!
//! A unit is one arrow of a life cycle and one transaction: guards that must hold, rows to write,
//! entries that record it. Two stores share the form, a test can print it, a replay can compare it.
//! Content is sealed before it comes here; the store never sees a key.

use super::{
    action::ActionState,
    canonical::Digest,
    clock::Timestamp,
    contract_terms::{Need, vocabulary},
    ids::{ActionId, DatumId, EntryId, InputsRef, QuarantineId, QuestionId, SessionId, TenantId},
    session::SessionState,
};

/// One transaction.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The arrow; metric label, span and `updated_by` column.
    pub name: &'static str,
    /// Whose rows these are; a unit never crosses tenants.
    pub tenant: TenantId,
    /// When it was built.
    pub at: Timestamp,
    /// What must hold, each with its own refusal.
    pub guards: Vec<Guard>,
    /// What is written.
    pub changes: Vec<Change>,
    /// What the log says of it.
    pub entries: Vec<EntryRow>,
    /// The write that may be sent once this is durable.
    pub dispatch: Option<Dispatch>,
}

/// A condition of a unit.
#[derive(Debug, Clone)]
pub enum Guard {
    /// The session stands at this version; the unit's `PutSession` makes it one more.
    ExpectSession {
        /// Which.
        session: SessionId,
        /// The version that was read.
        version: i64,
    },
    /// The action stands at this version; the unit's `PutAction` makes it one more.
    ExpectAction {
        /// Which.
        action: ActionId,
        /// The version that was read.
        version: i64,
    },
    /// Nobody holds the effect key (or, with `ordinal` 0, the same effect) yet.
    ClaimKey(EffectRow),
    /// The question is still pending; it becomes `becomes`. A grant is spent by this guard.
    SpendQuestion {
        /// Which.
        question: QuestionId,
        /// What it becomes.
        becomes: QuestionState,
        /// Who answered, as a keyed digest; none where nobody did.
        by: Option<String>,
    },
}

/// Something to write.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new session.
    OpenSession(SessionRow),
    /// A session's next version.
    PutSession(SessionRow),
    /// A new datum.
    InsertDatum(DatumRow),
    /// A new action.
    InsertAction(ActionRow),
    /// An action's next version.
    PutAction(ActionRow),
    /// A new question.
    InsertQuestion(QuestionRow),
    /// What became of a claimed effect.
    SettleEffect {
        /// The contract's name.
        effect: String,
        /// The action that claimed it.
        action: ActionId,
        /// Its new status; `Released` frees the key for the next generation.
        status: EffectStatus,
    },
    /// The inputs of a decision.
    InsertInputs {
        /// Their name.
        inputs: InputsRef,
        /// Whose.
        session: SessionId,
        /// Sealed canonical JSON.
        sealed: Vec<u8>,
    },
    /// A response that failed a gate.
    InsertQuarantine(QuarantineRow),
    /// A caller's request id and what it led to.
    RememberRequest {
        /// The session.
        session: SessionId,
        /// The caller's id.
        request_id: String,
        /// Digest of the request's bytes.
        digest: Digest,
        /// The action it led to.
        action: ActionId,
    },
    /// A bundle that a session runs under; writing it twice is no error.
    KeepBundle(BundleRow),
}

/// A row of `sessions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Primary key, with the tenant.
    pub session: SessionId,
    /// 1 when opened; the store writes exactly this value.
    pub version: i64,
    /// Its state.
    pub state: SessionState,
    /// Its workflow.
    pub workflow: String,
    /// Keyed digest of the workload that opened it.
    pub workload: String,
    /// Keyed digest of the principal.
    pub principal: String,
    /// Entries written so far; entry `n` of a session has `session_seq` n, from 1.
    pub entry_count: i64,
    /// Data stored so far.
    pub data_count: i64,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Sealed JSON of the whole session.
    pub body: Vec<u8>,
}

/// A row of `data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatumRow {
    /// Primary key, with the tenant.
    pub datum: DatumId,
    /// Whose.
    pub session: SessionId,
    /// Whether it is a statement of the principal.
    pub is_statement: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// Bytes of the plain content.
    pub size: i64,
    /// Sealed JSON of kind, media type, labels, origin.
    pub body: Vec<u8>,
    /// Sealed content.
    pub content: Vec<u8>,
}

/// A row of `actions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Primary key, with the tenant.
    pub action: ActionId,
    /// Whose.
    pub session: SessionId,
    /// 1 when proposed; the store writes exactly this value.
    pub version: i64,
    /// Its state.
    pub state: ActionState,
    /// The contract's name.
    pub tool: String,
    /// Keyed digest of the effect key; none for reads and for what was refused before that step.
    pub effect_key: Option<String>,
    /// Keyed digest of the business effect.
    pub effect_same: Option<String>,
    /// Digest of the request, to tell a repetition from another request.
    pub fingerprint: Option<Digest>,
    /// Keyed digest of the subject, for sums.
    pub subject: Option<String>,
    /// Keyed digest of the principal, for sums.
    pub principal: String,
    /// The effect's amount in minor units, for sums.
    pub amount_minor: Option<i64>,
    /// Until when the first byte may leave, once dispatched.
    pub send_before: Option<Timestamp>,
    /// When it was proposed.
    pub proposed_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Sealed JSON of the whole action.
    pub body: Vec<u8>,
}

vocabulary! {
    /// What became of a claimed effect.
    EffectStatus {
        /// Dispatched, outcome not known.
        InFlight = "in_flight",
        /// Executed.
        Settled = "settled",
        /// Proven not executed; the key is free again, one generation later.
        Released = "released",
    }
}

/// A row of `effects`: unique per tenant and effect by `key` while not released, and by
/// (`same`, `ordinal`) while not released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRow {
    /// The contract's name.
    pub effect: String,
    /// Keyed digest of the effect key.
    pub key: String,
    /// 0 at first, one more after each release.
    pub generation: i64,
    /// Keyed digest of the business effect.
    pub same: String,
    /// 0, or the count of earlier equal effects where an approver allowed one more.
    pub ordinal: i64,
    /// Digest of the request.
    pub fingerprint: Digest,
    /// The action that claimed it.
    pub action: ActionId,
    /// Its session.
    pub session: SessionId,
    /// Keyed digest of the principal.
    pub principal: String,
    /// What became of it.
    pub status: EffectStatus,
    /// When it was claimed.
    pub claimed_at: Timestamp,
}

vocabulary! {
    /// Where a question stands.
    QuestionState {
        /// Nobody answered yet.
        Pending = "pending",
        /// Yes; spent in the commit that wrote this.
        Granted = "granted",
        /// No.
        Refused = "refused",
        /// Nobody answered in time.
        Expired = "expired",
        /// What was shown changed.
        Stale = "stale",
        /// No longer needed.
        Withdrawn = "withdrawn",
    }
}

/// A row of `questions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Primary key, with the tenant.
    pub question: QuestionId,
    /// The action it belongs to.
    pub action: ActionId,
    /// Its session.
    pub session: SessionId,
    /// Confirmation or approval.
    pub need: Need,
    /// Where it stands.
    pub state: QuestionState,
    /// What an answer must echo.
    pub digest: Digest,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Sealed JSON of what is shown.
    pub body: Vec<u8>,
}

/// A row of `quarantine`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantineRow {
    /// Primary key, with the tenant.
    pub quarantine: QuarantineId,
    /// The action whose answer it is.
    pub action: ActionId,
    /// Its session.
    pub session: SessionId,
    /// The contract's name.
    pub tool: String,
    /// The exact reason code.
    pub reason: String,
    /// When it came.
    pub received_at: Timestamp,
    /// Sealed response: status, headers, bytes.
    pub body: Vec<u8>,
}

/// A row of `bundles`, a reference table without tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRow {
    /// Primary key.
    pub digest: Digest,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Canonical JSON of path → text of every source file.
    pub sources: Vec<u8>,
    /// When it was first kept.
    pub kept_at: Timestamp,
}

/// A row of `entries`: the canonical bytes and what is derived from them for querying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// Primary key, with the tenant.
    pub entry: EntryId,
    /// The session; none for entries about the daemon.
    pub session: Option<SessionId>,
    /// Its place in the session, from 1 without gaps; none without a session.
    pub session_seq: Option<i64>,
    /// The action, where it is about one.
    pub action: Option<ActionId>,
    /// The kind, such as `decision`.
    pub kind: String,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The tool, where it is about one.
    pub tool: Option<String>,
    /// The verdict, where it is a decision.
    pub decision: Option<String>,
    /// Reason codes, sorted, joined by one space; empty when there are none.
    pub reasons: String,
    /// The canonical bytes, verbatim.
    pub bytes: Vec<u8>,
    /// SHA-256 over 0x00 and the bytes (RFC 6962 leaf), in hex.
    pub leaf_hash: String,
    /// Keyed digest of the bytes, so that who can write rows cannot write entries.
    pub mac: String,
}

/// A write that may leave once its unit is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// The action.
    pub action: ActionId,
    /// The key that the tool is given; equal on all attempts.
    pub provider_key: String,
    /// Until when the first byte may leave.
    pub send_before: Timestamp,
}
