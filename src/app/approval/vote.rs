//! Vote: a distinct, entitled person answers "may this happen?".

use super::look::escalation_id;
use crate::{
    app::{App, Caller, Refused, answer::ActionAnswer, intent::Given},
    approval::eligible,
    domain::{canonical::Digest, contract_terms::Need, reason::ReasonCode},
    identity::rights::Rpc,
};

/// An approver's answer.
#[derive(Debug, Clone)]
pub struct Ballot {
    /// `escalations/que_…`.
    pub escalation: String,
    /// The digest as it was shown.
    pub digest: String,
    /// Yes or no.
    pub approve: bool,
    /// Why not; at least 10 characters for a no.
    pub reason: String,
}

/// The least a refusal says, in characters.
const REASON_MIN_CHARS: usize = 10;

impl App {
    /// Takes a vote. A "yes" re-enters the road at the facts.
    ///
    /// # Errors
    /// When the person is not entitled or involved, the digest is not the question's, or the
    /// question is decided.
    pub async fn vote(&self, caller: &Caller, ballot: Ballot) -> Result<ActionAnswer, Refused> {
        self.authorize(caller, Rpc::Vote, None).await?;
        let Caller::Person(person) = caller else {
            return Err(Refused::denied(ReasonCode::RightMissing));
        };
        let id = escalation_id(&ballot.escalation)?;
        let tenant = caller.tenant();
        let row = self.store().question(tenant, &id).await?;
        let row = row.filter(|row| row.need == Need::Approval).ok_or_else(Refused::not_found)?;
        let session = self.load_session(tenant, &row.session).await?;
        let action = self.store().action(tenant, &row.action).await?;
        let action = self.action_from(tenant, &action.ok_or_else(Refused::not_found)?)?;
        let question = self.pending_question(&session, &action, Need::Approval).await?;
        if question.question != id {
            return Err(Refused::state(ReasonCode::QuestionAnswered));
        }
        let view = self.view_from(tenant, &question)?;
        let shown = Digest::parse(&ballot.digest)
            .ok_or_else(|| Refused::field("digest", "not a digest"))?;
        if shown != question.digest {
            return Err(Refused::state(ReasonCode::ViewOutdated));
        }
        let involved = [
            session.principal.sub.as_str(),
            session.agent.workload.as_str(),
            session.agent.agent.as_str(),
        ];
        if !eligible::may_vote(&person.sub, &person.roles, &view.roles, &involved) {
            return Err(Refused::denied(ReasonCode::NotEligible));
        }
        if !ballot.approve && ballot.reason.trim().chars().count() < REASON_MIN_CHARS {
            return Err(Refused::field(
                "reason",
                format!("at least {REASON_MIN_CHARS} characters"),
            ));
        }
        let by = format!("{}\n{}", person.signer.issuer, person.sub);
        let given = Given { question, view, person: by, note: ballot.reason };
        if ballot.approve {
            self.resume_and_wait(session, action, given).await
        } else {
            self.refuse(&session, &action, &given).await
        }
    }
}
