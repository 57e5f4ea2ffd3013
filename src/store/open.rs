//! From an address to a store.

use std::{path::Path, sync::Arc};

use secrecy::SecretString;

use super::{Store, StoreError, postgres, sql::SqlStore, sqlite};

/// Connections of a daemon to PostgreSQL when the configuration names no number.
pub const DEFAULT_CONNECTIONS: u32 = 16;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address<'a> {
    /// `sqlite:PATH`.
    Sqlite(&'a Path),
    /// `postgres://…` or `postgresql://…`.
    Postgres(&'a str),
}

impl<'a> Address<'a> {
    /// Reads an address. The text is not repeated in the error: it may hold a password.
    ///
    /// # Errors
    /// When it has neither form.
    pub fn parse(url: &'a str) -> Result<Self, StoreError> {
        if let Some(path) = url.strip_prefix("sqlite:")
            && !path.is_empty()
            && path != ":memory:"
        {
            return Ok(Self::Sqlite(Path::new(path)));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres(url));
        }
        let what = "the address of the store is neither `sqlite:PATH` nor `postgres://…`";
        Err(StoreError::Unavailable(what.to_owned()))
    }
}

/// Opens a store and brings its schema up to date.
///
/// # Errors
/// When it cannot be reached, or has a schema that is newer or of other files.
pub async fn open(
    url: &str,
    password: Option<&SecretString>,
    connections: u32,
) -> Result<Arc<dyn Store>, StoreError> {
    match Address::parse(url)? {
        Address::Sqlite(path) => Ok(Arc::new(SqlStore::sqlite(sqlite::open(path).await?))),
        Address::Postgres(url) => {
            let pool = postgres::open(url, password, connections).await?;
            Ok(Arc::new(SqlStore::postgres(pool)))
        }
    }
}

/// Opens a store only to read it: nothing is made or migrated, every commit is refused.
///
/// # Errors
/// When it does not exist or its schema is not the present one.
pub async fn open_to_read(
    url: &str,
    password: Option<&SecretString>,
) -> Result<Arc<dyn Store>, StoreError> {
    let readers = match Address::parse(url)? {
        Address::Sqlite(path) => sqlite::open_to_read(path).await?,
        Address::Postgres(url) => postgres::open_to_read(url, password).await?,
    };
    Ok(Arc::new(SqlStore::to_read(readers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_file_or_a_postgres_url_and_errors_repeat_nothing() {
        assert_eq!(Address::parse("sqlite:./a.db"), Ok(Address::Sqlite(Path::new("./a.db"))));
        assert!(matches!(Address::parse("postgres://h/d"), Ok(Address::Postgres(_))));
        for wrong in ["mysql://u:hunter2@h/d", "sqlite:", "sqlite::memory:", "./a.db"] {
            let error = Address::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && error.contains("sqlite:PATH"), "{error}");
        }
    }
}
