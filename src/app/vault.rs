//! Rows and records: what is remembered, sealed on the way in, opened on the way out.

use serde::{Serialize, de::DeserializeOwned};

use super::{App, Refused};
use crate::{
    domain::{
        action_record::{Action, QuestionView},
        datum::Datum,
        ids::{InputsRef, QuestionId, SessionId, TenantId},
        session_record::Session,
        unit::{ActionRow, DatumRow, QuestionRow, SessionRow},
    },
    hook::pre::Inputs,
    seal::Place,
};

/// Purposes of keyed digests; one spelling each.
pub(super) mod purpose {
    pub(in crate::app) const WORKLOAD: &str = "workload";
    pub(in crate::app) const PRINCIPAL: &str = "principal";
    pub(in crate::app) const SUBJECT: &str = "subject";
    pub(in crate::app) const EFFECT_KEY: &str = "effect_key";
    pub(in crate::app) const EFFECT_SAME: &str = "effect_same";
    pub(in crate::app) const ARGUMENTS: &str = "arguments";
    pub(in crate::app) const FACT: &str = "fact";
    pub(in crate::app) const PERSON: &str = "person";
    pub(in crate::app) const ENTRY: &str = "entry";
}

impl App {
    /// Seals a record for a row.
    pub(super) fn seal<T: Serialize>(
        &self,
        tenant: &TenantId,
        table: &str,
        row: &str,
        record: &T,
    ) -> Result<Vec<u8>, Refused> {
        let plain = serde_json::to_vec(record).map_err(Refused::internal)?;
        self.seal_bytes(tenant, table, row, &plain)
    }

    pub(super) fn seal_bytes(
        &self,
        tenant: &TenantId,
        table: &str,
        row: &str,
        plain: &[u8],
    ) -> Result<Vec<u8>, Refused> {
        let parts = self.parts();
        Ok(parts.sealer.seal(Place { tenant, table, row }, plain, parts.entropy.as_ref())?)
    }

    pub(super) fn open<T: DeserializeOwned>(
        &self,
        tenant: &TenantId,
        table: &str,
        row: &str,
        sealed: &[u8],
    ) -> Result<T, Refused> {
        let plain = self.parts().sealer.open(Place { tenant, table, row }, sealed)?;
        serde_json::from_slice(&plain)
            .map_err(|error| Refused::corrupt(table, row, &error.to_string()))
    }

    /// A keyed digest: equal inputs agree, nobody without the key can guess them.
    pub(super) fn keyed(&self, tenant: &TenantId, purpose: &str, bytes: &[u8]) -> String {
        self.parts().sealer.commitment(tenant, purpose, bytes)
    }

    pub(super) fn principal_key(&self, session: &Session) -> String {
        let named = format!("{}\n{}", session.principal.issuer, session.principal.sub);
        self.keyed(&session.tenant, purpose::PRINCIPAL, named.as_bytes())
    }

    pub(super) fn subject_key(&self, session: &Session) -> Option<String> {
        let subject = session.subject.as_ref()?;
        let named = format!("{}\n{}", subject.ty, subject.id);
        Some(self.keyed(&session.tenant, purpose::SUBJECT, named.as_bytes()))
    }

    pub(super) fn workload_key(&self, tenant: &TenantId, workload: &str) -> String {
        self.keyed(tenant, purpose::WORKLOAD, workload.as_bytes())
    }

    pub(super) fn session_row(&self, session: &Session) -> Result<SessionRow, Refused> {
        Ok(SessionRow {
            session: session.id.clone(),
            version: session.version,
            state: session.state,
            workflow: session.workflow.clone(),
            workload: self.workload_key(&session.tenant, &session.agent.workload),
            principal: self.principal_key(session),
            entry_count: session.entry_count,
            data_count: session.data_count,
            opened_at: session.opened_at,
            expires_at: session.expires_at,
            updated_at: self.now(),
            body: self.seal(&session.tenant, "sessions", session.id.as_str(), session)?,
        })
    }

    pub(super) fn session_from(
        &self,
        tenant: &TenantId,
        row: &SessionRow,
    ) -> Result<Session, Refused> {
        let session: Session = self.open(tenant, "sessions", row.session.as_str(), &row.body)?;
        if session.version == row.version && session.state == row.state {
            Ok(session)
        } else {
            Err(Refused::corrupt("sessions", row.session.as_str(), "columns and body disagree"))
        }
    }

