//! Owns: the embedded store: one file, one writer, a pool of readers.
//! Must not know: what PostgreSQL does.
//! Start reading at: `open`.

use std::{path::Path, time::Duration};

use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    StoreError,
    sql::{
        Fault, Migration, Readers, Tx, apply, check_history, migrations, statements, unavailable,
    },
};
use crate::domain::unit::Unit;

/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a read or a commit waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const READERS: u32 = 4;

pub(crate) const MIGRATIONS: &[Migration] = migrations!("sqlite":
    1 "0001_bundles", 2 "0002_sessions", 3 "0003_data", 4 "0004_actions", 5 "0005_questions", 6 "0006_entries");

/// The pools of one file.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

/// Opens or makes the file and brings its schema up to date.
pub(crate) async fn open(path: &Path) -> Result<Sqlite, StoreError> {
    // FULL: a commit is on the disk when it is answered. WAL: readers do not wait for the writer.
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT);
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options.clone())
        .await
        .map_err(|error| cannot_open(path, &error))?;
    migrate(&writer).await.map_err(Fault::into_store_error)?;
    let readers = pool_of_readers(options.read_only(true).create_if_missing(false), path).await?;
    Ok(Sqlite { writer, readers })
}

/// Opens a file only to read it, such as a copy that is to be checked; its schema must be the present one.
pub(crate) async fn open_to_read(path: &Path) -> Result<Readers, StoreError> {
    if !path.is_file() {
        return Err(StoreError::Unavailable(format!("there is no file `{}`", path.display())));
    }
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT);
    let readers = pool_of_readers(options.read_only(true), path).await?;
    let found = history(&readers).await.map_err(Fault::into_store_error)?;
    if check_history(&found, MIGRATIONS)?.is_empty() {
        Ok(Readers::Sqlite(readers))
    } else {
        Err(unavailable("the schema is older than this program; start the daemon on it once"))
    }
}

/// Applies one unit: all of it or nothing.
pub(crate) async fn commit(store: &Sqlite, unit: &Unit) -> Result<(), Fault> {
    // IMMEDIATE takes the write lock at once: a transaction that began by reading could not get it later.
    let begun = store.writer.begin_with("BEGIN IMMEDIATE").await;
    let mut tx = begun.map_err(|error| Fault::sql("none", error))?;
    match apply(&mut Tx::Sqlite(&mut tx), unit).await {
        Ok(()) => tx.commit().await.map_err(|error| Fault::sql("none", error)),
        Err(fault) => {
            // The connection rolls back by itself if this fails.
            let _ = tx.rollback().await;
            Err(fault)
        }
    }
}

/// Ends the writer, after all readers: the last connection moves what stands beside the file into it.
pub(crate) async fn close(store: &Sqlite) {
    store.writer.close().await;
}

async fn pool_of_readers(
    options: SqliteConnectOptions,
    path: &Path,
) -> Result<SqlitePool, StoreError> {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await
        .map_err(|error| cannot_open(path, &error))
}

fn cannot_open(path: &Path, error: &sqlx::Error) -> StoreError {
    StoreError::Unavailable(format!("cannot open `{}`: {error}", path.display()))
}

/// One transaction for all that is missing. Two programs take turns by the write lock, which the busy timeout polls.
async fn migrate(writer: &SqlitePool) -> Result<(), Fault> {
    let fault = |error| Fault::sql("schema_version", error);
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
    sqlx::raw_sql(statements::MAKE_HISTORY).execute(&mut *tx).await.map_err(fault)?;
    let found = sqlx::query_as(statements::HISTORY).fetch_all(&mut *tx).await.map_err(fault)?;
    for migration in check_history(&found, MIGRATIONS)? {
        sqlx::raw_sql(migration.text).execute(&mut *tx).await.map_err(fault)?;
        sqlx::query(statements::ADD_TO_HISTORY)
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.checksum())
            .execute(&mut *tx)
            .await
            .map_err(fault)?;
    }
    tx.commit().await.map_err(fault)
}

async fn history(readers: &SqlitePool) -> Result<Vec<(i64, String, String)>, Fault> {
    let fault = |error| Fault::sql("schema_version", error);
    let made: i64 = sqlx::query_scalar(statements::HAS_HISTORY.sqlite)
        .fetch_one(readers)
        .await
        .map_err(fault)?;
    if made == 0 {
        return Ok(Vec::new());
    }
    sqlx::query_as(statements::HISTORY).fetch_all(readers).await.map_err(fault)
}
