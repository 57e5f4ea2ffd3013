//! Owns: health and metrics over HTTP.
//! Must not know: store, hook, gateway, policy; what makes the daemon ready.
//! Start reading at: `mod.rs`.

use std::{fmt, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;

/// How long the question whether the daemon is ready may take.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// What the daemon knows of itself.
#[async_trait]
pub trait Probes: fmt::Debug + Send + Sync + 'static {
    /// Whether calls can be served; else the name of the part that is missing.
    async fn ready(&self) -> Result<(), &'static str>;

    /// All metrics in the text format of Prometheus.
    fn metrics(&self) -> String;
}

/// Serves until `stop`; open connections may end their request.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    probes: Arc<dyn Probes>,
    stop: CancellationToken,
) -> io::Result<()> {
    let router = router(probes, READY_TIMEOUT);
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
}

fn router(probes: Arc<dyn Probes>, patience: Duration) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(move |State(probes)| readyz(probes, patience)))
        .route("/metrics", get(metrics))
        .with_state(probes)
}

async fn readyz(probes: Arc<dyn Probes>, patience: Duration) -> Response {
    match timeout(patience, probes.ready()).await.unwrap_or(Err("timeout")) {
        Ok(()) => Json(json!({"ready": true})).into_response(),
        Err(part) => {
            let body = Json(json!({"ready": false, "missing": part}));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

async fn metrics(State(probes): State<Arc<dyn Probes>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, probes.metrics()).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::{body::Body, http::Request};
    use tower::ServiceExt;

    use super::*;

    #[derive(Debug, Default)]
    struct Known {
        ready: AtomicBool,
        hangs: bool,
    }

    #[async_trait]
    impl Probes for Known {
        async fn ready(&self) -> Result<(), &'static str> {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            if self.ready.load(Ordering::SeqCst) { Ok(()) } else { Err("store") }
        }

        fn metrics(&self) -> String {
            "stateguard_intents_total 1\n".to_owned()
        }
    }

    async fn get(probes: Known, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response =
            router(Arc::new(probes), Duration::from_millis(20)).oneshot(request).await.unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 4_096).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_live_daemon_says_so_ready_or_not() {
        assert_eq!(get(Known::default(), "/livez").await, (StatusCode::OK, "ok\n".to_owned()));
        let (status, body) = get(Known::default(), "/readyz").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(body.contains(r#""missing":"store""#), "{body}");
        let ready = Known { ready: true.into(), hangs: false };
        assert_eq!(get(ready, "/readyz").await.0, StatusCode::OK);
        assert!(get(Known::default(), "/metrics").await.1.contains("intents_total"));
        assert_eq!(get(Known::default(), "/other").await.0, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn a_part_that_does_not_answer_is_not_ready() {
        let (status, body) = get(Known { hangs: true, ..Known::default() }, "/readyz").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(body.contains("timeout"), "{body}");
    }
}
