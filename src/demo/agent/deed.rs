//! What became of one intent, as the agent saw it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pb::v1;

/// An answer of the guard, reduced to what an agent goes on with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deed {
    /// The tool that was named.
    pub(crate) tool: String,
    /// The record or mail it was about.
    pub(crate) about: String,
    /// The action's name.
    pub(crate) action: String,
    /// `VERIFIED`, `DENIED`, …
    pub(crate) state: String,
    /// `ALLOW`, `DENY`, …
    pub(crate) verdict: String,
    /// What is still to be answered.
    pub(crate) needs: Vec<String>,
    /// Codes, in the form that an agent sees.
    pub(crate) reasons: Vec<String>,
    /// The stored outcome of an earlier, equal intent.
    pub(crate) replayed: bool,
    /// The tool acted.
    pub(crate) executed: bool,
    /// The effect was read back.
    pub(crate) verified: bool,
    /// What stopped it after the decision.
    pub(crate) stop_reason: String,
    /// The handle of the result.
    pub(crate) result_datum: String,
    /// The result.
    pub(crate) result: Value,
    /// The pending question's digest; empty for none.
    pub(crate) digest: String,
    /// The escalation, where an approver is asked.
    pub(crate) escalation: String,
    /// Where the session stands now.
    pub(crate) session_state: String,
}

impl Deed {
    /// What the guard answered.
    pub(super) fn of(action: v1::Action, about: &str) -> Self {
        let name = |verdict: v1::Verdict| verdict.as_str_name().to_owned();
        let state = action.state().as_str_name().to_owned();
        let decision = action.decision.unwrap_or_default();
        let outcome = action.outcome.unwrap_or_default();
        let question = action.question.unwrap_or_default();
        Self {
            tool: action.tool,
            about: about.to_owned(),
            action: action.name,
            state,
            verdict: name(decision.verdict()),
            needs: decision.needs().map(name).collect(),
            reasons: decision.reasons.into_iter().map(|reason| reason.code).collect(),
            replayed: action.replayed,
            executed: outcome.executed,
            verified: outcome.verified,
            stop_reason: outcome.stop_reason,
            result_datum: outcome.result_datum,
            result: serde_json::from_str(&outcome.result_json).unwrap_or_default(),
            digest: question.digest,
            escalation: question.escalation,
            session_state: action.session_state,
        }
    }

    /// Whether this code is among the reasons, or stopped it.
    pub(crate) fn has_reason(&self, code: &str) -> bool {
        self.stop_reason == code || self.reasons.iter().any(|reason| reason == code)
    }
}
