//! Owns: the shop's endpoints and what they answer.
//! Must not know: faults, the access log; `front.rs` stands before every route.
//! Start reading at: `router`.

use axum::{
    Json, Router,
    extract::{Extension, Path, Query, State, rejection::JsonRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    database::Database,
    front::Lie,
    orders::{self, Done, Refused},
    records::{Items, Note, NoteWanted, Order, Refund, RefundWanted},
};

/// The endpoints of the shop, without key check, log and faults.
pub(super) fn router(database: Database) -> Router {
    Router::new()
        .route("/v1/mails", get(list_mails))
        .route("/v1/mails/{id}", get(mail))
        .route("/v1/orders/{id}", get(order))
        .route("/v1/refunds", get(refunds).post(refund))
        .route("/v1/notes", get(notes).post(add_note))
        .fallback(async || error(StatusCode::NOT_FOUND, "not_found", "no such endpoint"))
        .with_state(database)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    order_id: Option<String>,
    request_key: Option<String>,
}

impl Wanted {
    fn check(&self) -> Result<(), Problem> {
        if self.order_id.is_none() && self.request_key.is_none() {
            return Err(Problem::Request("give `order_id` or `request_key`"));
        }
        Ok(())
    }
}

async fn list_mails(State(db): State<Database>) -> Result<Json<Items<String>>, Problem> {
    Ok(Json(Items { items: orders::mails(&db).await? }))
}

async fn mail(State(db): State<Database>, Path(id): Path<String>) -> Result<Response, Problem> {
    let raw = orders::mail(&db, &id).await?;
    Ok(([(header::CONTENT_TYPE, "message/rfc822")], raw).into_response())
}

async fn order(State(db): State<Database>, Path(id): Path<String>) -> Result<Json<Order>, Problem> {
    Ok(Json(orders::order(&db, &id).await?))
}

async fn refunds(
    State(db): State<Database>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Items<Refund>>, Problem> {
    wanted.check()?;
    let items =
        orders::refunds(&db, wanted.order_id.as_deref(), wanted.request_key.as_deref()).await?;
    Ok(Json(Items { items }))
}

async fn refund(
    State(db): State<Database>,
    lie: Option<Extension<Lie>>,
    headers: HeaderMap,
    body: Result<Json<RefundWanted>, JsonRejection>,
) -> Result<Response, Problem> {
    let key = key(&headers)?.ok_or(Problem::Request("`Idempotency-Key` is missing"))?;
    let Json(wanted) = body.map_err(|_| Problem::Request("the body is not a refund request"))?;
    let done = orders::refund(&db, &key, &wanted, lie.map(|Extension(Lie(lie))| lie)).await?;
    Ok(answer(done))
}

async fn notes(
    State(db): State<Database>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Items<Note>>, Problem> {
    wanted.check()?;
    let items =
        orders::notes(&db, wanted.order_id.as_deref(), wanted.request_key.as_deref()).await?;
    Ok(Json(Items { items }))
}

async fn add_note(
    State(db): State<Database>,
    headers: HeaderMap,
    body: Result<Json<NoteWanted>, JsonRejection>,
) -> Result<Response, Problem> {
    let key = key(&headers)?;
    let Json(wanted) = body.map_err(|_| Problem::Request("the body is not a note"))?;
    Ok(answer(orders::add_note(&db, key.as_deref(), &wanted).await?))
}

/// The idempotency key, if one was sent; it must be one header of 1 to 255 printable characters.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut sent = headers.get_all("idempotency-key").iter();
    let Some(first) = sent.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or_default().trim_matches('"');
    if sent.next().is_some() || text.is_empty() || text.len() > 255 {
        return Err(Problem::Request("`Idempotency-Key` must be one value of 1 to 255 characters"));
    }
    Ok(Some(text.to_owned()))
}

/// 201 for what was done now, 200 for the stored answer.
fn answer(done: Done) -> Response {
    let (status, text) = match done {
        Done::Now(text) => (StatusCode::CREATED, text),
        Done::Before(text) => (StatusCode::OK, text),
    };
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// What an endpoint cannot do.
#[derive(Debug)]
enum Problem {
    Request(&'static str),
    Refused(Refused),
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let refused = match self {
            Self::Request(text) => return error(StatusCode::BAD_REQUEST, "bad_request", text),
            Self::Refused(refused) => refused,
        };
        let (status, code) = match &refused {
            Refused::Unknown => (StatusCode::NOT_FOUND, "not_found"),
            Refused::NotEligible => (StatusCode::CONFLICT, "not_eligible"),
            Refused::AmountChanged => (StatusCode::CONFLICT, "amount_changed"),
            Refused::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Refused::Database(_) | Refused::Json(_) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the shop failed");
            }
        };
        error(status, code, &refused.to_string())
    }
}

/// An error answer: `{"error": {"code", "message"}}`.
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({"error": {"code": code, "message": message}}))).into_response()
}
