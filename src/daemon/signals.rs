//! The signals that ask a daemon to end.

use tokio_util::sync::CancellationToken;

/// Cancels `stop` at SIGTERM or SIGINT. A second signal ends the process at once.
pub fn stop_on_signal(stop: CancellationToken) {
    tokio::spawn(async move {
        if signalled().await {
            tracing::info!("asked to stop");
            stop.cancel();
            if signalled().await {
                tracing::warn!("asked again: ending at once");
                std::process::exit(130);
            }
        }
    });
}

/// Waits for one of the signals; false when they cannot be watched.
async fn signalled() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be watched");
        return false;
    };
    tokio::select! {
        _ = terminate.recv() => true,
        _ = interrupt.recv() => true,
    }
}
