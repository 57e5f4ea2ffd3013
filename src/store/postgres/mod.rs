//! Owns: the store of production: any number of daemons on one database.
//! Must not know: what SQLite does.
//! Start reading at: `open`.

use std::{str::FromStr, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use sqlx::{
    Executor, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{
    StoreError,
    sql::{
        Fault, Migration, Readers, Tx, apply, check_history, migrations, statements, unavailable,
    },
};
use crate::domain::unit::Unit;

/// How long a read or a commit waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a daemon waits while another one migrates.
const MIGRATION_WAIT: Duration = Duration::from_secs(60);
const MIGRATION_POLL: Duration = Duration::from_millis(100);
/// How often a unit is tried again that lost a deadlock or a serialisation race.
const RACES_MAX: u32 = 5;
/// Names the migrations' lock; any fixed number that nothing else on the database uses.
const MIGRATION_LOCK: i64 = 0x7374_6174_6567_7561;

const TRY_LOCK: &str = "SELECT pg_try_advisory_xact_lock($1)";
/// A commit is durable when it is answered. Stronger settings of the server stay as they are.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

pub(crate) const MIGRATIONS: &[Migration] = migrations!("postgres":
    1 "0001_bundles", 2 "0002_sessions", 3 "0003_data", 4 "0004_actions", 5 "0005_questions", 6 "0006_entries");

/// Opens the database and brings its schema up to date.
pub(crate) async fn open(
    url: &str,
    password: Option<&SecretString>,
    connections: u32,
) -> Result<PgPool, StoreError> {
    let pool = connect(url, password, connections).await?;
    migrate(&pool).await.map_err(Fault::into_store_error)?;
    Ok(pool)
}

/// Opens the database only to read it; its schema must be the present one.
pub(crate) async fn open_to_read(
    url: &str,
    password: Option<&SecretString>,
) -> Result<Readers, StoreError> {
    let pool = connect(url, password, 2).await?;
    let mut connection = pool.acquire().await.map_err(|e| cannot_open(&e))?;
    let found = history(&mut connection).await.map_err(Fault::into_store_error)?;
    drop(connection);
    if check_history(&found, MIGRATIONS)?.is_empty() {
        Ok(Readers::Postgres(pool))
    } else {
        Err(unavailable("the schema is older than this program; start the daemon on it once"))
    }
}

/// Applies one unit: all of it or nothing. A unit that lost a deadlock changed nothing and runs again.
pub(crate) async fn commit(pool: &PgPool, unit: &Unit) -> Result<(), Fault> {
    let mut races = 0;
    loop {
        match commit_once(pool, unit).await {
            Err(fault) if fault.lost_a_race() && races < RACES_MAX => races += 1,
            answer => return answer,
        }
    }
}

async fn commit_once(pool: &PgPool, unit: &Unit) -> Result<(), Fault> {
    let mut tx = pool.begin().await.map_err(|error| Fault::sql("none", error))?;
    match apply(&mut Tx::Postgres(&mut tx), unit).await {
        Ok(()) => tx.commit().await.map_err(|error| Fault::sql("none", error)),
        Err(fault) => {
            // The connection rolls back by itself if this fails.
            let _ = tx.rollback().await;
            Err(fault)
        }
    }
}

async fn connect(
    url: &str,
    password: Option<&SecretString>,
    connections: u32,
) -> Result<PgPool, StoreError> {
    let mut options = PgConnectOptions::from_str(url)
        .map_err(|_| unavailable("the address of the store is not a postgres:// address"))?
        .application_name("stateguard")
        .options([
            ("default_transaction_isolation", "read committed"),
            ("statement_timeout", "15s"),
            ("lock_timeout", "10s"),
            ("idle_in_transaction_session_timeout", "15s"),
        ]);
    if let Some(password) = password {
        options = options.password(password.expose_secret());
    }
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| {
            Box::pin(async move { connection.execute(DURABLE).await.map(drop) })
        })
        .connect_with(options)
        .await
        .map_err(|error| cannot_open(&error))
}

fn cannot_open(error: &sqlx::Error) -> StoreError {
    StoreError::Unavailable(format!("cannot connect to PostgreSQL: {error}"))
}

/// One transaction for all that is missing, under a lock that is tried again and again: a lock that is waited for would
/// stand in line before every other statement.
async fn migrate(pool: &PgPool) -> Result<(), Fault> {
    let fault = |error| Fault::sql("schema_version", error);
    let mut waited = Duration::ZERO;
    loop {
        let mut tx = pool.begin().await.map_err(fault)?;
        let alone: bool = sqlx::query_scalar(TRY_LOCK)
            .bind(MIGRATION_LOCK)
            .fetch_one(&mut *tx)
            .await
            .map_err(fault)?;
        if alone {
            apply_missing(&mut tx).await?;
            return tx.commit().await.map_err(fault);
        }
        tx.rollback().await.map_err(fault)?;
        if waited >= MIGRATION_WAIT {
            return Err(unavailable("another program has been migrating for a minute").into());
        }
        tokio::time::sleep(MIGRATION_POLL).await;
        waited += MIGRATION_POLL;
    }
}

async fn apply_missing(connection: &mut PgConnection) -> Result<(), Fault> {
    let fault = |error| Fault::sql("schema_version", error);
    connection.execute("SET LOCAL statement_timeout = 0").await.map_err(fault)?;
    sqlx::raw_sql(statements::MAKE_HISTORY).execute(&mut *connection).await.map_err(fault)?;
    let found = history(connection).await?;
    for migration in check_history(&found, MIGRATIONS)? {
        sqlx::raw_sql(migration.text).execute(&mut *connection).await.map_err(fault)?;
        sqlx::query(statements::ADD_TO_HISTORY)
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.checksum())
            .execute(&mut *connection)
            .await
            .map_err(fault)?;
    }
    Ok(())
}

async fn history(connection: &mut PgConnection) -> Result<Vec<(i64, String, String)>, Fault> {
    let fault = |error| Fault::sql("schema_version", error);
    let made: i64 = sqlx::query_scalar(statements::HAS_HISTORY.postgres)
        .fetch_one(&mut *connection)
        .await
        .map_err(fault)?;
    if made == 0 {
        return Ok(Vec::new());
    }
    sqlx::query_as(statements::HISTORY).fetch_all(connection).await.map_err(fault)
}
