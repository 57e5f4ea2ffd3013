//! Why a call was not carried out: a kind that becomes a status, a code that stays.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    domain::reason::ReasonCode,
    identity::IdentityError,
    seal::SealError,
    store::{Refusal, StoreError},
};

/// What kind of refusal it is; one gRPC status each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedKind {
    /// No valid identity.
    Unauthenticated,
    /// A valid identity without the right.
    PermissionDenied,
    /// Unknown or foreign; the same bytes for both.
    NotFound,
    /// The message is wrong.
    Invalid,
    /// Too much.
    Exhausted,
    /// Somebody else is at it.
    Aborted,
    /// Not now.
    Unavailable,
    /// Not in this state.
    FailedPrecondition,
    /// Our fault.
    Internal,
}

/// A call that was not carried out; nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {}", self.message())]
pub struct Refused {
    /// Its kind.
    pub kind: RefusedKind,
    /// Its code.
    pub code: ReasonCode,
    /// What the caller may know beyond the code's own text.
    pub said: Option<String>,
    /// The field of the message that is wrong.
    pub field: Option<String>,
    /// When trying again makes sense.
    pub retry_after: Option<Duration>,
    /// Further names for the caller, such as the action in flight.
    pub metadata: BTreeMap<String, String>,
    /// The cause, for the operator's log; never sent.
    pub cause: Option<String>,
}

impl Refused {
    /// A refusal of this kind and code.
    #[must_use]
    pub const fn new(kind: RefusedKind, code: ReasonCode) -> Self {
        Self {
            kind,
            code,
            said: None,
            field: None,
            retry_after: None,
            metadata: BTreeMap::new(),
            cause: None,
        }
    }

    /// Unknown or foreign.
    #[must_use]
    pub const fn not_found() -> Self {
        Self::new(RefusedKind::NotFound, ReasonCode::NotFound)
    }

    /// A field that is wrong, and how.
    #[must_use]
    pub fn field(field: &str, said: impl Into<String>) -> Self {
        Self {
            said: Some(said.into()),
            field: Some(field.to_owned()),
            ..Self::new(RefusedKind::Invalid, ReasonCode::FieldInvalid)
        }
    }

    /// The caller lacks a right.
    #[must_use]
    pub const fn denied(code: ReasonCode) -> Self {
        Self::new(RefusedKind::PermissionDenied, code)
    }

    /// The present state does not allow it.
    #[must_use]
    pub const fn state(code: ReasonCode) -> Self {
        Self::new(RefusedKind::FailedPrecondition, code)
    }

    /// The same, with what the caller may know.
    #[must_use]
    pub fn saying(mut self, said: impl Into<String>) -> Self {
        self.said = Some(said.into());
        self
    }

    /// A failure of our own; the cause goes to the log only.
    #[must_use]
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self {
            cause: Some(cause.to_string()),
            ..Self::new(RefusedKind::Internal, ReasonCode::Internal)
        }
    }

    /// A stored record that cannot be read.
    #[must_use]
    pub fn corrupt(table: &str, key: &str, what: &str) -> Self {
        Self {
            cause: Some(format!("table `{table}`, row `{key}`: {what}")),
            ..Self::new(RefusedKind::Internal, ReasonCode::StoreCorrupt)
        }
    }

    /// One sentence for the caller.
    #[must_use]
    pub fn message(&self) -> String {
        match (&self.field, &self.said) {
            (Some(field), Some(said)) => format!("`{field}`: {said}"),
            (None, Some(said)) => format!("{}: {said}", self.code.text()),
            (_, None) => self.code.text().to_owned(),
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Unavailable(_) | StoreError::NewerSchema { .. } => Self {
                cause: Some(error.to_string()),
                retry_after: Some(Duration::from_secs(1)),
                ..Self::new(RefusedKind::Unavailable, ReasonCode::StoreUnavailable)
            },
            StoreError::Corrupt { .. } => Self {
                cause: Some(error.to_string()),
                ..Self::new(RefusedKind::Internal, ReasonCode::StoreCorrupt)
            },
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Store(error) => error.into(),
            Refusal::SessionMoved(_)
            | Refusal::ActionMoved(_)
            | Refusal::KeyTaken { .. }
            | Refusal::RequestTaken => Self {
                cause: Some(refusal.to_string()),
                retry_after: Some(Duration::from_millis(50)),
                ..Self::new(RefusedKind::Aborted, ReasonCode::Conflict)
            },
            Refusal::QuestionGone { .. } => Self::state(ReasonCode::QuestionAnswered),
        }
    }
}

impl From<SealError> for Refused {
    fn from(error: SealError) -> Self {
        Self {
            cause: Some(error.to_string()),
            ..Self::new(RefusedKind::Internal, ReasonCode::StoreCorrupt)
        }
    }
}

impl From<IdentityError> for Refused {
    fn from(error: IdentityError) -> Self {
        Self::new(RefusedKind::Unauthenticated, error.code())
    }
}
