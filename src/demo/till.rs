//! The shop's own database, read-only and past the daemon: what really happened.

use std::path::Path;

use serde::Serialize;
use sqlx::{FromRow, SqlitePool, sqlite::SqliteConnectOptions};

const REFUNDS: &str = "SELECT refund_id, order_id, amount_cents, currency, status FROM refunds
    WHERE request_key NOT LIKE 'seed-%' ORDER BY refund_id";
const NOTES: &str = "SELECT note_id, order_id, text FROM notes ORDER BY note_id";
const REQUESTS: &str =
    "SELECT method, path, idempotency_key, status FROM requests ORDER BY request_id";
const CUSTOMER: &str = "SELECT customer_id FROM customers WHERE lower(email) = lower($1)";

/// A refund that was made while the story was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromRow)]
pub(crate) struct Refund {
    pub(crate) refund_id: String,
    pub(crate) order_id: String,
    pub(crate) amount_cents: i64,
    pub(crate) currency: String,
    pub(crate) status: String,
}

/// A case note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromRow)]
pub(crate) struct Note {
    pub(crate) note_id: String,
    pub(crate) order_id: String,
    pub(crate) text: String,
}

/// One line of the access log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromRow)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) status: Option<i64>,
}

/// Everything that a story leaves behind in the shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    pub(crate) refunds: Vec<Refund>,
    pub(crate) notes: Vec<Note>,
    pub(crate) requests: Vec<Request>,
}

impl Found {
    /// How often this was asked of the shop.
    pub(crate) fn asked(&self, method: &str, path: &str) -> usize {
        self.requests.iter().filter(|r| r.method == method && r.path == path).count()
    }

    /// Whether a request stands in the log after another.
    pub(crate) fn asked_after(&self, first: (&str, &str), then: (&str, &str)) -> bool {
        let is = |request: &Request, (method, path): (&str, &str)| {
            request.method == method && request.path == path
        };
        let at = self.requests.iter().position(|request| is(request, first));
        at.is_some_and(|at| self.requests.iter().skip(at + 1).any(|request| is(request, then)))
    }
}

/// A read-only connection to the shop's file.
#[derive(Debug)]
pub(crate) struct Till {
    pool: SqlitePool,
}

impl Till {
    pub(crate) async fn open(path: &Path) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        Ok(Self { pool: SqlitePool::connect_with(options).await? })
    }

    /// What stands there now.
    pub(crate) async fn look(&self) -> Result<Found, sqlx::Error> {
        Ok(Found {
            refunds: sqlx::query_as(REFUNDS).fetch_all(&self.pool).await?,
            notes: sqlx::query_as(NOTES).fetch_all(&self.pool).await?,
            requests: sqlx::query_as(REQUESTS).fetch_all(&self.pool).await?,
        })
    }

    /// The customer with this address.
    pub(crate) async fn customer(&self, email: &str) -> Result<Option<String>, sqlx::Error> {
        sqlx::query_scalar(CUSTOMER).bind(email).fetch_optional(&self.pool).await
    }
}
