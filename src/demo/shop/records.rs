//! Owns: the shapes that the shop's API takes and answers.
//! Must not know: SQL statements, HTTP.
//! Start reading at: `Order`.

use serde::{Deserialize, Serialize};

/// One order as `GET /v1/orders/{id}` answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub(super) struct Order {
    pub(super) order_id: String,
    pub(super) customer_id: String,
    pub(super) status: String,
    pub(super) total_cents: i64,
    pub(super) refundable_cents: i64,
    pub(super) currency: String,
    /// Free text that the customer can write.
    pub(super) delivery_note: String,
    pub(super) version: i64,
}

/// One refund as `GET /v1/refunds` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub(super) struct Refund {
    pub(super) refund_id: String,
    pub(super) order_id: String,
    pub(super) amount_cents: i64,
    pub(super) currency: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) created_at: String,
}

/// What `POST /v1/refunds` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RefundAnswer {
    pub(super) refund_id: String,
    pub(super) order_id: String,
    pub(super) amount_cents: i64,
    pub(super) currency: String,
    pub(super) status: String,
}

/// One case note as `GET /v1/notes` lists it and `POST /v1/notes` answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub(super) struct Note {
    pub(super) note_id: String,
    pub(super) order_id: String,
    pub(super) text: String,
    pub(super) created_at: String,
}

/// A list answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Items<T> {
    pub(super) items: Vec<T>,
}

/// The body of `POST /v1/refunds`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefundWanted {
    pub(super) order_id: String,
    pub(super) reason: String,
    /// What the caller thinks will be paid; another sum than the shop's is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expected_cents: Option<i64>,
}

/// The body of `POST /v1/notes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteWanted {
    pub(super) order_id: String,
    pub(super) text: String,
}
