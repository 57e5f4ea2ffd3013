//! Commits after COMMIT 1: what happened is written whoever else moves the session meanwhile.

use std::time::Duration;

use super::submit::lost_race;
use crate::{
    app::{App, Refused, RefusedKind, journal::Journal},
    domain::{
        action_record::Action,
        ids::{ActionId, SessionId, TenantId},
        session_record::Session,
    },
};

/// How often a commit is tried that must not be lost, and how long it waits in between when the
/// store does not answer.
const TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(200);

impl App {
    /// Moves an action and its session, whatever version they stand at by now. `apply` is run anew
    /// on every try and answers false when there is nothing left to do.
    pub(super) async fn settle(
        &self,
        name: &'static str,
        tenant: &TenantId,
        session: &SessionId,
        action: &ActionId,
        apply: impl Fn(&mut Journal<'_>, &mut Action) -> Result<bool, Refused>,
    ) -> Result<(Session, Action), Refused> {
        for _ in 0..TRIES {
            match self.try_settle(name, tenant, session, action, &apply).await {
                Ok(Some(done)) => return Ok(done),
                Ok(None) => {}
                Err(refused) if refused.kind == RefusedKind::Unavailable => {
                    tracing::warn!(%action, unit = name, cause = ?refused.cause, "waiting for the store");
                    tokio::time::sleep(PAUSE).await;
                }
                Err(refused) => return Err(refused),
            }
        }
        Err(Refused::internal(format!("unit `{name}` of action `{action}` could not be committed")))
    }

    async fn try_settle(
        &self,
        name: &'static str,
        tenant: &TenantId,
        session: &SessionId,
        action: &ActionId,
        apply: impl Fn(&mut Journal<'_>, &mut Action) -> Result<bool, Refused>,
    ) -> Result<Option<(Session, Action)>, Refused> {
        let queue = self.queue(tenant, session);
        let _turn = queue.lock().await;
        let session = self.load_session(tenant, session).await?;
        let row = self.store().action(tenant, action).await?.ok_or_else(Refused::not_found)?;
        let mut action = self.action_from(tenant, &row)?;
        let mut journal = Journal::of(self, name, &session);
        if !apply(&mut journal, &mut action)? {
            return Ok(Some((session, action)));
        }
        journal.put_action(&mut action)?;
        match journal.commit().await? {
            Ok((session, _)) => Ok(Some((session, action))),
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }
}
