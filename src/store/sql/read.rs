//! Every read. Nothing of another tenant is ever returned, because every statement names the tenant; what spans tenants
//! says so by returning it.

use sqlx::FromRow;

use super::{
    Readers, fetch,
    rows::{
        ActionSql, BundleSql, DatumSql, EffectSql, EntrySql, QuarantineSql, QuestionSql,
        SessionSql, tenant as read_tenant,
    },
    statements as sql,
};
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
            ActionRow, BundleRow, DatumRow, EffectStatus, EntryRow, QuarantineRow, QuestionRow,
            QuestionState, SessionRow,
        },
    },
    store::{EffectView, EntryQuery, RoadView, StoreError, SumQuery},
};

type Answer<T> = Result<T, StoreError>;

#[derive(FromRow)]
struct RequestSql {
    digest: String,
    action_id: String,
}

/// The one member of a list that can have at most one.
fn only<T, U>(rows: Vec<T>, read: fn(T) -> Answer<U>) -> Answer<Option<U>> {
    rows.into_iter().next().map(read).transpose()
}

fn all<T, U>(rows: Vec<T>, read: fn(T) -> Answer<U>) -> Answer<Vec<U>> {
    rows.into_iter().map(read).collect()
}

/// A list that a statement opens again.
fn listed<'a>(members: impl Iterator<Item = &'a str>) -> String {
    serde_json::Value::from_iter(members).to_string()
}

impl Readers {
    /// The session is read first: whatever is read after it and was written later moves its version, and the commit
    /// that rests on this view is refused.
    pub(crate) async fn road(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        data: &[DatumId],
        request_id: Option<&str>,
    ) -> Answer<Option<RoadView>> {
        let Some(row) = self.session(tenant, session).await? else { return Ok(None) };
        let wanted = listed(data.iter().map(DatumId::as_str));
        let found = fetch!(
            self,
            DatumSql,
            "data",
            sql::ROAD_DATA,
            [tenant.as_str(), session.as_str(), &wanted]
        )?;
        let found = all(found, DatumSql::read)?;
        let statements = found.iter().filter(|row| row.is_statement).cloned().collect();
        let data = found.into_iter().filter(|row| data.contains(&row.datum)).collect();
        let request = match request_id {
            Some(request_id) => self.request(tenant, session, request_id).await?,
            None => None,
        };
        Ok(Some(RoadView { session: row, data, statements, request }))
    }

    async fn request(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        request_id: &str,
    ) -> Answer<Option<(Digest, ActionId)>> {
        let binds = (tenant.as_str(), session.as_str(), request_id);
        let rows = fetch!(self, RequestSql, "requests", sql::REQUEST, [binds.0, binds.1, binds.2])?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let corrupt = |what: &str| StoreError::Corrupt {
            table: "requests",
            key: request_id.to_owned(),
            what: what.to_owned(),
        };
        let digest = Digest::parse(&row.digest).ok_or_else(|| corrupt("column `digest`"))?;
        let action = ActionId::parse(&row.action_id).map_err(|_| corrupt("column `action_id`"))?;
        Ok(Some((digest, action)))
    }

    pub(crate) async fn effect(
        &self,
        tenant: &TenantId,
        effect: &str,
        key: &str,
        same: &str,
    ) -> Answer<EffectView> {
        let found =
            fetch!(self, EffectSql, "effects", sql::EFFECTS, [tenant.as_str(), effect, key, same])?;
        let mut view = EffectView::default();
        for row in all(found, EffectSql::read)? {
            let is_live = row.status != EffectStatus::Released;
            if row.key == key && !is_live {
                view.generation += 1;
            }
            if row.key == key && is_live {
                view.by_key = Some(row.clone());
            }
            if row.same == same && is_live {
                view.by_same.push(row);
            }
        }
        let waiting = fetch!(self, ActionSql, "actions", sql::WAITING, [tenant.as_str(), key])?;
        view.waiting =
            only(waiting, ActionSql::read)?.map(|action| (action.action, action.fingerprint));
        Ok(view)
    }

