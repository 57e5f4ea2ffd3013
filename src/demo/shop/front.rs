//! Owns: what stands before every endpoint: the access log, the API key, and the playing of faults.
//! Must not know: what an endpoint does.
//! Start reading at: `front`.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Response},
};
use futures::stream;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use super::{
    database::Database,
    faults::{Faults, Mode},
    line::Line,
    routes::{self, error},
};

/// The longest answer that a fault rewrites, in bytes.
const MAX_REWRITTEN_BYTES: usize = 1 << 20;

/// The page of a proxy whose session ran out.
const SIGN_IN: &str = "<!doctype html><html><head><title>Sign in</title></head>\
    <body><form><input name=\"user\"><input name=\"password\" type=\"password\"></form></body></html>";

/// Marks a request whose answer is to be a lie: nothing is written, or so many cents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lie(pub(super) Option<i64>);

/// What the front needs.
#[derive(Clone)]
pub(super) struct ShopState {
    database: Database,
    faults: Faults,
    api_key: Vec<u8>,
}

impl ShopState {
    pub(super) fn new(database: Database, faults: Faults, api_key: &str) -> Self {
        Self { database, faults, api_key: api_key.as_bytes().to_vec() }
    }

    fn admits(&self, request: &Request) -> bool {
        let given = request.headers().get("x-api-key").map(HeaderValue::as_bytes);
        given.is_some_and(|key| bool::from(key.ct_eq(&self.api_key)))
    }
}

/// The shop's endpoints with everything that stands before them.
pub(super) fn app(state: ShopState) -> Router {
    routes::router(state.database.clone()).layer(from_fn_with_state(state, front))
}

/// Logs the request, checks its key, plays a fault if one is set, and notes the status.
async fn front(
    State(shop): State<ShopState>,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let path = request.uri().path_and_query().map_or_else(String::new, ToString::to_string);
    let key = request.headers().get("idempotency-key").and_then(|k| k.to_str().ok());
    let key = key.map(str::to_owned);
    let Ok(number) = shop.database.log_request(method.as_str(), &path, key.as_deref()).await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the shop failed");
    };
    let answer = if shop.admits(&request) {
        let fault = shop.faults.take(request.method(), request.uri().path());
        play(fault, &line, request, next).await
    } else {
        Some(error(StatusCode::UNAUTHORIZED, "unauthorized", "`X-Api-Key` is missing or wrong"))
    };
    let Some(answer) = answer else {
        line.drop_it();
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    match shop.database.log_status(number, answer.status().as_u16()).await {
        Ok(()) => answer,
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the shop failed"),
    }
}

/// The answer with the fault in it; nothing when the connection is to end without a byte.
async fn play(
    fault: Option<Mode>,
    line: &Line,
    mut request: Request,
    next: Next,
) -> Option<Response> {
    let Some(fault) = fault else { return Some(next.run(request).await) };
    match fault {
        Mode::Html200 => Some(Html(SIGN_IN).into_response()),
        Mode::Status(code) => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            Some(error(status, "fault", "a fault is set"))
        }
        Mode::Down => None,
        Mode::ActThenHang => {
            next.run(request).await;
            std::future::pending().await
        }
        Mode::Delay(time) => {
            let answer = next.run(request).await;
            tokio::time::sleep(time).await;
            Some(answer)
        }
        Mode::Lie(lie) => {
            request.extensions_mut().insert(Lie(lie));
            Some(next.run(request).await)
        }
        Mode::Cut(bytes) => Some(cut(next.run(request).await, bytes, line).await),
        Mode::DuplicateKey => Some(rewrite(next.run(request).await, repeat_first_name).await),
        Mode::WrongTotal => Some(rewrite(next.run(request).await, change_money).await),
    }
}

/// Promises the whole length and ends the connection after `bytes` of it.
async fn cut(answer: Response, bytes: usize, line: &Line) -> Response {
    let (mut parts, body) = answer.into_parts();
    let whole = axum::body::to_bytes(body, MAX_REWRITTEN_BYTES).await.unwrap_or_default();
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let head = whole.slice(..bytes.min(whole.len()));
    let line = line.clone();
    let tail = stream::once(async move {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        line.drop_it();
        Err::<Bytes, std::io::Error>(std::io::ErrorKind::ConnectionReset.into())
    });
    let body = futures::StreamExt::chain(stream::once(async move { Ok(head) }), tail);
    Response::from_parts(parts, Body::from_stream(body))
}

async fn rewrite(answer: Response, change: fn(&str) -> Option<String>) -> Response {
    let (mut parts, body) = answer.into_parts();
    let whole = axum::body::to_bytes(body, MAX_REWRITTEN_BYTES).await.unwrap_or_default();
    let changed = std::str::from_utf8(&whole).ok().and_then(change);
    parts.headers.remove(header::CONTENT_LENGTH);
    match changed {
        Some(text) => Response::from_parts(parts, Body::from(text)),
        None => Response::from_parts(parts, Body::from(whole)),
    }
}

/// `{"a":1}` becomes `{"a":null,"a":1}`.
fn repeat_first_name(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let name = Value::from(value.as_object()?.keys().next()?.as_str());
    Some(format!("{{{name}:null,{}", text.strip_prefix('{')?))
}

/// Every sum of money in the answer is ten times too large.
fn change_money(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    enlarge(&mut value);
    Some(value.to_string())
}

fn enlarge(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        for (name, member) in object.iter_mut() {
            match member.as_i64() {
                Some(cents) if matches!(name.as_str(), "amount_cents" | "refundable_cents") => {
                    *member = Value::from(cents.saturating_mul(10));
                }
                Some(_) | None => enlarge(member),
            }
        }
    } else if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(enlarge);
    }
}
