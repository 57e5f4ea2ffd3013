//! The life cycle of a session.
//!
//! The state is the most urgent of what is open, over the ground the session stands on; every move
//! is one arrow of this table or goes through the ground in two:
//!
//! | from | to |
//! |---|---|
//! | `ANALYZING` | `RESOLVING`, `ESCALATED`, `CLOSED`, `HALTED` |
//! | `RESOLVING` | `AWAITING_CONFIRMATION`, `ESCALATED`, `EXECUTING`, `ANALYZING`, `CLOSED`, `HALTED` |
//! | `AWAITING_CONFIRMATION` | `ESCALATED`, `EXECUTING`, `RESOLVING`, `HALTED` |
//! | `ESCALATED` | `EXECUTING`, `RESOLVING`, `ANALYZING`, `HALTED` |
//! | `EXECUTING` | `VERIFYING`, `RESOLVING`, `ESCALATED`, `HALTED` |
//! | `VERIFYING` | `RESOLVING`, `CLOSED`, `HALTED` |
//! | `HALTED` | `RESOLVING`, `CLOSED` |
//! | `CLOSED` | none |

use std::fmt;

use serde::{Deserialize, Serialize};

use super::contract_terms::vocabulary;

vocabulary! {
    /// Where a session stands (DESIGN 7).
    SessionState {
        /// Data comes in, reads run.
        Analyzing = "ANALYZING",
        /// Tied to records; writes may be proposed.
        Resolving = "RESOLVING",
        /// The principal is asked.
        AwaitingConfirmation = "AWAITING_CONFIRMATION",
        /// An approver is asked, or the case is handed over.
        Escalated = "ESCALATED",
        /// Dispatched, outcome not yet known.
        Executing = "EXECUTING",
        /// The effect is being read back.
        Verifying = "VERIFYING",
        /// Stopped; only an operator moves it.
        Halted = "HALTED",
        /// Terminal.
        Closed = "CLOSED",
    }
}

impl SessionState {
    /// Whether an arrow leads from here to there.
    #[must_use]
    pub fn leads_to(self, next: Self) -> bool {
        match self {
            Self::Analyzing => {
                matches!(next, Self::Resolving | Self::Escalated | Self::Closed | Self::Halted)
            }
            Self::Resolving => matches!(
                next,
                Self::AwaitingConfirmation
                    | Self::Escalated
                    | Self::Executing
                    | Self::Analyzing
                    | Self::Closed
                    | Self::Halted
            ),
            Self::AwaitingConfirmation => {
                matches!(next, Self::Escalated | Self::Executing | Self::Resolving | Self::Halted)
            }
            Self::Escalated => {
                matches!(next, Self::Executing | Self::Resolving | Self::Analyzing | Self::Halted)
            }
            Self::Executing => {
                matches!(next, Self::Verifying | Self::Resolving | Self::Escalated | Self::Halted)
            }
            Self::Verifying => matches!(next, Self::Resolving | Self::Closed | Self::Halted),
            Self::Halted => matches!(next, Self::Resolving | Self::Closed),
            Self::Closed => false,
        }
    }

    /// Whether nothing moves a session out of this state.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Closed)
    }
}

/// What a session's state follows from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Standing {
    /// The resolve condition holds, or the workflow has no case.
    pub resolved: bool,
    /// Open actions that wait for a confirmation.
    pub confirmations: u32,
    /// Open actions that wait for an approval.
    pub approvals: u32,
    /// Handed over to a person.
    pub handed_over: bool,
    /// Dispatched actions without an outcome.
    pub executing: u32,
    /// Executed actions whose effect is not yet verified.
    pub verifying: u32,
    /// Stopped.
    pub halted: bool,
    /// Ended.
    pub closed: bool,
}

impl Standing {
    /// The state that follows: the most urgent of what is open.
    #[must_use]
    pub const fn state(&self) -> SessionState {
        if self.closed {
            SessionState::Closed
        } else if self.halted {
            SessionState::Halted
        } else if self.executing > 0 {
            SessionState::Executing
        } else if self.verifying > 0 {
            SessionState::Verifying
        } else if self.approvals > 0 || self.handed_over {
            SessionState::Escalated
        } else if self.confirmations > 0 {
            SessionState::AwaitingConfirmation
        } else {
            self.ground()
        }
    }

    /// The state with nothing open.
    #[must_use]
    pub const fn ground(&self) -> SessionState {
        if self.resolved { SessionState::Resolving } else { SessionState::Analyzing }
    }
}

/// One arrow that was walked, as the log writes it: `RESOLVING -> ESCALATED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTransition {
    /// Left.
    pub from: SessionState,
    /// Entered.
    pub to: SessionState,
}

impl fmt::Display for SessionTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

/// No road of arrows leads there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session cannot go from {from} to {to}")]
pub struct IllegalSessionMove {
    /// Where it stands.
    pub from: SessionState,
    /// Where it was to go.
    pub to: SessionState,
}

/// The arrows that lead from one state to another: none when equal, one, or two: through `RESOLVING`
/// (one action's end uncovers another's question) or through `EXECUTING` (an outcome that was given
/// up is found after all).
///
/// # Errors
/// When no such road exists.
pub fn arrows(
    from: SessionState,
    to: SessionState,
) -> Result<Vec<SessionTransition>, IllegalSessionMove> {
    if from == to {
        return Ok(Vec::new());
    }
    if from.leads_to(to) {
        return Ok(vec![SessionTransition { from, to }]);
    }
    for between in [SessionState::Resolving, SessionState::Executing] {
        if from.leads_to(between) && between.leads_to(to) {
            return Ok(vec![
                SessionTransition { from, to: between },
                SessionTransition { from: between, to },
            ]);
        }
    }
    Err(IllegalSessionMove { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_open_thing_gives_the_state() {
        let mut standing = Standing { resolved: true, confirmations: 1, ..Standing::default() };
        assert_eq!(standing.state(), SessionState::AwaitingConfirmation);
        standing.approvals = 1;
        assert_eq!(standing.state(), SessionState::Escalated);
        standing.verifying = 1;
        assert_eq!(standing.state(), SessionState::Verifying);
        standing.executing = 1;
        assert_eq!(standing.state(), SessionState::Executing);
        standing.halted = true;
        assert_eq!(standing.state(), SessionState::Halted);
        standing.closed = true;
        assert_eq!(standing.state(), SessionState::Closed);
        assert_eq!(Standing::default().state(), SessionState::Analyzing);
    }

    #[test]
    fn nothing_leaves_closed_and_analyzing_never_executes_directly() {
        for &to in SessionState::ALL {
            assert!(!SessionState::Closed.leads_to(to));
        }
        assert!(!SessionState::Analyzing.leads_to(SessionState::Executing));
        assert!(arrows(SessionState::Closed, SessionState::Resolving).is_err());
        assert_eq!(
            arrows(SessionState::Verifying, SessionState::Escalated).unwrap().len(),
            2,
            "through RESOLVING"
        );
    }
}
