//! Owns: what the two backends share: statements, rows, reads, the application of a unit.
//! Must not know: how a database is opened, migrated, locked.
//! Start reading at: `apply.rs`, then `read.rs`.

mod apply;
mod backend;
mod fault;
mod migrate;
mod read;
mod rows;
pub(super) mod statements;

pub(crate) use apply::{Tx, apply};
pub(crate) use backend::SqlStore;
pub(crate) use fault::{Fault, unavailable};
pub(crate) use migrate::{Migration, check_history, migrations};

use sqlx::{PgPool, SqlitePool};

/// The pool that reads go to.
#[derive(Debug, Clone)]
pub(crate) enum Readers {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// Runs one statement on a transaction; answers the rows it touched.
macro_rules! execute {
    ($tx:expr, $table:literal, $sql:expr, [$($bind:expr),* $(,)?]) => {
        match $tx {
            $crate::store::sql::Tx::Postgres(c) => sqlx::query($sql.postgres)$(.bind($bind))*
                .execute(&mut **c).await.map(|done| done.rows_affected()),
            $crate::store::sql::Tx::Sqlite(c) => sqlx::query($sql.sqlite)$(.bind($bind))*
                .execute(&mut **c).await.map(|done| done.rows_affected()),
        }
        .map_err(|error| $crate::store::sql::Fault::sql($table, error))
    };
}

/// Reads at most one scalar on a transaction.
macro_rules! scalar {
    ($tx:expr, $ty:ty, $table:literal, $sql:expr, [$($bind:expr),* $(,)?]) => {
        match $tx {
            $crate::store::sql::Tx::Postgres(c) => sqlx::query_scalar::<_, $ty>($sql.postgres)$(.bind($bind))*
                .fetch_optional(&mut **c).await,
            $crate::store::sql::Tx::Sqlite(c) => sqlx::query_scalar::<_, $ty>($sql.sqlite)$(.bind($bind))*
                .fetch_optional(&mut **c).await,
        }
        .map_err(|error| $crate::store::sql::Fault::sql($table, error))
    };
}

/// Reads rows from the pool.
macro_rules! fetch {
    ($readers:expr, $row:ty, $table:literal, $sql:expr, [$($bind:expr),* $(,)?]) => {
        match $readers {
            $crate::store::sql::Readers::Postgres(pool) => sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*
                .fetch_all(pool).await,
            $crate::store::sql::Readers::Sqlite(pool) => sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*
                .fetch_all(pool).await,
        }
        .map_err(|error| $crate::store::sql::Fault::sql($table, error).into_store_error())
    };
}

pub(crate) use {execute, fetch, scalar};
