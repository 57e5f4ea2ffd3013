//! Owns: remembering: units of work in, views out; conflicts; schema versions.
//! Must not know: hook, policy, gateway, gRPC.
//! Start reading at: `mod.rs`, then `sqlite/` or `postgres/`.

mod open;
mod postgres;
mod sql;
mod sqlite;

use std::fmt;

pub use open::{Address, DEFAULT_CONNECTIONS, open, open_to_read};

use crate::domain::{
    action::ActionState,
    canonical::Digest,
    clock::Timestamp,
    contract_terms::Need,
    ids::{ActionId, DatumId, EntryId, InputsRef, QuarantineId, QuestionId, SessionId, TenantId},
    unit::{
        ActionRow, BundleRow, DatumRow, Dispatch, EffectRow, EntryRow, QuarantineRow, QuestionRow,
        QuestionState, SessionRow, Unit,
    },
};

/// Proof that a unit is durable. Only a store can make one, so that what must be recorded before
/// it happens takes this as an argument.
#[derive(Debug)]
pub struct Committed<T> {
    value: T,
    _minted_by_a_store: (),
}

impl<T> Committed<T> {
    // Private to this module and its backends.
    fn mint(value: T) -> Self {
        Self { value, _minted_by_a_store: () }
    }

    /// What was committed.
    #[must_use]
    pub const fn value(&self) -> &T {
        &self.value
    }
}

/// What a durable unit gives back.
#[derive(Debug)]
pub struct Receipt {
    /// The permit to send, where the unit dispatched a write.
    pub dispatch: Option<Committed<Dispatch>>,
}

/// Why a unit was not applied; nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session has another version by now.
    #[error("session `{0}` was changed by somebody else")]
    SessionMoved(SessionId),
    /// The action has another version by now.
    #[error("action `{0}` was changed by somebody else")]
    ActionMoved(ActionId),
    /// The effect key, or the same effect, is taken.
    #[error("the effect is claimed by action `{holder}`")]
    KeyTaken {
        /// Who holds it.
        holder: ActionId,
    },
    /// The question is no longer pending.
    #[error("question `{question}` is {state}")]
    QuestionGone {
        /// Which.
        question: QuestionId,
        /// What it is by now.
        state: QuestionState,
    },
    /// The request id was remembered with another request in between.
    #[error("request id was used in between")]
    RequestTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A failure of the store itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No answer, no connection, no space: trying later can help.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A row cannot be read as what it must be.
    #[error("table `{table}`, row `{key}`: {what}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The row's key.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// The database has a schema that this program does not know.
    #[error(
        "schema version {found} is newer than {known}, the newest this program knows: use a newer program"
    )]
    NewerSchema {
        /// In the database.
        found: i64,
        /// In the program.
        known: i64,
    },
}

/// What one intent starts from, read in one go.
#[derive(Debug, Clone)]
pub struct RoadView {
    /// The session.
    pub session: SessionRow,
    /// Of the data asked for, those that belong to the session.
    pub data: Vec<DatumRow>,
    /// All statements of the session.
    pub statements: Vec<DatumRow>,
    /// What the request id led to, if it was seen: digest of the request, action.
    pub request: Option<(Digest, ActionId)>,
}

/// What is known of an effect.
#[derive(Debug, Clone, Default)]
pub struct EffectView {
    /// The live claim of this key.
    pub by_key: Option<EffectRow>,
    /// How often this key was released.
    pub generation: i64,
    /// Live claims of the same business effect, under any key.
    pub by_same: Vec<EffectRow>,
    /// An action that waits for an answer with this key: its id and fingerprint.
    pub waiting: Option<(ActionId, Option<Digest>)>,
}

/// Which actions a sum counts.
#[derive(Debug, Clone)]
pub struct SumQuery {
    /// The contracts.
    pub tools: Vec<String>,
    /// Keyed digest of a subject: only its actions.
    pub subject: Option<String>,
    /// Keyed digest of a principal: only his actions.
    pub principal: Option<String>,
    /// Only actions of this session.
    pub session: Option<SessionId>,
    /// Only actions proposed at or after this.
    pub since: Timestamp,
    /// Not this action.
    pub except: Option<ActionId>,
}

/// Which entries a query wants; all filters must hold.
#[derive(Debug, Clone, Default)]
pub struct EntryQuery {
    /// Of this session.
    pub session: Option<SessionId>,
    /// About this action.
    pub action: Option<ActionId>,
    /// Of this kind.
    pub kind: Option<String>,
    /// About this tool.
    pub tool: Option<String>,
    /// With this verdict.
    pub decision: Option<String>,
    /// With this reason code among its reasons.
    pub reason: Option<String>,
    /// At or after.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// After this entry, in (occurred_at, entry) order: keyset paging.
    pub after: Option<(Timestamp, EntryId)>,
    /// At most this many.
    pub limit: i64,
}

