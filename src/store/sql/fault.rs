//! What a database says when it does not do what it is told, sorted into the store's own kinds.

use sqlx::{Error, error::ErrorKind};

use crate::store::{Refusal, StoreError};

/// Why a unit was not applied.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A guard did not hold.
    Refused(Refusal),
    /// The database failed.
    Sql { table: &'static str, error: Error },
}

impl Fault {
    pub(crate) fn sql(table: &'static str, error: Error) -> Self {
        Self::Sql { table, error }
    }

    pub(crate) fn corrupt(table: &'static str, key: &str, what: impl Into<String>) -> Self {
        let fault = StoreError::Corrupt { table, key: key.to_owned(), what: what.into() };
        Self::Refused(Refusal::Store(fault))
    }

    /// Whether the database gave the transaction up for another one: the same unit can be tried again.
    pub(crate) fn lost_a_race(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::Sql { error, .. } => {
                let code = error.as_database_error().and_then(|e| e.code());
                matches!(code.as_deref(), Some("40001" | "40P01"))
            }
        }
    }

    pub(crate) fn into_store_error(self) -> StoreError {
        match self {
            Self::Refused(Refusal::Store(error)) => error,
            Self::Refused(other) => StoreError::Unavailable(other.to_string()),
            Self::Sql { table, error } => store_error(table, &error),
        }
    }

    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Sql { table, error } => Refusal::Store(store_error(table, &error)),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(Refusal::Store(error))
    }
}

/// A constraint that fails and a value that does not decode mean wrong rows; everything else may pass later.
fn store_error(table: &'static str, error: &Error) -> StoreError {
    let corrupt = |what: String| StoreError::Corrupt { table, key: String::new(), what };
    if let Some(inner) = error.as_database_error() {
        let message = inner.message().to_owned();
        let is_violation = matches!(
            inner.kind(),
            ErrorKind::UniqueViolation
                | ErrorKind::ForeignKeyViolation
                | ErrorKind::NotNullViolation
                | ErrorKind::CheckViolation
                | ErrorKind::ExclusionViolation
        );
        return if is_violation { corrupt(message) } else { StoreError::Unavailable(message) };
    }
    if let Error::ColumnDecode { index, .. } = error {
        return corrupt(format!("column {index} does not decode"));
    }
    if let Error::ColumnNotFound(name) = error {
        return corrupt(format!("there is no column `{name}`"));
    }
    let undecoded = matches!(
        error,
        Error::Decode(_) | Error::TypeNotFound { .. } | Error::ColumnIndexOutOfBounds { .. }
    );
    if undecoded {
        return corrupt("a value does not decode".to_owned());
    }
    if matches!(error, Error::PoolTimedOut) {
        return unavailable("no free connection");
    }
    StoreError::Unavailable(error.to_string())
}

pub(crate) fn unavailable(what: &str) -> StoreError {
    StoreError::Unavailable(what.to_owned())
}
