//! Start, and the order of the end: no new calls, open calls and roads to their end, then the rest.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde::Serialize;
use tokio::{
    net::TcpListener,
    task::{JoinError, JoinHandle},
};
use tokio_util::sync::CancellationToken;

use super::{alone, background, error::DaemonError, probes::DaemonProbes, seam::Seam, wiring};
use crate::{
    api::{grpc, http},
    app::App,
    config::{Config, Environment, Mode},
    store::Address,
    telemetry::metrics,
};

/// How long roads that have begun may take after the daemon was asked to stop.
const ROADS_PATIENCE: Duration = Duration::from_secs(60);
/// How long open calls may take to leave after the last road ended.
const CALLS_PATIENCE: Duration = Duration::from_secs(5);

/// What a daemon says when it is ready, as one JSON line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listening {
    /// Where the API is.
    pub grpc: SocketAddr,
    /// Where health and metrics are.
    pub http: SocketAddr,
    /// The bundle: `name@version`.
    pub bundle: String,
    /// Its digest.
    pub bundle_digest: String,
    /// `sqlite` or `postgres`.
    pub store: &'static str,
    /// `production` or `dev`.
    pub mode: Mode,
}

/// Runs a daemon until `stop`; `announce` is called once it serves.
///
/// # Errors
/// When it cannot start, or a listener fails.
pub async fn run(
    config: &Config,
    environment: &Environment,
    seam: Seam,
    stop: CancellationToken,
    announce: impl FnOnce(&Listening),
) -> Result<(), DaemonError> {
    let metrics = metrics::install();
    let alone = match Address::parse(&config.store.url)? {
        Address::Sqlite(path) => Some(alone::claim(path)?),
        Address::Postgres(_) => None,
    };
    let is_sqlite = alone.is_some();
    let parts = wiring::parts(config, environment, &seam).await?;
    let (grpc_listener, grpc) = listen(config.grpc.listen).await?;
    let (http_listener, http) = listen(config.http.listen).await?;
    let listening = Listening {
        grpc,
        http,
        bundle: format!("{}@{}", parts.bundle.name, parts.bundle.version),
        bundle_digest: parts.bundle.digest.to_string(),
        store: if is_sqlite { "sqlite" } else { "postgres" },
        mode: config.mode,
    };
    let store = Arc::clone(&parts.store);
    let probes = DaemonProbes { store: Arc::clone(&store), stop: stop.clone(), metrics };
    let app = App::new(parts);
    let routes = grpc::routes(app.clone(), config.grpc.max_message_bytes);
    let http_stop = CancellationToken::new();
    let mut running = Running {
        calls: tokio::spawn(grpc::serve(grpc_listener, routes, stop.clone())),
        health: tokio::spawn(http::serve(http_listener, Arc::new(probes), http_stop.clone())),
        background: tokio::spawn(background::run(app.clone(), is_sqlite, stop.clone())),
    };
    announce(&listening);
    tracing::info!(%grpc, %http, bundle = listening.bundle, "serving");
    let failed = running.until(&stop).await;
    stop.cancel();
    running.end(&app, http_stop).await;
    store.close().await;
    drop(alone);
    tracing::info!("stopped");
    failed.map_or(Ok(()), |why| Err(DaemonError::Serve(why)))
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), DaemonError> {
    let refuse = |error: std::io::Error| DaemonError::Listen {
        address: address.to_string(),
        why: error.to_string(),
    };
    let listener = TcpListener::bind(address).await.map_err(refuse)?;
    let bound = listener.local_addr().map_err(refuse)?;
    Ok((listener, bound))
}

struct Running {
    calls: JoinHandle<Result<(), grpc::ServeError>>,
    health: JoinHandle<std::io::Result<()>>,
    background: JoinHandle<()>,
}

impl Running {
    /// Waits for `stop`, or for a part that ended although nobody asked it to.
    async fn until(&mut self, stop: &CancellationToken) -> Option<String> {
        tokio::select! {
            // First, because a part that was asked to end may end at the same moment.
            biased;
            () = stop.cancelled() => None,
            ended = &mut self.calls => Some(why(ended, "the API")),
            ended = &mut self.health => Some(why(ended, "the health port")),
            ended = &mut self.background => Some(match ended {
                Ok(()) => "background work ended by itself".to_owned(),
                Err(error) => format!("background work failed: {error}"),
            }),
        }
    }

    /// The listener takes no new call from `stop` on. A dispatched write is never aborted, so roads come first.
    async fn end(self, app: &App, http_stop: CancellationToken) {
        let left = app.finish_roads(ROADS_PATIENCE).await;
        if left > 0 {
            tracing::error!(
                left,
                "roads did not end in time; what they sent is looked for at the next start"
            );
        }
        if !self.calls.is_finished()
            && tokio::time::timeout(CALLS_PATIENCE, self.calls).await.is_err()
        {
            tracing::warn!("some calls did not leave in time");
        }
        self.background.abort();
        http_stop.cancel();
        if !self.health.is_finished() {
            let _ = tokio::time::timeout(CALLS_PATIENCE, self.health).await;
        }
    }
}

fn why<E: std::fmt::Display>(ended: Result<Result<(), E>, JoinError>, what: &str) -> String {
    match ended {
        Ok(Ok(())) => format!("{what} ended by itself"),
        Ok(Err(error)) => error.to_string(),
        Err(error) => format!("{what} failed: {error}"),
    }
}