/// Remembering, behind which SQLite and PostgreSQL stand.
///
/// Every method names the tenant; nothing of another tenant is ever returned. Listings are ordered
/// by id (which is by time), ascending, after the given id.
#[async_trait::async_trait]
pub trait Store: Send + Sync + fmt::Debug {
    /// Applies units, each all or nothing; answers in the same order.
    async fn commit(&self, units: Vec<Unit>) -> Vec<Result<Receipt, Refusal>>;

    /// What one intent starts from; `None` when the tenant has no such session.
    async fn road(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        data: &[DatumId],
        request_id: Option<&str>,
    ) -> Result<Option<RoadView>, StoreError>;

    /// What is known of an effect.
    async fn effect(
        &self,
        tenant: &TenantId,
        effect: &str,
        key: &str,
        same: &str,
    ) -> Result<EffectView, StoreError>;

    /// The sum of amounts over actions that count against budgets
    /// ([`ActionState::counts_against_budgets`]); an action without an amount counts 0.
    async fn sum(&self, tenant: &TenantId, query: &SumQuery) -> Result<i64, StoreError>;

    /// One session.
    async fn session(
        &self,
        tenant: &TenantId,
        session: &SessionId,
    ) -> Result<Option<SessionRow>, StoreError>;

    /// Sessions of a workload (keyed digest), or of all.
    async fn sessions(
        &self,
        tenant: &TenantId,
        workload: Option<&str>,
        after: Option<&SessionId>,
        limit: i64,
    ) -> Result<Vec<SessionRow>, StoreError>;

    /// One datum, whatever its session; the caller checks whose it is.
    async fn datum(
        &self,
        tenant: &TenantId,
        datum: &DatumId,
    ) -> Result<Option<DatumRow>, StoreError>;

    /// Data of a session.
    async fn data(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&DatumId>,
        limit: i64,
    ) -> Result<Vec<DatumRow>, StoreError>;

    /// One action.
    async fn action(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Result<Option<ActionRow>, StoreError>;

    /// Actions of a session.
    async fn actions(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&ActionId>,
        limit: i64,
    ) -> Result<Vec<ActionRow>, StoreError>;

    /// Actions of all tenants in one of these states, oldest first, for recovery and timers.
    async fn actions_in(
        &self,
        states: &[ActionState],
        limit: i64,
    ) -> Result<Vec<(TenantId, ActionRow)>, StoreError>;

    /// One question.
    async fn question(
        &self,
        tenant: &TenantId,
        question: &QuestionId,
    ) -> Result<Option<QuestionRow>, StoreError>;

    /// The pending question of an action, or the latest one.
    async fn question_of(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Result<Option<QuestionRow>, StoreError>;

    /// Questions by state and need.
    async fn questions(
        &self,
        tenant: &TenantId,
        state: QuestionState,
        need: Need,
        after: Option<&QuestionId>,
        limit: i64,
    ) -> Result<Vec<QuestionRow>, StoreError>;

    /// Pending questions of all tenants that ended before `now`, for the timer.
    async fn overdue_questions(
        &self,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<(TenantId, QuestionRow)>, StoreError>;

    /// One quarantined response.
    async fn quarantined(
        &self,
        tenant: &TenantId,
        quarantine: &QuarantineId,
    ) -> Result<Option<QuarantineRow>, StoreError>;

    /// The sealed inputs of a decision.
    async fn inputs(
        &self,
        tenant: &TenantId,
        inputs: &InputsRef,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// A kept bundle.
    async fn bundle(&self, digest: &Digest) -> Result<Option<BundleRow>, StoreError>;

    /// One entry.
    async fn entry(
        &self,
        tenant: &TenantId,
        entry: &EntryId,
    ) -> Result<Option<EntryRow>, StoreError>;

    /// Entries in (occurred_at, entry) order.
    async fn entries(
        &self,
        tenant: &TenantId,
        query: &EntryQuery,
    ) -> Result<Vec<EntryRow>, StoreError>;

    /// All tenants that have a session or an entry, for offline checks.
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Ends all connections, so that the database lies as a whole in its file; nothing works afterwards.
    async fn close(&self);
}

/// Applies one unit.
///
/// # Errors
/// As [`Store::commit`]; a store that answers for no unit is corrupt.
pub async fn commit_one(store: &dyn Store, unit: Unit) -> Result<Receipt, Refusal> {
    store.commit(vec![unit]).await.pop().unwrap_or_else(|| {
        Err(Refusal::Store(StoreError::Unavailable("no answer for the unit".to_owned())))
    })
}

/// Every statement of the store as (name, PostgreSQL, SQLite), for whoever wants to check them against a database.
pub fn every_statement() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    sql::statements::ALL.iter().map(|sql| (sql.name, sql.postgres, sql.sqlite))
}
