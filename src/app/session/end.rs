//! CloseSession, HandOver.

use serde_json::json;

use crate::{
    app::{
        App, Caller, Refused, RefusedKind, access,
        journal::{Journal, Said},
    },
    domain::{
        entry::EntryKind, limits, reason::ReasonCode, session::SessionState,
        session_record::Session,
    },
    identity::rights::Rpc,
    store::Refusal,
};

impl App {
    /// Ends a session in which nothing is open.
    ///
    /// # Errors
    /// When it is not the caller's, or something is open.
    pub async fn close_session(&self, caller: &Caller, name: &str) -> Result<Session, Refused> {
        let id = access::session_id(name)?;
        self.authorize(caller, Rpc::CloseSession, Some(&id)).await?;
        self.change_session(caller, &id, "session.close", |journal| {
            if journal.session.state == SessionState::Closed {
                return Ok(false);
            }
            if !journal.session.open.is_empty() || journal.session.state == SessionState::Escalated
            {
                return Err(Refused::state(ReasonCode::WrongState)
                    .saying("an action is open; cancel it or wait for it"));
            }
            journal.session.standing.closed = true;
            journal.session.outcome = Some("closed".to_owned());
            let moves = journal.session.settle_state().map_err(Refused::internal)?;
            let said = Said::with(json!({"session_outcome": "closed"})).session_moved(moves);
            journal.write(EntryKind::Transition, said)?;
            Ok(true)
        })
        .await
    }

    /// Hands the case to a person; what was prepared stays.
    ///
    /// # Errors
    /// When it is not the caller's, or it has ended.
    pub async fn hand_over(
        &self,
        caller: &Caller,
        name: &str,
        note: &str,
    ) -> Result<Session, Refused> {
        let id = access::session_id(name)?;
        self.authorize(caller, Rpc::HandOver, Some(&id)).await?;
        if note.len() > limits::MODEL_TEXT_MAX_BYTES {
            return Err(Refused::field(
                "note",
                format!("at most {} bytes", limits::MODEL_TEXT_MAX_BYTES),
            ));
        }
        self.change_session(caller, &id, "session.hand_over", |journal| {
            if journal.session.standing.handed_over {
                return Ok(false);
            }
            journal.session.standing.handed_over = true;
            journal.session.handed_over_with = Some(note.to_owned());
            let moves = journal
                .session
                .settle_state()
                .map_err(|_| Refused::state(ReasonCode::SessionClosed))?;
            let said = Said::with(json!({"handed_over": true})).session_moved(moves);
            journal.write(EntryKind::Transition, said)?;
            Ok(true)
        })
        .await
    }

    /// Moves a session, whatever version it stands at by now.
    pub(in crate::app) async fn change_session(
        &self,
        caller: &Caller,
        id: &crate::domain::ids::SessionId,
        name: &'static str,
        apply: impl Fn(&mut Journal<'_>) -> Result<bool, Refused>,
    ) -> Result<Session, Refused> {
        for _ in 0..limits::ROAD_ATTEMPTS_MAX {
            let queue = self.queue(caller.tenant(), id);
            let _turn = queue.lock().await;
            let session = self.session_for(caller, id).await?;
            let mut journal = Journal::of(self, name, &session);
            if !apply(&mut journal)? {
                return Ok(session);
            }
            match journal.commit().await? {
                Ok((session, _)) => return Ok(session),
                Err(Refusal::SessionMoved(_)) => {}
                Err(refusal) => return Err(refusal.into()),
            }
        }
        Err(Refused::new(RefusedKind::Aborted, ReasonCode::Conflict))
    }
}
