//! The life cycle of an action.
//!
//! | from | event | to |
//! |---|---|---|
//! | `proposed` | denied / confirmation asked / approval asked / cleared | `denied` / `awaiting_confirmation` / `awaiting_approval` / `ready` |
//! | `awaiting_confirmation` | approval asked / cleared / refused / denied | `awaiting_approval` / `ready` / `denied` |
//! | `awaiting_approval` | cleared / refused / denied | `ready` / `denied` |
//! | `awaiting_*` | expired / cancelled / stale | `expired` / `cancelled` / `stale` |
//! | `ready` | dispatched | `dispatched` |
//! | `dispatched` | succeeded / failed / outcome unknown | `succeeded` / `failed` / `outcome_unknown` |
//! | `outcome_unknown` | succeeded / failed / abandoned / dispatched again | `succeeded` / `failed` / `abandoned` / `dispatched` |
//! | `succeeded` | accepted / verified / mismatched / duplicated / unverifiable | `pending` / … |
//! | `pending` | verified / mismatched / duplicated / unverifiable / failed | … |

use serde::{Deserialize, Serialize};

use super::contract_terms::vocabulary;

vocabulary! {
    /// Where an action stands (DESIGN 7).
    ActionState {
        /// Admission passed, nothing decided.
        Proposed = "proposed",
        /// Refused.
        Denied = "denied",
        /// The principal is asked.
        AwaitingConfirmation = "awaiting_confirmation",
        /// An approver is asked.
        AwaitingApproval = "awaiting_approval",
        /// Allowed; lives only inside the commit that dispatches.
        Ready = "ready",
        /// May have been sent.
        Dispatched = "dispatched",
        /// The tool answered that it acted; for a read, the end.
        Succeeded = "succeeded",
        /// Proven not executed.
        Failed = "failed",
        /// Nobody knows.
        OutcomeUnknown = "outcome_unknown",
        /// The tool accepted it and has not finished.
        Pending = "pending",
        /// The effect was read back as decided.
        Verified = "verified",
        /// The effect read back differs.
        Mismatched = "mismatched",
        /// The effect stands twice.
        Duplicated = "duplicated",
        /// The effect could not be read back.
        Unverifiable = "unverifiable",
        /// Given up by a person.
        Abandoned = "abandoned",
        /// Nobody answered in time.
        Expired = "expired",
        /// Withdrawn.
        Cancelled = "cancelled",
        /// What was shown changed.
        Stale = "stale",
    }
}

vocabulary! {
    /// What happens to an action.
    ActionEvent {
        /// A check or a policy refused it.
        Denied = "denied",
        /// A confirmation is needed.
        ConfirmationAsked = "confirmation_asked",
        /// An approval is needed.
        ApprovalAsked = "approval_asked",
        /// Nothing is missing.
        Cleared = "cleared",
        /// Committed to be sent.
        Dispatched = "dispatched",
        /// The tool acted.
        Succeeded = "succeeded",
        /// The tool provably did not act.
        Failed = "failed",
        /// It may have acted.
        OutcomeLost = "outcome_lost",
        /// The tool accepted and will act.
        Accepted = "accepted",
        /// Read back as decided.
        Verified = "verified",
        /// Read back otherwise.
        Mismatched = "mismatched",
        /// Read back twice.
        Duplicated = "duplicated",
        /// Could not be read back.
        Unverifiable = "unverifiable",
        /// A person said no.
        Refused = "refused",
        /// Time ran out.
        Expired = "expired",
        /// Withdrawn.
        Cancelled = "cancelled",
        /// Shown facts changed.
        WentStale = "went_stale",
        /// Given up by a person.
        Abandoned = "abandoned",
    }
}

/// An event that this state does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an action that is {from} cannot take the event {event}")]
pub struct IllegalTransition {
    /// Where it stands.
    pub from: ActionState,
    /// What was to happen.
    pub event: ActionEvent,
}

