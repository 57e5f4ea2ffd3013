//! A refusal as a status: code, sentence, `ErrorInfo` with the stable reason, retry and field details.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::app::{Refused, RefusedKind};

/// The domain of `ErrorInfo`.
const DOMAIN: &str = "stateguard";

pub(super) fn from(refused: &Refused) -> Status {
    if let Some(cause) = &refused.cause {
        tracing::error!(code = %refused.code, %cause, "a call failed");
    }
    let code = refused.code.public();
    let mut metadata: HashMap<String, String> =
        refused.metadata.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    metadata.insert("code".to_owned(), code.as_str().to_owned());
    metadata.insert("remedy".to_owned(), code.remedy().to_owned());
    let mut details = ErrorDetails::new();
    details.set_error_info(code.error_info_reason(), DOMAIN, metadata);
    if let Some(field) = &refused.field {
        let said = refused.said.clone().unwrap_or_else(|| code.text().to_owned());
        details.add_bad_request_violation(field.clone(), said);
    }
    if let Some(after) = refused.retry_after {
        details.set_retry_info(Some(after));
    }
    Status::with_error_details(grpc_code(refused.kind), refused.message(), details)
}

const fn grpc_code(kind: RefusedKind) -> Code {
    match kind {
        RefusedKind::Unauthenticated => Code::Unauthenticated,
        RefusedKind::PermissionDenied => Code::PermissionDenied,
        RefusedKind::NotFound => Code::NotFound,
        RefusedKind::Invalid => Code::InvalidArgument,
        RefusedKind::Exhausted => Code::ResourceExhausted,
        RefusedKind::Aborted => Code::Aborted,
        RefusedKind::Unavailable => Code::Unavailable,
        RefusedKind::FailedPrecondition => Code::FailedPrecondition,
        RefusedKind::Internal => Code::Internal,
    }
}

/// A message that could not be read: the field and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {said}")]
pub struct FieldError {
    /// The field's path.
    pub field: String,
    /// What is wrong.
    pub said: String,
}

impl FieldError {
    /// A field that is wrong.
    #[must_use]
    pub fn new(field: impl Into<String>, said: impl Into<String>) -> Self {
        Self { field: field.into(), said: said.into() }
    }
}

impl From<FieldError> for Status {
    fn from(error: FieldError) -> Self {
        from(&Refused::field(&error.field, error.said))
    }
}
