//! What happens without a caller: actions left on the way are taken up, unanswered questions end.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::App;

/// How often unanswered questions are ended.
const QUESTIONS_EVERY: Duration = Duration::from_secs(1);
/// How often actions left by another daemon are looked for.
const RECOVERY_EVERY: Duration = Duration::from_secs(15);

/// Runs until `stop`. `alone`: no other daemon works on this store, so what is on the way at the start is nobody's.
pub(super) async fn run(app: App, alone: bool, stop: CancellationToken) {
    take_up(&app, alone).await;
    let mut questions = tokio::time::interval(QUESTIONS_EVERY);
    let mut recovery = tokio::time::interval(RECOVERY_EVERY);
    recovery.reset();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = questions.tick() => end_questions(&app).await,
            _ = recovery.tick() => take_up(&app, false).await,
        }
    }
}

async fn take_up(app: &App, at_start: bool) {
    match app.recover(at_start).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "actions on the way are taken up"),
        Err(refused) => tracing::warn!(code = %refused.code, "actions on the way cannot be read"),
    }
}

async fn end_questions(app: &App) {
    if let Err(refused) = app.expire_questions().await {
        tracing::warn!(code = %refused.code, "questions cannot be ended");
    }
}
