//! Owns: what the shop does: orders, refunds under an idempotency key, notes, the mailbox.
//! Must not know: HTTP statuses, faults (except that a lie may be told about a refund).
//! Start reading at: `refund`.

use sha2::{Digest as _, Sha256};
use sqlx::{Sqlite, Transaction};

use super::{
    database::Database,
    records::{Note, NoteWanted, Order, Refund, RefundAnswer, RefundWanted},
};

const ORDER: &str = "SELECT order_id, customer_id, status, total_cents, refundable_cents, currency,
    delivery_note, version FROM orders WHERE order_id = $1";
const REFUNDS: &str =
    "SELECT refund_id, order_id, amount_cents, currency, status, reason, created_at
    FROM refunds WHERE ($1 IS NULL OR order_id = $1) AND ($2 IS NULL OR request_key = $2)
    ORDER BY refund_id LIMIT 200";
const NEXT_REFUND: &str =
    "SELECT COALESCE(MAX(CAST(substr(refund_id, 4) AS INTEGER)), 1000) + 1 FROM refunds";
const TAKE_MONEY: &str =
    "UPDATE orders SET refundable_cents = refundable_cents - $2, version = version + 1
    WHERE order_id = $1 AND refundable_cents >= $2";
const PUT_REFUND: &str = "INSERT INTO refunds
    (refund_id, order_id, amount_cents, currency, reason, status, request_key, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))";
const PAID_HOW: &str =
    "SELECT method FROM payments WHERE order_id = $1 ORDER BY payment_id LIMIT 1";
const NOTES: &str = "SELECT note_id, order_id, text, created_at FROM notes
    WHERE ($1 IS NULL OR order_id = $1) AND ($2 IS NULL OR request_key = $2)
    ORDER BY note_id LIMIT 200";
const NEXT_NOTE: &str =
    "SELECT COALESCE(MAX(CAST(substr(note_id, 4) AS INTEGER)), 1000) + 1 FROM notes";
const PUT_NOTE: &str = "INSERT INTO notes (note_id, order_id, text, request_key, created_at)
    VALUES ($1, $2, $3, $4, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    RETURNING note_id, order_id, text, created_at";
const MAIL: &str = "SELECT raw FROM mailbox WHERE mail_id = $1";
const MAILS: &str = "SELECT mail_id FROM mailbox ORDER BY received_at, mail_id LIMIT 1000";
const STORED: &str =
    "SELECT body_digest, answer FROM stored_answers WHERE endpoint = $1 AND request_key = $2";
const STORE: &str = "INSERT INTO stored_answers (endpoint, request_key, body_digest, answer)
    VALUES ($1, $2, $3, $4)";

/// Why the shop does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// There is no such record.
    #[error("no such record")]
    Unknown,
    /// The order is cancelled, or nothing of it is left to pay back.
    #[error("this order cannot be refunded")]
    NotEligible,
    /// The caller expected another sum.
    #[error("the refundable amount is another")]
    AmountChanged,
    /// The key was used with another body.
    #[error("this idempotency key was used for another request")]
    KeyReused,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// An answer could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What happened to a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done {
    /// It was done now.
    Now(String),
    /// It had been done; this is the stored answer.
    Before(String),
}

/// One order.
pub(super) async fn order(db: &Database, id: &str) -> Result<Order, Refused> {
    sqlx::query_as(ORDER).bind(id).fetch_optional(db.pool()).await?.ok_or(Refused::Unknown)
}

/// The refunds of an order, or of a request key, or both.
pub(super) async fn refunds(
    db: &Database,
    order_id: Option<&str>,
    request_key: Option<&str>,
) -> Result<Vec<Refund>, Refused> {
    Ok(sqlx::query_as(REFUNDS).bind(order_id).bind(request_key).fetch_all(db.pool()).await?)
}

/// Pays back what is refundable of an order, once per key.
///
/// `lie` is the fault: the answer is the honest one, but nothing is written, or only so many cents.
pub(super) async fn refund(
    db: &Database,
    key: &str,
    wanted: &RefundWanted,
    lie: Option<Option<i64>>,
) -> Result<Done, Refused> {
    let digest = digest(wanted)?;
    let mut tx = db.write().await?;
    if let Some(stored) = stored(&mut tx, "refunds", key, &digest).await? {
        return Ok(Done::Before(stored));
    }
    let order: Order = sqlx::query_as(ORDER)
        .bind(&wanted.order_id)
        .fetch_optional(&mut *tx)
        .await?
        .ok_or(Refused::Unknown)?;
    if order.status == "cancelled" || order.refundable_cents == 0 {
        return Err(Refused::NotEligible);
    }
    if wanted.expected_cents.is_some_and(|cents| cents != order.refundable_cents) {
        return Err(Refused::AmountChanged);
    }
    let answer = answer_for(&mut tx, &order).await?;
    let text = serde_json::to_string(&answer)?;
    match lie {
        Some(None) => return Ok(Done::Now(text)),
        Some(Some(cents)) => write_refund(&mut tx, &answer, cents, &wanted.reason, key).await?,
        None => write_refund(&mut tx, &answer, answer.amount_cents, &wanted.reason, key).await?,
    }
    store(&mut tx, "refunds", key, &digest, &text).await?;
    tx.commit().await?;
    Ok(Done::Now(text))
}