    pub(crate) async fn sum(&self, tenant: &TenantId, query: &SumQuery) -> Answer<i64> {
        let tools = listed(query.tools.iter().map(String::as_str));
        let counted = ActionState::ALL.iter().filter(|state| state.counts_against_budgets());
        let states = listed(counted.map(|state| state.as_str()));
        let rows = fetch!(
            self,
            (i64,),
            "actions",
            sql::SUM,
            [
                tenant.as_str(),
                &tools,
                query.since.micros(),
                &states,
                query.subject.as_deref(),
                query.principal.as_deref(),
                query.session.as_ref().map(SessionId::as_str),
                query.except.as_ref().map(ActionId::as_str),
            ]
        )?;
        Ok(rows.first().map_or(0, |(total,)| *total))
    }

    pub(crate) async fn session(
        &self,
        tenant: &TenantId,
        session: &SessionId,
    ) -> Answer<Option<SessionRow>> {
        let rows = fetch!(
            self,
            SessionSql,
            "sessions",
            sql::SESSION,
            [tenant.as_str(), session.as_str()]
        )?;
        only(rows, SessionSql::read)
    }

    pub(crate) async fn sessions(
        &self,
        tenant: &TenantId,
        workload: Option<&str>,
        after: Option<&SessionId>,
        limit: i64,
    ) -> Answer<Vec<SessionRow>> {
        let after = after.map_or("", SessionId::as_str);
        let rows = fetch!(
            self,
            SessionSql,
            "sessions",
            sql::SESSIONS,
            [tenant.as_str(), workload, after, limit]
        )?;
        all(rows, SessionSql::read)
    }

    pub(crate) async fn datum(
        &self,
        tenant: &TenantId,
        datum: &DatumId,
    ) -> Answer<Option<DatumRow>> {
        let rows = fetch!(self, DatumSql, "data", sql::DATUM, [tenant.as_str(), datum.as_str()])?;
        only(rows, DatumSql::read)
    }

    pub(crate) async fn data(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&DatumId>,
        limit: i64,
    ) -> Answer<Vec<DatumRow>> {
        let after = after.map_or("", DatumId::as_str);
        let rows = fetch!(
            self,
            DatumSql,
            "data",
            sql::DATA,
            [tenant.as_str(), session.as_str(), after, limit]
        )?;
        all(rows, DatumSql::read)
    }

