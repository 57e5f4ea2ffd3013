//! ListEscalations, GetEscalation: the complete action, as the digest covers it.

use crate::{
    app::{App, Caller, Refused, session_page},
    domain::{
        action_record::{Action, QuestionView},
        contract_terms::Need,
        ids::QuestionId,
        unit::{QuestionRow, QuestionState},
    },
    identity::rights::Rpc,
};

/// A question to an approver.
#[derive(Debug, Clone)]
pub struct Escalation {
    /// The question.
    pub question: QuestionRow,
    /// What is shown.
    pub view: QuestionView,
    /// Its action.
    pub action: Action,
}

/// The question handle in `escalations/que_…`.
pub(super) fn escalation_id(name: &str) -> Result<QuestionId, Refused> {
    name.strip_prefix("escalations/")
        .and_then(|handle| QuestionId::parse(handle).ok())
        .ok_or_else(Refused::not_found)
}

impl App {
    /// Pending escalations of the tenant.
    ///
    /// # Errors
    /// When the caller may not see them.
    pub async fn escalations(
        &self,
        caller: &Caller,
        page_size: i64,
        page_token: &str,
    ) -> Result<(Vec<Escalation>, String), Refused> {
        self.authorize(caller, Rpc::ListEscalations, None).await?;
        let after = match page_token {
            "" => None,
            token => Some(
                QuestionId::parse(token)
                    .map_err(|_| Refused::field("page_token", "not a token of this listing"))?,
            ),
        };
        let limit = session_page(page_size);
        let rows = self
            .store()
            .questions(
                caller.tenant(),
                QuestionState::Pending,
                Need::Approval,
                after.as_ref(),
                limit,
            )
            .await?;
        let next = if i64::try_from(rows.len()).unwrap_or(0) == limit {
            rows.last().map(|row| row.question.to_string()).unwrap_or_default()
        } else {
            String::new()
        };
        let mut found = Vec::new();
        for row in rows {
            found.push(self.escalation_of(caller, row).await?);
        }
        Ok((found, next))
    }

    /// One escalation.
    ///
    /// # Errors
    /// Not found when the tenant has none of this name.
    pub async fn escalation(&self, caller: &Caller, name: &str) -> Result<Escalation, Refused> {
        self.authorize(caller, Rpc::GetEscalation, None).await?;
        let id = escalation_id(name)?;
        let row = self.store().question(caller.tenant(), &id).await?;
        let row = row.filter(|row| row.need == Need::Approval).ok_or_else(Refused::not_found)?;
        self.escalation_of(caller, row).await
    }

    async fn escalation_of(
        &self,
        caller: &Caller,
        row: QuestionRow,
    ) -> Result<Escalation, Refused> {
        let tenant = caller.tenant();
        let view = self.view_from(tenant, &row)?;
        let action = self.store().action(tenant, &row.action).await?;
        let action = self.action_from(tenant, &action.ok_or_else(Refused::not_found)?)?;
        Ok(Escalation { question: row, view, action })
    }
}