/// A card is paid back at once, a bank transfer is only ordered.
async fn answer_for(
    tx: &mut Transaction<'static, Sqlite>,
    order: &Order,
) -> Result<RefundAnswer, Refused> {
    let number: i64 = sqlx::query_scalar(NEXT_REFUND).fetch_one(&mut **tx).await?;
    let method: Option<String> =
        sqlx::query_scalar(PAID_HOW).bind(&order.order_id).fetch_optional(&mut **tx).await?;
    let status = if method.as_deref() == Some("bank_transfer") { "pending" } else { "paid" };
    Ok(RefundAnswer {
        refund_id: format!("rf_{number}"),
        order_id: order.order_id.clone(),
        amount_cents: order.refundable_cents,
        currency: order.currency.clone(),
        status: status.to_owned(),
    })
}

async fn write_refund(
    tx: &mut Transaction<'static, Sqlite>,
    answer: &RefundAnswer,
    cents: i64,
    reason: &str,
    key: &str,
) -> Result<(), Refused> {
    let taken =
        sqlx::query(TAKE_MONEY).bind(&answer.order_id).bind(cents).execute(&mut **tx).await?;
    if taken.rows_affected() != 1 {
        return Err(Refused::NotEligible);
    }
    sqlx::query(PUT_REFUND)
        .bind(&answer.refund_id)
        .bind(&answer.order_id)
        .bind(cents)
        .bind(&answer.currency)
        .bind(reason)
        .bind(&answer.status)
        .bind(key)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The notes of an order, or of a request key, or both.
pub(super) async fn notes(
    db: &Database,
    order_id: Option<&str>,
    request_key: Option<&str>,
) -> Result<Vec<Note>, Refused> {
    Ok(sqlx::query_as(NOTES).bind(order_id).bind(request_key).fetch_all(db.pool()).await?)
}

/// Writes a note at an order; with a key only once.
pub(super) async fn add_note(
    db: &Database,
    key: Option<&str>,
    wanted: &NoteWanted,
) -> Result<Done, Refused> {
    let digest = digest(wanted)?;
    let mut tx = db.write().await?;
    if let Some(key) = key
        && let Some(stored) = stored(&mut tx, "notes", key, &digest).await?
    {
        return Ok(Done::Before(stored));
    }
    let order: Option<Order> =
        sqlx::query_as(ORDER).bind(&wanted.order_id).fetch_optional(&mut *tx).await?;
    if order.is_none() {
        return Err(Refused::Unknown);
    }
    let number: i64 = sqlx::query_scalar(NEXT_NOTE).fetch_one(&mut *tx).await?;
    let note: Note = sqlx::query_as(PUT_NOTE)
        .bind(format!("nt_{number}"))
        .bind(&wanted.order_id)
        .bind(&wanted.text)
        .bind(key)
        .fetch_one(&mut *tx)
        .await?;
    let text = serde_json::to_string(&note)?;
    if let Some(key) = key {
        store(&mut tx, "notes", key, &digest, &text).await?;
    }
    tx.commit().await?;
    Ok(Done::Now(text))
}

/// The bytes of a mail.
pub(super) async fn mail(db: &Database, id: &str) -> Result<Vec<u8>, Refused> {
    sqlx::query_scalar(MAIL).bind(id).fetch_optional(db.pool()).await?.ok_or(Refused::Unknown)
}

/// The ids of the mails, oldest first.
pub(super) async fn mails(db: &Database) -> Result<Vec<String>, Refused> {
    Ok(sqlx::query_scalar(MAILS).fetch_all(db.pool()).await?)
}

fn digest<T: serde::Serialize>(body: &T) -> Result<String, Refused> {
    Ok(hex::encode(Sha256::digest(serde_json::to_vec(body)?)))
}

async fn stored(
    tx: &mut Transaction<'static, Sqlite>,
    endpoint: &str,
    key: &str,
    digest: &str,
) -> Result<Option<String>, Refused> {
    let row: Option<(String, String)> =
        sqlx::query_as(STORED).bind(endpoint).bind(key).fetch_optional(&mut **tx).await?;
    match row {
        None => Ok(None),
        Some((stored, answer)) if stored == digest => Ok(Some(answer)),
        Some(_) => Err(Refused::KeyReused),
    }
}

async fn store(
    tx: &mut Transaction<'static, Sqlite>,
    endpoint: &str,
    key: &str,
    digest: &str,
    answer: &str,
) -> Result<(), Refused> {
    sqlx::query(STORE)
        .bind(endpoint)
        .bind(key)
        .bind(digest)
        .bind(answer)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