    pub(crate) async fn action(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Answer<Option<ActionRow>> {
        let rows =
            fetch!(self, ActionSql, "actions", sql::ACTION, [tenant.as_str(), action.as_str()])?;
        only(rows, ActionSql::read)
    }

    pub(crate) async fn actions(
        &self,
        tenant: &TenantId,
        session: &SessionId,
        after: Option<&ActionId>,
        limit: i64,
    ) -> Answer<Vec<ActionRow>> {
        let after = after.map_or("", ActionId::as_str);
        let rows = fetch!(
            self,
            ActionSql,
            "actions",
            sql::ACTIONS,
            [tenant.as_str(), session.as_str(), after, limit]
        )?;
        all(rows, ActionSql::read)
    }

    pub(crate) async fn actions_in(
        &self,
        states: &[ActionState],
        limit: i64,
    ) -> Answer<Vec<(TenantId, ActionRow)>> {
        let states = listed(states.iter().map(|state| state.as_str()));
        let rows = fetch!(self, ActionSql, "actions", sql::ACTIONS_IN, [&states, limit])?;
        all(rows, |row| Ok((read_tenant(&row.tenant_id, "actions")?, row.read()?)))
    }

    pub(crate) async fn question(
        &self,
        tenant: &TenantId,
        question: &QuestionId,
    ) -> Answer<Option<QuestionRow>> {
        let rows = fetch!(
            self,
            QuestionSql,
            "questions",
            sql::QUESTION,
            [tenant.as_str(), question.as_str()]
        )?;
        only(rows, QuestionSql::read)
    }

    pub(crate) async fn question_of(
        &self,
        tenant: &TenantId,
        action: &ActionId,
    ) -> Answer<Option<QuestionRow>> {
        let rows = fetch!(
            self,
            QuestionSql,
            "questions",
            sql::QUESTION_OF,
            [tenant.as_str(), action.as_str()]
        )?;
        only(rows, QuestionSql::read)
    }

    pub(crate) async fn questions(
        &self,
        tenant: &TenantId,
        state: QuestionState,
        need: Need,
        after: Option<&QuestionId>,
        limit: i64,
    ) -> Answer<Vec<QuestionRow>> {
        let after = after.map_or("", QuestionId::as_str);
        let rows = fetch!(
            self,
            QuestionSql,
            "questions",
            sql::QUESTIONS,
            [tenant.as_str(), state.as_str(), need.as_str(), after, limit]
        )?;
        all(rows, QuestionSql::read)
    }

    pub(crate) async fn overdue_questions(
        &self,
        now: Timestamp,
        limit: i64,
    ) -> Answer<Vec<(TenantId, QuestionRow)>> {
        let rows =
            fetch!(self, QuestionSql, "questions", sql::OVERDUE_QUESTIONS, [now.micros(), limit])?;
        all(rows, |row| Ok((read_tenant(&row.tenant_id, "questions")?, row.read()?)))
    }

    pub(crate) async fn quarantined(
        &self,
        tenant: &TenantId,
        quarantine: &QuarantineId,
    ) -> Answer<Option<QuarantineRow>> {
        let rows = fetch!(
            self,
            QuarantineSql,
            "quarantine",
            sql::QUARANTINED,
            [tenant.as_str(), quarantine.as_str()]
        )?;
        only(rows, QuarantineSql::read)
    }

    pub(crate) async fn inputs(
        &self,
        tenant: &TenantId,
        inputs: &InputsRef,
    ) -> Answer<Option<Vec<u8>>> {
        let rows =
            fetch!(self, (Vec<u8>,), "inputs", sql::INPUTS, [tenant.as_str(), inputs.as_str()])?;
        Ok(rows.into_iter().next().map(|(sealed,)| sealed))
    }

    pub(crate) async fn bundle(&self, digest: &Digest) -> Answer<Option<BundleRow>> {
        let rows = fetch!(self, BundleSql, "bundles", sql::BUNDLE, [digest.as_str()])?;
        only(rows, BundleSql::read)
    }

    pub(crate) async fn entry(
        &self,
        tenant: &TenantId,
        entry: &EntryId,
    ) -> Answer<Option<EntryRow>> {
        let rows =
            fetch!(self, EntrySql, "entries", sql::ENTRY, [tenant.as_str(), entry.as_str()])?;
        only(rows, EntrySql::read)
    }

    /// Starts from the narrowest index: the action's, the session's, or time.
    pub(crate) async fn entries(
        &self,
        tenant: &TenantId,
        query: &EntryQuery,
    ) -> Answer<Vec<EntryRow>> {
        let action = query.action.as_ref().map(ActionId::as_str);
        let session = query.session.as_ref().map(SessionId::as_str);
        let (statement, lead) = match (session, action) {
            (Some(session), _) => (sql::ENTRIES_OF_SESSION, Some(session)),
            (None, Some(action)) => (sql::ENTRIES_OF_ACTION, Some(action)),
            (None, None) => (sql::ENTRIES_OF_TENANT, None),
        };
        let after = query.after.as_ref();
        let rows = fetch!(
            self,
            EntrySql,
            "entries",
            statement,
            [
                tenant.as_str(),
                lead,
                query.kind.as_deref(),
                query.tool.as_deref(),
                query.decision.as_deref(),
                query.reason.as_deref(),
                query.since.map_or(i64::MIN, Timestamp::micros),
                query.until.map_or(i64::MAX, Timestamp::micros),
                after.map_or(i64::MIN, |(at, _)| at.micros()),
                after.map_or("", |(_, entry)| entry.as_str()),
                query.limit,
                action,
            ]
        )?;
        all(rows, EntrySql::read)
    }

    pub(crate) async fn tenants(&self) -> Answer<Vec<TenantId>> {
        let rows = fetch!(self, (String,), "sessions", sql::TENANTS, [])?;
        all(rows, |(text,)| read_tenant(&text, "sessions"))
    }

    pub(crate) async fn ping(&self) -> Answer<()> {
        match self {
            Self::Postgres(pool) => sqlx::query(sql::PING.postgres).execute(pool).await.map(drop),
            Self::Sqlite(pool) => sqlx::query(sql::PING.sqlite).execute(pool).await.map(drop),
        }
        .map_err(|error| super::Fault::sql("none", error).into_store_error())
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Postgres(pool) => pool.close().await,
            Self::Sqlite(pool) => pool.close().await,
        }
    }
}