/// The state after an event.
///
/// # Errors
/// When the state does not know the event.
pub fn apply(from: ActionState, event: ActionEvent) -> Result<ActionState, IllegalTransition> {
    let next = match from {
        ActionState::Proposed => after_proposed(event),
        ActionState::AwaitingConfirmation => after_question(event, true),
        ActionState::AwaitingApproval => after_question(event, false),
        ActionState::Ready => (event == ActionEvent::Dispatched).then_some(ActionState::Dispatched),
        ActionState::Dispatched => after_dispatched(event),
        ActionState::OutcomeUnknown => after_unknown(event),
        ActionState::Succeeded if event == ActionEvent::Accepted => Some(ActionState::Pending),
        ActionState::Pending if event == ActionEvent::Failed => Some(ActionState::Failed),
        ActionState::Succeeded | ActionState::Pending => after_verification(event),
        ActionState::Denied
        | ActionState::Failed
        | ActionState::Verified
        | ActionState::Mismatched
        | ActionState::Duplicated
        | ActionState::Unverifiable
        | ActionState::Abandoned
        | ActionState::Expired
        | ActionState::Cancelled
        | ActionState::Stale => None,
    };
    next.ok_or(IllegalTransition { from, event })
}

fn after_proposed(event: ActionEvent) -> Option<ActionState> {
    match event {
        ActionEvent::Denied => Some(ActionState::Denied),
        ActionEvent::ConfirmationAsked => Some(ActionState::AwaitingConfirmation),
        ActionEvent::ApprovalAsked => Some(ActionState::AwaitingApproval),
        ActionEvent::Cleared => Some(ActionState::Ready),
        ActionEvent::Dispatched
        | ActionEvent::Succeeded
        | ActionEvent::Failed
        | ActionEvent::OutcomeLost
        | ActionEvent::Accepted
        | ActionEvent::Verified
        | ActionEvent::Mismatched
        | ActionEvent::Duplicated
        | ActionEvent::Unverifiable
        | ActionEvent::Refused
        | ActionEvent::Expired
        | ActionEvent::Cancelled
        | ActionEvent::WentStale
        | ActionEvent::Abandoned => None,
    }
}

fn after_question(event: ActionEvent, is_confirmation: bool) -> Option<ActionState> {
    match event {
        ActionEvent::ApprovalAsked if is_confirmation => Some(ActionState::AwaitingApproval),
        ActionEvent::Cleared => Some(ActionState::Ready),
        ActionEvent::Denied | ActionEvent::Refused => Some(ActionState::Denied),
        ActionEvent::Expired => Some(ActionState::Expired),
        ActionEvent::Cancelled => Some(ActionState::Cancelled),
        ActionEvent::WentStale => Some(ActionState::Stale),
        ActionEvent::ApprovalAsked
        | ActionEvent::ConfirmationAsked
        | ActionEvent::Dispatched
        | ActionEvent::Succeeded
        | ActionEvent::Failed
        | ActionEvent::OutcomeLost
        | ActionEvent::Accepted
        | ActionEvent::Verified
        | ActionEvent::Mismatched
        | ActionEvent::Duplicated
        | ActionEvent::Unverifiable
        | ActionEvent::Abandoned => None,
    }
}

fn after_dispatched(event: ActionEvent) -> Option<ActionState> {
    match event {
        ActionEvent::Succeeded => Some(ActionState::Succeeded),
        ActionEvent::Failed => Some(ActionState::Failed),
        ActionEvent::OutcomeLost => Some(ActionState::OutcomeUnknown),
        ActionEvent::Denied
        | ActionEvent::ConfirmationAsked
        | ActionEvent::ApprovalAsked
        | ActionEvent::Cleared
        | ActionEvent::Dispatched
        | ActionEvent::Accepted
        | ActionEvent::Verified
        | ActionEvent::Mismatched
        | ActionEvent::Duplicated
        | ActionEvent::Unverifiable
        | ActionEvent::Refused
        | ActionEvent::Expired
        | ActionEvent::Cancelled
        | ActionEvent::WentStale
        | ActionEvent::Abandoned => None,
    }
}

