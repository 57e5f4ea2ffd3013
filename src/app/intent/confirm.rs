//! ConfirmAction: the principal answers "did you mean this?".

use super::{get::action_name, resume::Given};
use crate::{
    app::{App, Caller, Refused, answer::ActionAnswer},
    domain::{
        canonical::Digest,
        contract_terms::Need,
        reason::ReasonCode,
        unit::{QuestionRow, QuestionState},
    },
    identity::{PrincipalCall, rights::Rpc},
};

/// What the principal answers.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// `sessions/ses_…/actions/act_…`.
    pub action: String,
    /// The question's digest, as it was shown.
    pub digest: String,
    /// Yes or no.
    pub confirm: bool,
}

impl App {
    /// Takes the principal's answer. A "yes" re-enters the road at the facts.
    ///
    /// # Errors
    /// When the caller is not the principal himself, the digest is not that of the pending
    /// question and of the token, or the sign-in is older than the question.
    pub async fn confirm(
        &self,
        caller: &Caller,
        confirmation: Confirmation,
    ) -> Result<ActionAnswer, Refused> {
        let (session, action) = action_name(&confirmation.action)?;
        self.authorize(caller, Rpc::ConfirmAction, Some(&session)).await?;
        let Caller::Principal(principal) = caller else {
            return Err(Refused::denied(ReasonCode::NotThePrincipal));
        };
        let session = self.session_for(caller, &session).await?;
        let row = self.store().action(&session.tenant, &action).await?;
        let row = row.filter(|row| row.session == session.id).ok_or_else(Refused::not_found)?;
        let action = self.action_from(&session.tenant, &row)?;
        let question = self.pending_question(&session, &action, Need::Confirmation).await?;
        check(principal, &question, &confirmation.digest, self.now())?;
        let view = self.view_from(&session.tenant, &question)?;
        let person = format!("{}\n{}", principal.signer.issuer, principal.sub);
        let given = Given { question, view, person, note: String::new() };
        if confirmation.confirm {
            self.resume_and_wait(session, action, given).await
        } else {
            self.refuse(&session, &action, &given).await
        }
    }

    /// The question that an action waits for.
    pub(in crate::app) async fn pending_question(
        &self,
        session: &crate::domain::session_record::Session,
        action: &crate::domain::action_record::Action,
        need: Need,
    ) -> Result<QuestionRow, Refused> {
        let question = self.store().question_of(&session.tenant, &action.id).await?;
        let question = question.ok_or_else(|| Refused::state(ReasonCode::WrongState))?;
        if question.need != need {
            return Err(Refused::state(ReasonCode::WrongState));
        }
        match question.state {
            QuestionState::Pending if self.now() < question.expires_at => Ok(question),
            QuestionState::Pending | QuestionState::Expired => {
                Err(Refused::state(ReasonCode::QuestionExpired))
            }
            QuestionState::Granted
            | QuestionState::Refused
            | QuestionState::Stale
            | QuestionState::Withdrawn => Err(Refused::state(ReasonCode::QuestionAnswered)),
        }
    }
}

/// Message, token and question carry one digest, and the sign-in came after the question.
fn check(
    principal: &PrincipalCall,
    question: &QuestionRow,
    digest: &str,
    _now: crate::domain::clock::Timestamp,
) -> Result<(), Refused> {
    let shown = Digest::parse(digest).ok_or_else(|| Refused::field("digest", "not a digest"))?;
    if shown != question.digest {
        return Err(Refused::state(ReasonCode::ViewOutdated));
    }
    if principal.digest.as_deref() != Some(digest) {
        return Err(Refused::denied(ReasonCode::ViewOutdated));
    }
    // Tokens count whole seconds; a sign-in in the very second of the question is not before it.
    if principal.auth_time.seconds() < question.asked_at.seconds() {
        return Err(Refused::denied(ReasonCode::AnswerTooEarly));
    }
    Ok(())
}
