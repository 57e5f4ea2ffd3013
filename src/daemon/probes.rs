//! What the daemon knows of itself.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{api::http::Probes, store::Store, telemetry::metrics::Handle};

/// See [`Probes`].
#[derive(Debug)]
pub(super) struct DaemonProbes {
    pub(super) store: Arc<dyn Store>,
    pub(super) stop: CancellationToken,
    pub(super) metrics: Handle,
}

#[async_trait]
impl Probes for DaemonProbes {
    async fn ready(&self) -> Result<(), &'static str> {
        if self.stop.is_cancelled() {
            return Err("stopping");
        }
        self.store.ping().await.map_err(|error| {
            tracing::warn!(%error, "the store does not answer");
            "store"
        })
    }

    fn metrics(&self) -> String {
        self.metrics.render()
    }
}
