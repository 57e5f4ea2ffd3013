//! An action with all that is kept of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    action::{ActionEvent, ActionState, ActionTransition, IllegalTransition, apply},
    canonical::Digest,
    clock::Timestamp,
    contract_terms::Need,
    decision::Decision,
    effect::EffectIdentity,
    fact::Facts,
    ids::{ActionId, DatumId, InputsRef, QuarantineId, QuestionId, SessionId},
    intent::Intent,
    label::LabelMap,
    reason::ReasonCode,
    session::SessionState,
};

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Its handle.
    pub id: ActionId,
    /// Its session.
    pub session: SessionId,
    /// 1 when proposed, one more with every commit.
    pub version: i64,
    /// Where it stands.
    pub state: ActionState,
    /// What was proposed.
    pub intent: Intent,
    /// When.
    pub proposed_at: Timestamp,
    /// The ground on which it was proposed.
    pub proposed_in: SessionState,
    /// The arguments after binding; none when binding refused them.
    pub bound: Option<Bound>,
    /// What was decided, latest.
    pub decision: Decision,
    /// Where the inputs of that decision are kept.
    pub inputs: InputsRef,
    /// What identifies its effect; none for reads.
    pub effect: Option<EffectIdentity>,
    /// The facts that the latest decision rested on.
    pub facts: Facts,
    /// What was sent; none before COMMIT 1.
    pub dispatch: Option<DispatchRecord>,
    /// What came of it.
    pub outcome: Option<OutcomeRecord>,
    /// What was read back.
    pub verification: Option<VerificationRecord>,
    /// The question that is or was open last.
    pub question: Option<QuestionId>,
    /// Answers that were given and spent.
    pub answers: Vec<Answer>,
    /// How often what was shown had changed by the time of an answer.
    pub stale_rounds: u32,
    /// Why a person refused; never shown to the agent.
    pub refused_with: Option<String>,
}

/// Arguments after binding: `$datum` replaced, defaults set, canonical.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The arguments.
    pub arguments: Value,
    /// Their labels, frozen at proposal.
    pub labels: LabelMap,
    /// Type and id of what it is about.
    pub resource: Option<(String, String)>,
}

/// What was committed to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchRecord {
    /// The key given to the tool.
    pub provider_key: String,
    /// Its generation.
    pub generation: i64,
    /// Until when the first byte may leave.
    pub send_before: Timestamp,
    /// When COMMIT 1 was built.
    pub at: Timestamp,
}

/// What came of a dispatch or a read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// Attempts made.
    pub attempts: u32,
    /// What stopped it; none when it succeeded.
    pub stop_reason: Option<ReasonCode>,
    /// The stored answer.
    pub result: Option<DatumId>,
    /// The quarantined answer.
    pub quarantine: Option<QuarantineId>,
    /// How it was settled: `answer`, `look_up`.
    pub settled_by: String,
    /// When.
    pub at: Timestamp,
}

/// What was read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerificationRecord {
    /// The read that was used.
    pub tool: String,
    /// Rules that held.
    pub held: Vec<String>,
    /// Rules that did not.
    pub broken: Vec<String>,
    /// Why it was not verified.
    pub code: Option<ReasonCode>,
    /// When.
    pub at: Timestamp,
}

/// An answer of a person, spent in a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What was answered.
    pub need: Need,
    /// The question.
    pub question: QuestionId,
    /// The digest that was echoed.
    pub digest: Digest,
    /// Keyed digest of who answered.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The policies that the question named; it answers no others.
    pub rules: Vec<String>,
}

impl Action {
    /// Takes an event; the record that is next, and the arrow that was walked.
    ///
    /// # Errors
    /// When the state does not know the event.
    pub fn take(&mut self, event: ActionEvent) -> Result<ActionTransition, IllegalTransition> {
        let next = apply(self.state, event)?;
        let walked = ActionTransition { from: self.state, to: next };
        self.state = next;
        Ok(walked)
    }

    /// The resource as `Type/id`.
    #[must_use]
    pub fn resource(&self) -> Option<String> {
        let (ty, id) = self.bound.as_ref()?.resource.as_ref()?;
        Some(format!("{ty}/{id}"))
    }

    /// The bound arguments; null before binding.
    #[must_use]
    pub fn arguments(&self) -> Value {
        self.bound.as_ref().map_or(Value::Null, |bound| bound.arguments.clone())
    }
}

/// What a question shows; its digest is over exactly this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionView {
    /// The action.
    pub action: ActionId,
    /// Its session.
    pub session: SessionId,
    /// Confirmation or approval.
    pub need: Need,
    /// The contract and its digest.
    pub tool: String,
    /// Version of the contract.
    pub tool_version: u32,
    /// Digest of the contract.
    pub tool_digest: String,
    /// The contract's description.
    pub description: String,
    /// Its risks.
    pub risks: Vec<String>,
    /// The purpose.
    pub purpose: String,
    /// The exact arguments.
    pub arguments: Value,
    /// Labels of the arguments, as text by place.
    pub labels: BTreeMap<String, String>,
    /// Type and id of what it is about.
    pub resource: Option<(String, String)>,
    /// The effect's identity.
    pub effect: Option<EffectIdentity>,
    /// Fact fields that expressions read, by dotted path.
    pub facts: BTreeMap<String, Value>,
    /// Codes of the reasons.
    pub reasons: Vec<String>,
    /// Policies whose answer this is.
    pub rules: Vec<String>,
    /// The bundle's digest.
    pub bundle_digest: String,
    /// The principal.
    pub principal: String,
    /// How sure we are of the principal.
    pub assurance: String,
    /// The agent and its workload.
    pub agent: String,
    /// Roles of which one person must approve; empty for confirmations.
    pub roles: Vec<String>,
}