    pub(super) fn action_row(
        &self,
        session: &Session,
        action: &Action,
    ) -> Result<ActionRow, Refused> {
        let (effect_key, effect_same) = match &action.effect {
            Some(effect) => {
                let (key, same) = self.effect_keys(&session.tenant, &effect.key, &effect.same)?;
                (Some(key), Some(same))
            }
            None => (None, None),
        };
        let amount = action.effect.as_ref().and_then(|effect| effect.amount.as_ref());
        Ok(ActionRow {
            action: action.id.clone(),
            session: action.session.clone(),
            version: action.version,
            state: action.state,
            tool: action.intent.tool.chars().take(128).collect(),
            effect_key,
            effect_same,
            fingerprint: action.effect.as_ref().map(|effect| effect.fingerprint.clone()),
            subject: self.subject_key(session),
            principal: self.principal_key(session),
            amount_minor: amount.map(|amount| amount.minor),
            send_before: action.dispatch.as_ref().map(|dispatch| dispatch.send_before),
            proposed_at: action.proposed_at,
            updated_at: self.now(),
            body: self.seal(&session.tenant, "actions", action.id.as_str(), action)?,
        })
    }

    /// Keyed digests of an effect's key and of its `same`.
    pub(super) fn effect_keys(
        &self,
        tenant: &TenantId,
        key: &serde_json::Value,
        same: &serde_json::Value,
    ) -> Result<(String, String), Refused> {
        let bytes = |value| crate::domain::canonical::to_bytes(value).map_err(Refused::internal);
        Ok((
            self.keyed(tenant, purpose::EFFECT_KEY, &bytes(key)?),
            self.keyed(tenant, purpose::EFFECT_SAME, &bytes(same)?),
        ))
    }

    pub(super) fn action_from(
        &self,
        tenant: &TenantId,
        row: &ActionRow,
    ) -> Result<Action, Refused> {
        let action: Action = self.open(tenant, "actions", row.action.as_str(), &row.body)?;
        if action.version == row.version && action.state == row.state {
            Ok(action)
        } else {
            Err(Refused::corrupt("actions", row.action.as_str(), "columns and body disagree"))
        }
    }

    pub(super) fn datum_row(&self, tenant: &TenantId, datum: &Datum) -> Result<DatumRow, Refused> {
        let id = datum.id.as_str();
        let mut described = datum.clone();
        let content = std::mem::replace(
            &mut described.content,
            crate::domain::datum::Content::Text(String::new()),
        );
        Ok(DatumRow {
            datum: datum.id.clone(),
            session: datum.session.clone(),
            is_statement: matches!(datum.origin, crate::domain::datum::Origin::Statement { .. }),
            created_at: datum.created_at,
            size: i64::try_from(content.size()).unwrap_or(i64::MAX),
            body: self.seal(tenant, "data", id, &described)?,
            content: self.seal(tenant, "data_content", id, &content)?,
        })
    }

    pub(super) fn datum_from(&self, tenant: &TenantId, row: &DatumRow) -> Result<Datum, Refused> {
        let id = row.datum.as_str();
        let mut datum: Datum = self.open(tenant, "data", id, &row.body)?;
        datum.content = self.open(tenant, "data_content", id, &row.content)?;
        if datum.id == row.datum && datum.session == row.session {
            Ok(datum)
        } else {
            Err(Refused::corrupt("data", id, "columns and body disagree"))
        }
    }

    pub(super) fn seal_view(
        &self,
        tenant: &TenantId,
        question: &QuestionId,
        view: &QuestionView,
    ) -> Result<Vec<u8>, Refused> {
        self.seal(tenant, "questions", question.as_str(), view)
    }

    pub(super) fn view_from(
        &self,
        tenant: &TenantId,
        row: &QuestionRow,
    ) -> Result<QuestionView, Refused> {
        self.open(tenant, "questions", row.question.as_str(), &row.body)
    }

    pub(super) fn seal_inputs(
        &self,
        tenant: &TenantId,
        name: &InputsRef,
        inputs: &Inputs,
    ) -> Result<Vec<u8>, Refused> {
        self.seal(tenant, "decision_inputs", name.as_str(), inputs)
    }

    /// One session of this tenant.
    pub(super) async fn load_session(
        &self,
        tenant: &TenantId,
        session: &SessionId,
    ) -> Result<Session, Refused> {
        let row = self.store().session(tenant, session).await?.ok_or_else(Refused::not_found)?;
        self.session_from(tenant, &row)
    }
}
