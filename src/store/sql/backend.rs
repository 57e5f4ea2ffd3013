//! The store itself: reads by pool, commits by backend.

use std::{fmt, time::Instant};

use async_trait::async_trait;
use sqlx::PgPool;

use super::{Fault, Readers};
use crate::{
    domain::{
        action::ActionState,
        canonical::Digest,
        clock::Timestamp,
        contract_terms::Need,
        ids::{
            ActionId, DatumId, EntryId, InputsRef, QuarantineId, QuestionId, SessionId, TenantId,
        },
        unit::{
            ActionRow, BundleRow, DatumRow, EntryRow, QuarantineRow, QuestionRow, QuestionState,
            SessionRow, Unit,
        },
    },
    store::{
        Committed, EffectView, EntryQuery, Receipt, Refusal, RoadView, Store, StoreError, SumQuery,
        postgres,
        sqlite::{self, Sqlite},
    },
    telemetry::metrics,
};

/// A store on one of the two databases.
pub(crate) struct SqlStore {
    readers: Readers,
    writer: Writer,
}

enum Writer {
    Sqlite(Sqlite),
    Postgres(PgPool),
    /// Opened to read only.
    None,
}

impl SqlStore {
    pub(crate) fn sqlite(store: Sqlite) -> Self {
        Self { readers: Readers::Sqlite(store.readers.clone()), writer: Writer::Sqlite(store) }
    }

    pub(crate) fn postgres(pool: PgPool) -> Self {
        Self { readers: Readers::Postgres(pool.clone()), writer: Writer::Postgres(pool) }
    }

    pub(crate) fn to_read(readers: Readers) -> Self {
        Self { readers, writer: Writer::None }
    }

    /// One transaction a unit. The dispatch permit is made here and nowhere else, after the commit was answered.
    async fn commit_unit(&self, unit: Unit) -> Result<Receipt, Refusal> {
        let began = Instant::now();
        let answer = self.apply_unit(&unit).await;
        metrics::unit_took(unit.name, began.elapsed());
        metrics::unit_committed(unit.name, answer.as_ref().map_or_else(outcome, |()| "committed"));
        answer?;
        Ok(Receipt { dispatch: unit.dispatch.map(Committed::mint) })
    }

    async fn apply_unit(&self, unit: &Unit) -> Result<(), Refusal> {
        let committed = match &self.writer {
            Writer::Sqlite(store) => Box::pin(sqlite::commit(store, unit)).await,
            Writer::Postgres(pool) => Box::pin(postgres::commit(pool, unit)).await,
            Writer::None => {
                return Err(StoreError::Unavailable("opened to read only".to_owned()).into());
            }
        };
        committed.map_err(Fault::into_refusal)
    }
}

/// A refusal as a metric's label.
fn outcome(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::SessionMoved(_) => "session_moved",
        Refusal::ActionMoved(_) => "action_moved",
        Refusal::KeyTaken { .. } => "key_taken",
        Refusal::QuestionGone { .. } => "question_gone",
        Refusal::RequestTaken => "request_taken",
        Refusal::Store(StoreError::Unavailable(_)) => "unavailable",
        Refusal::Store(StoreError::Corrupt { .. }) => "corrupt",
        Refusal::Store(StoreError::NewerSchema { .. }) => "newer_schema",
    }
}

impl fmt::Debug for SqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match self.readers {
            Readers::Postgres(_) => "postgres",
            Readers::Sqlite(_) => "sqlite",
        };
        f.debug_struct("SqlStore").field("backend", &backend).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn commit(&self, units: Vec<Unit>) -> Vec<Result<Receipt, Refusal>> {
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            answers.push(self.commit_unit(unit).await);
        }
        answers
    }

    async fn road(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        data: &[DatumId],
        request_id: Option<&str>,
    ) -> Result<Option<RoadView>, StoreError> {
        self.readers.road(tenant, session, data, request_id).await
    }

    async fn effect(
        &self,
        tenant: &TenantId,
        effect: &str,
        key: &str,
        same: &str,
    ) -> Result<EffectView, StoreError> {
        self.readers.effect(tenant, effect, key, same).await
    }

    async fn sum(&self, tenant: &TenantId, query: &SumQuery) -> Result<i64, StoreError> {
        self.readers.sum(tenant, query).await
    }

    async fn session(
        &self,
        tenant: &TenantId,
        session: &SessionId,
    ) -> Result<Option<SessionRow>, StoreError> {
        self.readers.session(tenant, session).await
    }

    async fn sessions(
        &self,
        tenant: &TenantId,
        workload: Option<&str>,
        after: Option<&SessionId>,
        limit: i64,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.readers.sessions(tenant, workload, after, limit).await
    }

    async fn datum(
        &self,
        tenant: &TenantId,
        datum: &DatumId,
    ) -> Result<Option<DatumRow>, StoreError> {
        self.readers.datum(tenant, datum).await
    }

    async fn data(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&DatumId>,
        limit: i64,
    ) -> Result<Vec<DatumRow>, StoreError> {
        self.readers.data(tenant, session, after, limit).await
    }

    async fn action(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Result<Option<ActionRow>, StoreError> {
        self.readers.action(tenant, action).await
    }

    async fn actions(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&ActionId>,
        limit: i64,
    ) -> Result<Vec<ActionRow>, StoreError> {
        self.readers.actions(tenant, session, after, limit).await
    }

    async fn actions_in(
        &self,
        states: &[ActionState],
        limit: i64,
    ) -> Result<Vec<(TenantId, ActionRow)>, StoreError> {
        self.readers.actions_in(states, limit).await
    }

    async fn question(
        &self,
        tenant: &TenantId,
        question: &QuestionId,
    ) -> Result<Option<QuestionRow>, StoreError> {
        self.readers.question(tenant, question).await
    }

    async fn question_of(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Result<Option<QuestionRow>, StoreError> {
        self.readers.question_of(tenant, action).await
    }

    async fn questions(
        &self,
        tenant: &TenantId,
        state: QuestionState,
        need: Need,
        after: Option<&QuestionId>,
        limit: i64,
    ) -> Result<Vec<QuestionRow>, StoreError> {
        self.readers.questions(tenant, state, need, after, limit).await
    }

    async fn overdue_questions(
        &self,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<(TenantId, QuestionRow)>, StoreError> {
        self.readers.overdue_questions(now, limit).await
    }

    async fn quarantined(
        &self,
        tenant: &TenantId,
        quarantine: &QuarantineId,
    ) -> Result<Option<QuarantineRow>, StoreError> {
        self.readers.quarantined(tenant, quarantine).await
    }

    async fn inputs(
        &self,
        tenant: &TenantId,
        inputs: &InputsRef,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.readers.inputs(tenant, inputs).await
    }

    async fn bundle(&self, digest: &Digest) -> Result<Option<BundleRow>, StoreError> {
        self.readers.bundle(digest).await
    }

    async fn entry(
        &self,
        tenant: &TenantId,
        entry: &EntryId,
    ) -> Result<Option<EntryRow>, StoreError> {
        self.readers.entry(tenant, entry).await
    }

    async fn entries(
        &self,
        tenant: &TenantId,
        query: &EntryQuery,
    ) -> Result<Vec<EntryRow>, StoreError> {
        self.readers.entries(tenant, query).await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        self.readers.tenants().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ping().await
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Writer::Sqlite(store) = &self.writer {
            sqlite::close(store).await;
        }
    }
}
