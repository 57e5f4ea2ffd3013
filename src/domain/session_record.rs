//! A session with all that it remembers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    action::ActionState,
    clock::Timestamp,
    ids::{ActionId, DatumId, SessionId, TenantId},
    label::{Integrity, Label, Readers},
    principal::{AgentIdentity, Principal, Scope, Subject},
    session::{IllegalSessionMove, SessionState, SessionTransition, Standing, arrows},
};

/// One session. Its fixed part was set at opening; the rest moves with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its handle.
    pub id: SessionId,
    /// Whose it is.
    pub tenant: TenantId,
    /// 1 when opened, one more with every commit.
    pub version: i64,
    /// Its state; follows from `standing`.
    pub state: SessionState,
    /// What the state follows from.
    pub standing: Standing,
    /// The workflow's name.
    pub workflow: String,
    /// The purpose it was opened for.
    pub purpose: String,
    /// Its bundle's name and version, as `name@version`.
    pub bundle_name: String,
    /// Digest of its bundle; kept until it closes.
    pub bundle_digest: String,
    /// For whom it acts.
    pub principal: Principal,
    /// Who drives it.
    pub agent: AgentIdentity,
    /// On whose behalf.
    pub subject: Option<Subject>,
    /// What it may do at most.
    pub scope: Scope,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Records it is tied to, by the workflow's name for them.
    pub case: BTreeMap<String, BoundRecord>,
    /// What was used up.
    pub counters: Counters,
    /// What the model has seen.
    pub exposure: Exposure,
    /// Actions that are not at their end.
    pub open: BTreeMap<ActionId, OpenAction>,
    /// Calls whose last answer was corrupt, by digest of tool and arguments, until read again.
    pub corrupted: BTreeMap<String, CorruptedCall>,
    /// Entries written so far.
    pub entry_count: i64,
    /// Data stored so far.
    pub data_count: i64,
    /// How it ended.
    pub outcome: Option<String>,
    /// Why it was stopped.
    pub stop_reason: Option<String>,
    /// The agent's words at the hand-over.
    pub handed_over_with: Option<String>,
}

/// A record of the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoundRecord {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its id.
    pub id: String,
    /// The datum it was bound from.
    pub datum: DatumId,
    /// What was read, projected.
    pub value: Value,
}

/// A call whose last answer failed a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorruptedCall {
    /// The contract.
    pub tool: String,
    /// `Type/id` of what it is about.
    pub resource: Option<String>,
}

/// What a session has used up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Intents.
    pub steps: u32,
    /// Calls by tool.
    pub calls: BTreeMap<String, u32>,
    /// Equal calls, by digest of tool and arguments.
    pub identical: BTreeMap<String, u32>,
    /// Dispatched writes.
    pub writes: u32,
    /// Dispatched sensitive writes (sensitive, financial, irreversible, grant).
    pub sensitive: u32,
    /// Verified effects by tool.
    pub verified: BTreeMap<String, u32>,
    /// Questions that were refused, by (tool, reasons).
    pub refused_questions: BTreeMap<String, u32>,
    /// Questions asked without backing.
    pub unbacked_questions: u32,
}

/// What the model has seen, and so what its words may carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Handles of all data whose content reached it.
    pub sources: BTreeSet<String>,
    /// The common readers of all that.
    pub readers: Readers,
}

impl Exposure {
    /// Before anything was seen: no sources, the workload's configured floor of readers.
    #[must_use]
    pub const fn floor(readers: Readers) -> Self {
        Self { sources: BTreeSet::new(), readers }
    }

    /// Records that content with this label reached the model.
    pub fn add(&mut self, handle: &str, label: &Label) {
        self.sources.insert(handle.to_owned());
        self.sources.extend(label.sources.iter().cloned());
        self.readers = self.readers.meet(&label.readers);
    }

    /// The label of whatever the model writes now.
    #[must_use]
    pub fn label(&self) -> Label {
        Label {
            integrity: Integrity::Untrusted,
            sources: self.sources.clone(),
            readers: self.readers.clone(),
        }
    }
}

/// An action that is not at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAction {
    /// The contract.
    pub tool: String,
    /// `Type/id` of what it is about.
    pub resource: Option<String>,
    /// Where it stands.
    pub state: ActionState,
    /// Its outcome is unknown and is still being looked for.
    pub looking: bool,
}

impl Session {
    /// Notes where an action stands now and moves the session accordingly.
    ///
    /// # Errors
    /// When no arrow leads to the state that follows.
    pub fn note_action(
        &mut self,
        action: &ActionId,
        open: OpenAction,
    ) -> Result<Vec<SessionTransition>, IllegalSessionMove> {
        let is_open = match open.state {
            ActionState::AwaitingConfirmation
            | ActionState::AwaitingApproval
            | ActionState::Dispatched
            | ActionState::OutcomeUnknown
            | ActionState::Succeeded
            | ActionState::Pending => true,
            ActionState::Proposed
            | ActionState::Denied
            | ActionState::Ready
            | ActionState::Failed
            | ActionState::Verified
            | ActionState::Mismatched
            | ActionState::Duplicated
            | ActionState::Unverifiable
            | ActionState::Abandoned
            | ActionState::Expired
            | ActionState::Cancelled
            | ActionState::Stale => false,
        };
        if is_open {
            self.open.insert(action.clone(), open);
        } else {
            self.open.remove(action);
        }
        self.settle_state()
    }

    /// Recounts what is open and walks to the state that follows.
    ///
    /// # Errors
    /// When no arrow leads there.
    pub fn settle_state(&mut self) -> Result<Vec<SessionTransition>, IllegalSessionMove> {
        let count = |matches: fn(&OpenAction) -> bool| {
            let open = self.open.values().filter(|open| matches(open)).count();
            u32::try_from(open).unwrap_or(u32::MAX)
        };
        let confirmations = count(|open| open.state == ActionState::AwaitingConfirmation);
        // An unknown outcome is a person's only when looking for it has ended.
        let approvals = count(|open| {
            open.state == ActionState::AwaitingApproval
                || open.state == ActionState::OutcomeUnknown && !open.looking
        });
        let executing = count(|open| {
            open.state == ActionState::Dispatched
                || open.state == ActionState::OutcomeUnknown && open.looking
        });
        let verifying =
            count(|open| matches!(open.state, ActionState::Succeeded | ActionState::Pending));
        self.standing.confirmations = confirmations;
        self.standing.approvals = approvals;
        self.standing.executing = executing;
        self.standing.verifying = verifying;
        let walked = arrows(self.state, self.standing.state())?;
        self.state = self.standing.state();
        Ok(walked)
    }

    /// The write that is in flight, if one is.
    #[must_use]
    pub fn write_in_flight(&self) -> Option<&ActionId> {
        self.open
            .iter()
            .find(|(_, open)| {
                matches!(
                    open.state,
                    ActionState::Dispatched | ActionState::Succeeded | ActionState::Pending
                ) || open.looking
            })
            .map(|(action, _)| action)
    }

    /// Whether an open action is about this resource.
    #[must_use]
    pub fn is_busy(&self, resource: &str) -> bool {
        self.open.values().any(|open| open.resource.as_deref() == Some(resource))
    }

    /// The case as the root `case` of an expression.
    #[must_use]
    pub fn case_value(&self) -> Value {
        Value::Object(
            self.case.iter().map(|(name, record)| (name.clone(), record.value.clone())).collect(),
        )
    }

    /// The record of the case with this type and id.
    #[must_use]
    pub fn bound(&self, ty: &str, id: &str) -> Option<&BoundRecord> {
        self.case.values().find(|record| record.ty == ty && record.id == id)
    }
}
