//! Owns: the shop's SQLite file: its tables, its pool, its access log.
//! Must not know: HTTP.
//! Start reading at: `TABLES`.

use std::{path::Path, str::FromStr as _, time::Duration};

use sqlx::{
    Sqlite, SqlitePool, Transaction,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};

/// The tables. Money is in cents; `display_name` and `delivery_note` are written by customers.
const TABLES: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS customers (
        customer_id TEXT PRIMARY KEY,
        email TEXT NOT NULL,
        display_name TEXT NOT NULL
    ) STRICT",
    "CREATE TABLE IF NOT EXISTS orders (
        order_id TEXT PRIMARY KEY,
        customer_id TEXT NOT NULL REFERENCES customers (customer_id),
        status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'delivered', 'cancelled', 'closed')),
        total_cents INTEGER NOT NULL CHECK (total_cents >= 0),
        refundable_cents INTEGER NOT NULL CHECK (refundable_cents BETWEEN 0 AND total_cents),
        currency TEXT NOT NULL,
        delivery_note TEXT NOT NULL,
        version INTEGER NOT NULL
    ) STRICT",
    "CREATE TABLE IF NOT EXISTS payments (
        payment_id TEXT PRIMARY KEY,
        order_id TEXT NOT NULL REFERENCES orders (order_id),
        amount_cents INTEGER NOT NULL,
        currency TEXT NOT NULL,
        method TEXT NOT NULL CHECK (method IN ('card', 'bank_transfer')),
        status TEXT NOT NULL
    ) STRICT",
    "CREATE TABLE IF NOT EXISTS refunds (
        refund_id TEXT PRIMARY KEY,
        order_id TEXT NOT NULL REFERENCES orders (order_id),
        amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
        currency TEXT NOT NULL,
        reason TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('paid', 'pending', 'approval_required')),
        request_key TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL
    ) STRICT",
    "CREATE TABLE IF NOT EXISTS notes (
        note_id TEXT PRIMARY KEY,
        order_id TEXT NOT NULL REFERENCES orders (order_id),
        text TEXT NOT NULL,
        request_key TEXT UNIQUE,
        created_at TEXT NOT NULL
    ) STRICT",
    "CREATE TABLE IF NOT EXISTS mailbox (
        mail_id TEXT PRIMARY KEY,
        raw BLOB NOT NULL,
        received_at TEXT NOT NULL
    ) STRICT",
    // What was answered under an idempotency key, so that the same request gets the same answer.
    "CREATE TABLE IF NOT EXISTS stored_answers (
        endpoint TEXT NOT NULL,
        request_key TEXT NOT NULL,
        body_digest TEXT NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (endpoint, request_key)
    ) STRICT",
    // The access log; `status` stays NULL for a request that was never answered.
    "CREATE TABLE IF NOT EXISTS requests (
        request_id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        method TEXT NOT NULL,
        path TEXT NOT NULL,
        idempotency_key TEXT,
        status INTEGER
    ) STRICT",
];

const LOG_REQUEST: &str = "INSERT INTO requests (at, method, path, idempotency_key)
    VALUES (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), $1, $2, $3)";
const LOG_STATUS: &str = "UPDATE requests SET status = $2 WHERE request_id = $1";

/// The shop's database.
#[derive(Debug, Clone)]
pub(super) struct Database {
    pool: SqlitePool,
}

impl Database {
    /// Opens the file, creating it and its tables where they are missing.
    pub(super) async fn open(path: &Path) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::from_str("sqlite:")?
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
        for table in TABLES {
            sqlx::query(*table).execute(&pool).await?;
        }
        Ok(Self { pool })
    }

    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// A transaction that holds the write lock from its start.
    pub(super) async fn write(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        self.pool.begin_with("BEGIN IMMEDIATE").await
    }

    /// Notes that a request came in; the number is for [`Database::log_status`].
    pub(super) async fn log_request(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
    ) -> Result<i64, sqlx::Error> {
        let done =
            sqlx::query(LOG_REQUEST).bind(method).bind(path).bind(key).execute(&self.pool).await?;
        Ok(done.last_insert_rowid())
    }

    /// Notes what a request was answered with.
    pub(super) async fn log_status(&self, request: i64, status: u16) -> Result<(), sqlx::Error> {
        sqlx::query(LOG_STATUS).bind(request).bind(status).execute(&self.pool).await?;
        Ok(())
    }
}
