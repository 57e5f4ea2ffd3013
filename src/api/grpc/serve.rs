//! The listener of the API: health, reflection, limits of time, and an end that lets calls finish.

use std::time::Duration;

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::{service::Routes, transport::Server};

use crate::{
    domain::limits,
    pb::{
        FILE_DESCRIPTORS,
        v1::{
            approval_service_server::ApprovalServiceServer,
            audit_service_server::AuditServiceServer, data_service_server::DataServiceServer,
            intent_service_server::IntentServiceServer,
            session_service_server::SessionServiceServer,
        },
    },
};

use super::Api;

/// Beyond the longest wait that a caller may ask for, nothing may take this long.
const CALL_SLACK: Duration = Duration::from_secs(30);
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The listener failed.
#[derive(Debug, thiserror::Error)]
#[error("the API cannot be served: {0}")]
pub struct ServeError(String);

/// Serves until `stop`, then says that it does not serve any more and waits for the calls that are open.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    routes: Routes,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<SessionServiceServer<Api>>().await;
    reporter.set_serving::<DataServiceServer<Api>>().await;
    reporter.set_serving::<IntentServiceServer<Api>>().await;
    reporter.set_serving::<ApprovalServiceServer<Api>>().await;
    reporter.set_serving::<AuditServiceServer<Api>>().await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .map_err(|error| ServeError(error.to_string()))?;
    let stopped = async move {
        stop.cancelled().await;
        reporter.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        reporter.set_not_serving::<SessionServiceServer<Api>>().await;
        reporter.set_not_serving::<DataServiceServer<Api>>().await;
        reporter.set_not_serving::<IntentServiceServer<Api>>().await;
        reporter.set_not_serving::<ApprovalServiceServer<Api>>().await;
        reporter.set_not_serving::<AuditServiceServer<Api>>().await;
    };
    Server::builder()
        .timeout(limits::WAIT_MAX + CALL_SLACK)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .tcp_nodelay(true)
        .add_routes(routes)
        .add_service(health)
        .add_service(reflection)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), stopped)
        .await
        .map_err(|error| ServeError(error.to_string()))
}
