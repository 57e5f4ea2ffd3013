//! The same intent again: its stored outcome, to whom it belongs.

use serde_json::json;

use super::{decide::Road, submit::lost_race};
use crate::{
    app::{
        App, Caller, Refused,
        answer::ActionAnswer,
        journal::{Journal, Said},
    },
    domain::{
        contract_terms::Verdict, datum::Datum, entry::EntryKind, ids::ActionId,
        session_record::Session,
    },
    identity::rights::{self, Right},
};

impl App {
    /// Answers with a settled action, and records that it did. None when a race for the session was lost.
    pub(super) async fn replay(
        &self,
        caller: &Caller,
        road: &Road,
        action: &ActionId,
        exposes: bool,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let session = &road.session;
        let mut answer = self.answer_for(caller, session, action, exposes).await?;
        answer.replayed = true;
        let mut journal = Journal::of(self, "intent.replay", session);
        let said = Said::about(
            action,
            json!({
                "decision": Verdict::Allow.as_str(),
                "replayed": true,
                "purpose": session.purpose,
                "tool": {"name": answer.action.intent.tool},
                "reasons": [],
                "identity": self.identity_said(session),
            }),
        );
        journal.write(EntryKind::Decision, said)?;
        match journal.commit().await? {
            Ok((session, _)) => {
                answer.session_state = session.state;
                Ok(Some(answer))
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// An action as it stands, for this caller.
    pub(super) async fn answer_for(
        &self,
        caller: &Caller,
        session: &Session,
        action: &ActionId,
        exposes: bool,
    ) -> Result<ActionAnswer, Refused> {
        let tenant = &session.tenant;
        let row = self.store().action(tenant, action).await?.ok_or_else(Refused::not_found)?;
        let action = self.action_from(tenant, &row)?;
        let mut answer = self.plain_answer(session, action);
        answer.in_full = sees_in_full(caller);
        if answer.action.state.is_waiting() {
            answer.question = self.store().question_of(tenant, &answer.action.id).await?;
        }
        if exposes {
            answer.result = self.result_of(session, &answer).await?;
        }
        Ok(answer)
    }

    /// The stored result of an action: handed out again only within the session that it was
    /// exposed to, so that another session's model does not see it unrecorded.
    async fn result_of(
        &self,
        session: &Session,
        answer: &ActionAnswer,
    ) -> Result<Option<Datum>, Refused> {
        let Some(id) = answer.action.outcome.as_ref().and_then(|outcome| outcome.result.clone())
        else {
            return Ok(None);
        };
        if !session.exposure.sources.contains(id.as_str()) {
            return Ok(None);
        }
        let row = self.store().datum(&session.tenant, &id).await?.ok_or_else(Refused::not_found)?;
        self.datum_from(&session.tenant, &row).map(Some)
    }
}

/// Auditors, operators and approvers see codes in full; agents and principals their public form.
pub(in crate::app) fn sees_in_full(caller: &Caller) -> bool {
    [Right::Audit, Right::Operate, Right::Approve].iter().any(|right| rights::holds(caller, *right))
}