fn after_unknown(event: ActionEvent) -> Option<ActionState> {
    if event == ActionEvent::Abandoned {
        Some(ActionState::Abandoned)
    } else if event == ActionEvent::Dispatched {
        Some(ActionState::Dispatched)
    } else {
        after_dispatched(event).filter(|next| *next != ActionState::OutcomeUnknown)
    }
}

fn after_verification(event: ActionEvent) -> Option<ActionState> {
    match event {
        ActionEvent::Verified => Some(ActionState::Verified),
        ActionEvent::Mismatched => Some(ActionState::Mismatched),
        ActionEvent::Duplicated => Some(ActionState::Duplicated),
        ActionEvent::Unverifiable => Some(ActionState::Unverifiable),
        ActionEvent::Denied
        | ActionEvent::ConfirmationAsked
        | ActionEvent::ApprovalAsked
        | ActionEvent::Cleared
        | ActionEvent::Dispatched
        | ActionEvent::Succeeded
        | ActionEvent::Failed
        | ActionEvent::OutcomeLost
        | ActionEvent::Accepted
        | ActionEvent::Refused
        | ActionEvent::Expired
        | ActionEvent::Cancelled
        | ActionEvent::WentStale
        | ActionEvent::Abandoned => None,
    }
}

impl ActionState {
    /// Whether nothing moves an action out of this state.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        ActionEvent::ALL.iter().all(|&event| apply(self, event).is_err())
    }

    /// Whether a write in this state has acted, as far as is known.
    #[must_use]
    pub const fn has_executed(self) -> bool {
        matches!(
            self,
            Self::Succeeded
                | Self::Pending
                | Self::Verified
                | Self::Mismatched
                | Self::Duplicated
                | Self::Unverifiable
        )
    }

    /// Whether a person is asked.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::AwaitingConfirmation | Self::AwaitingApproval)
    }

    /// Whether a write in this state counts against a budget: it may still act, or has.
    #[must_use]
    pub const fn counts_against_budgets(self) -> bool {
        match self {
            Self::AwaitingConfirmation
            | Self::AwaitingApproval
            | Self::Ready
            | Self::Dispatched
            | Self::Succeeded
            | Self::OutcomeUnknown
            | Self::Pending
            | Self::Verified
            | Self::Mismatched
            | Self::Duplicated
            | Self::Unverifiable => true,
            Self::Proposed
            | Self::Denied
            | Self::Failed
            | Self::Abandoned
            | Self::Expired
            | Self::Cancelled
            | Self::Stale => false,
        }
    }
}

/// The whole table as text, one arrow a line, for `docs/generated/action-states.md`.
#[must_use]
pub fn table() -> String {
    let mut lines = vec!["| from | event | to |".to_owned(), "|---|---|---|".to_owned()];
    for &from in ActionState::ALL {
        for &event in ActionEvent::ALL {
            if let Ok(to) = apply(from, event) {
                lines.push(format!("| `{from}` | {event} | `{to}` |"));
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Serialised form of an arrow as the log writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTransition {
    /// Left.
    pub from: ActionState,
    /// Entered.
    pub to: ActionState,
}

impl std::fmt::Display for ActionTransition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_states_never_change() {
        for state in [
            ActionState::Denied,
            ActionState::Failed,
            ActionState::Verified,
            ActionState::Mismatched,
            ActionState::Duplicated,
            ActionState::Unverifiable,
            ActionState::Abandoned,
            ActionState::Expired,
            ActionState::Cancelled,
            ActionState::Stale,
        ] {
            assert!(state.is_terminal(), "{state}");
        }
        assert!(!ActionState::OutcomeUnknown.is_terminal());
    }

    #[test]
    fn nothing_is_dispatched_that_was_not_cleared() {
        for &from in ActionState::ALL {
            let dispatches = apply(from, ActionEvent::Dispatched).is_ok();
            let may = matches!(from, ActionState::Ready | ActionState::OutcomeUnknown);
            assert_eq!(dispatches, may, "{from}");
        }
    }
}
