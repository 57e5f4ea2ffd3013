//! After a start, and every so often: actions that nobody carries on, questions that nobody answered.

use std::{sync::Arc, time::Duration};

use super::{dispatch::Sending, submit::Teller};
use crate::{
    app::{App, Refused, journal::Said},
    domain::{
        action::{ActionEvent, ActionState},
        action_record::Action,
        effect::provider_key,
        entry::EntryKind,
        ids::TenantId,
        reason::ReasonCode,
        session_record::Session,
        unit::{ActionRow, QuestionRow},
    },
    hook::{post::Accepted, pre},
};

/// Actions and questions looked at in one sweep.
const SWEEP_MAX: i64 = 500;
/// How much longer than its last attempt can take an owner may need before another takes over. No
/// byte leaves after `send_before`, so a slow owner loses nothing but the right to write first.
const GRACE: Duration = Duration::from_secs(8);

impl App {
    /// Takes up every action that was left on the way: nothing is repeated before it was looked for.
    ///
    /// `at_start`: no other daemon is known to carry the actions of this one on, so a dispatched
    /// action is taken up as soon as its window has passed.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn recover(&self, at_start: bool) -> Result<usize, Refused> {
        let states = [
            ActionState::Dispatched,
            ActionState::OutcomeUnknown,
            ActionState::Succeeded,
            ActionState::Pending,
        ];
        let left = self.store().actions_in(&states, SWEEP_MAX).await?;
        let count = left.len();
        for (tenant, row) in left {
            let app = self.clone();
            self.inner.roads.spawn(async move {
                let id = row.action.clone();
                if let Err(refused) = Box::pin(app.take_up(&tenant, row, at_start)).await {
                    tracing::error!(action = %id, code = %refused.code, cause = ?refused.cause, "an action could not be taken up");
                }
            });
        }
        Ok(count)
    }

    async fn take_up(
        &self,
        tenant: &TenantId,
        row: ActionRow,
        at_start: bool,
    ) -> Result<(), Refused> {
        let action = self.action_from(tenant, &row)?;
        let session = self.load_session(tenant, &row.session).await?;
        let Some(sending) = self.sending_again(&session, &action).await? else { return Ok(()) };
        let grace = if at_start { Duration::from_millis(200) } else { GRACE };
        let owner_until = row
            .send_before
            .map_or(row.updated_at, |until| until.plus(sending.contract.executor.timeout));
        tokio::time::sleep(owner_until.plus(grace).since(self.now())).await;
        let (teller, _) = Teller::new();
        match action.state {
            ActionState::Dispatched => Box::pin(self.lost_by_owner(&sending, &teller)).await,
            ActionState::OutcomeUnknown => {
                Box::pin(self.reconcile(&sending, &teller)).await.map(|_| ())
            }
            ActionState::Succeeded | ActionState::Pending => self.verify_again(&sending).await,
            ActionState::Proposed
            | ActionState::Denied
            | ActionState::AwaitingConfirmation
            | ActionState::AwaitingApproval
            | ActionState::Ready
            | ActionState::Failed
            | ActionState::Verified
            | ActionState::Mismatched
            | ActionState::Duplicated
            | ActionState::Unverifiable
            | ActionState::Abandoned
            | ActionState::Expired
            | ActionState::Cancelled
            | ActionState::Stale => Ok(()),
        }
    }

    /// What is needed to look for an effect or read it back, from the stored record alone.
    async fn sending_again(
        &self,
        session: &Session,
        action: &Action,
    ) -> Result<Option<Sending>, Refused> {
        let bundle = self.bundle(&session.bundle_digest).await?;
        let Some(contract) = bundle.contracts.get(&action.intent.tool).map(Arc::clone) else {
            return Ok(None);
        };
        let (Some(effect), Some(dispatch)) = (&action.effect, &action.dispatch) else {
            return Ok(None);
        };
        let mut road = self.road_of(session, action).await?;
        road.inputs.facts = action.facts.clone();
        let key = provider_key(&session.tenant, &contract.name, &effect.key, dispatch.generation)
            .map_err(Refused::internal)?;
        let mut bindings = pre::bindings(&road.inputs, &action.arguments());
        bindings.bind("effect", pre::effect_value(effect, Some(&key)));
        Ok(Some(Sending {
            bundle,
            contract,
            session: session.clone(),
            action: action.clone(),
            bindings,
            exposes: false,
        }))
    }

    /// Its owner is gone: it may have been sent. Only looking may say more.
    async fn lost_by_owner(&self, sending: &Sending, teller: &Teller) -> Result<(), Refused> {
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        let settled = self.settle("recover.lose", tenant, &sending.action.session, id, |journal, action| {
            if action.state != ActionState::Dispatched {
                return Ok(false);
            }
            let moved = action.take(ActionEvent::OutcomeLost).map_err(Refused::internal)?;
            let moves = journal.note_looking(action, sending.has_lookup())?;
            let said = Said::about(
                &action.id,
                serde_json::json!({
                    "outcome": action.state.as_str(),
                    "reasons": [ReasonCode::OutcomeUnknown.as_str()],
                    "settled_by": "recovery",
                    "tool": {"name": sending.contract.name, "version": sending.contract.version},
                }),
            );
            journal.write(EntryKind::Outcome, said.action_moved(moved).session_moved(moves))?;
            Ok(true)
        });
        let (session, action) = settled.await?;
        if action.state == ActionState::OutcomeUnknown {
            let sending = Sending { session, action, ..sending.clone() };
            self.reconcile(&sending, teller).await?;
        }
        Ok(())
    }

    /// It acted, and nobody read the effect back.
    async fn verify_again(&self, sending: &Sending) -> Result<(), Refused> {
        let result = sending.action.outcome.as_ref().and_then(|outcome| outcome.result.clone());
        let Some(result) = result else { return Ok(()) };
        let row = self.store().datum(&sending.session.tenant, &result).await?;
        let datum =
            self.datum_from(&sending.session.tenant, &row.ok_or_else(Refused::not_found)?)?;
        let crate::domain::datum::Content::Json(value) = datum.content else { return Ok(()) };
        let accepted = Accepted {
            result: value.clone(),
            projected: value,
            labels: datum.labels,
            finished: sending.action.state == ActionState::Succeeded,
            display: datum.display,
        };
        let verdict = self.verify(sending, &accepted).await;
        self.settle_verdict(sending, &verdict).await.map(|_| ())
    }

    async fn expire(&self, tenant: &TenantId, question: &QuestionRow) -> Result<(), Refused> {
        let session = self.load_session(tenant, &question.session).await?;
        let row = self.store().action(tenant, &question.action).await?;
        let action = self.action_from(tenant, &row.ok_or_else(Refused::not_found)?)?;
        let (event, code) = (ActionEvent::Expired, ReasonCode::QuestionExpired);
        self.end_waiting(&session, &action, None, event, code).await.map(|_| ())
    }

    /// Ends questions that nobody answered in time. Silence is never consent.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn expire_questions(&self) -> Result<usize, Refused> {
        let overdue = self.store().overdue_questions(self.now(), SWEEP_MAX).await?;
        let count = overdue.len();
        for (tenant, question) in overdue {
            // One that cannot be ended must not keep the others open.
            if let Err(refused) = self.expire(&tenant, &question).await {
                tracing::warn!(action = %question.action, code = %refused.code, cause = ?refused.cause, "a question could not be ended");
            }
        }
        Ok(count)
    }
}
