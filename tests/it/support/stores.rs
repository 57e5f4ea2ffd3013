//! A store of its own for every test, on either database.

use std::sync::Arc;

use stateguard::store::{self, Store};
use tempfile::TempDir;

use super::postgres::Database;

/// A store with what keeps it alive.
pub(crate) struct Home {
    url: String,
    store: Arc<dyn Store>,
    // Dropped after the store.
    _folder: Option<TempDir>,
    database: Option<Database>,
}

impl Home {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("store.db").display());
        let store = store::open(&url, None, 1).await.expect("a store");
        Self { url, store, _folder: Some(folder), database: None }
    }

    pub(crate) async fn postgres() -> Self {
        let database = Database::fresh().await;
        let url = database.url.clone();
        let store = store::open(&url, None, 8).await.expect("a store");
        Self { url, store, _folder: None, database: Some(database) }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The address, for another process or program.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The database of PostgreSQL; none on SQLite.
    pub(crate) fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// A second handle, as another process would have it.
    pub(crate) async fn another(&self) -> Arc<dyn Store> {
        store::open(&self.url, None, 8).await.expect("a second handle")
    }

    /// Runs SQL behind the store's back; answers how many rows it touched.
    pub(crate) async fn tamper(&self, sql: &str) -> Result<u64, sqlx::Error> {
        use sqlx::{AssertSqlSafe, Connection, Executor, SqliteConnection};
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.database {
            Some(database) => Ok(database.connect().await.execute(sql).await?.rows_affected()),
            None => {
                let mut connection = SqliteConnection::connect(&self.url).await?;
                Ok(connection.execute(sql).await?.rows_affected())
            }
        }
    }

    /// Takes away what keeps the log from being changed, as somebody with the database would.
    pub(crate) async fn open_the_log(&self) {
        let statements: &[&str] = match &self.database {
            Some(_) => &["ALTER TABLE entries DISABLE TRIGGER USER"],
            None => &["DROP TRIGGER entries_never_change", "DROP TRIGGER entries_never_go"],
        };
        for statement in statements {
            self.tamper(statement).await.unwrap();
        }
    }
}
