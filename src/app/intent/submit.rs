//! SubmitIntent: one intent, from the caller's words to its settled outcome.

use std::time::Duration;

use tokio::sync::watch;

use super::decide::Lookup;
use crate::{
    app::{App, Caller, Refused, RefusedKind, access, answer::ActionAnswer},
    domain::{
        canonical::Digest,
        contract_terms::Verdict,
        ids::{SessionId, TenantId},
        intent::Intent,
        limits,
        reason::ReasonCode,
    },
    identity::rights::Rpc,
    store::Refusal,
};

/// What a caller submits.
#[derive(Debug, Clone)]
pub struct Submission {
    /// `sessions/ses_…`.
    pub session: String,
    /// The intent.
    pub intent: Intent,
    /// How long the caller waits for the outcome; none for the default.
    pub wait: Option<Duration>,
    /// What the caller waits for.
    pub wait_for: WaitFor,
    /// The caller's id of the request, and the digest of its bytes.
    pub request: Option<(String, Digest)>,
    /// Whether the result's content is handed out (and so exposed) or only its handle.
    pub exposes: bool,
}

/// What a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitFor {
    /// The decision.
    Decision,
    /// A settled outcome.
    Outcome,
    /// The effect read back.
    Verified,
}

/// How far a road has come, and what there is to tell.
pub(super) type Progress = Option<(WaitFor, Result<ActionAnswer, Refused>)>;

/// Where a road tells how far it has come. The road goes on when nobody listens.
#[derive(Debug, Clone)]
pub(super) struct Teller(watch::Sender<Progress>);

impl Teller {
    pub(super) fn new() -> (Self, watch::Receiver<Progress>) {
        let (sender, receiver) = watch::channel(None);
        (Self(sender), receiver)
    }

    pub(super) fn tell(&self, stage: WaitFor, answer: ActionAnswer) {
        self.0.send_replace(Some((stage, Ok(answer))));
    }

    pub(super) fn end(&self, outcome: Result<ActionAnswer, Refused>) {
        self.0.send_replace(Some((WaitFor::Verified, outcome)));
    }
}

/// A turn in a session's queue.
pub(super) type Turn = tokio::sync::OwnedMutexGuard<()>;

/// How long a caller waits who says nothing.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);

impl App {
    /// Decides an intent and, if it is allowed, carries it out.
    ///
    /// # Errors
    /// When no decision was made: the caller is not entitled, the session is not his, the same
    /// effect is in flight, the store does not answer.
    pub async fn submit(
        &self,
        caller: &Caller,
        submission: Submission,
    ) -> Result<ActionAnswer, Refused> {
        let session = access::session_id(&submission.session)?;
        self.authorize(caller, Rpc::SubmitIntent, Some(&session)).await?;
        let wait = submission.wait.unwrap_or(WAIT_DEFAULT).min(limits::WAIT_MAX);
        let wait_for = if wait.is_zero() { WaitFor::Decision } else { submission.wait_for };
        let (teller, heard) = Teller::new();
        let (app, caller) = (self.clone(), caller.clone());
        // The daemon owns the road: a caller that leaves does not stop it half-way.
        self.inner.roads.spawn(async move {
            let outcome = Box::pin(app.road(&caller, &session, submission, &teller)).await;
            teller.end(outcome);
        });
        wait_until(heard, wait_for, wait).await
    }

    /// The road: decided once; lost races for the session are run again in its queue.
    async fn road(
        &self,
        caller: &Caller,
        session: &SessionId,
        submission: Submission,
        teller: &Teller,
    ) -> Result<ActionAnswer, Refused> {
        let tenant = caller.tenant().clone();
        let first = Box::pin(self.try_road(caller, &tenant, session, &submission, teller, None));
        if let Some(done) = first.await? {
            return Ok(done);
        }
        for _ in 0..limits::ROAD_ATTEMPTS_MAX {
            let turn = self.queue(&tenant, session).lock_owned().await;
            let again =
                Box::pin(self.try_road(caller, &tenant, session, &submission, teller, Some(turn)));
            if let Some(done) = again.await? {
                return Ok(done);
            }
        }
        Err(Refused::new(RefusedKind::Aborted, ReasonCode::Conflict))
    }

    /// One run of the road; none when somebody else moved the session first. The turn in the
    /// session's queue ends before a tool is written to.
    async fn try_road(
        &self,
        caller: &Caller,
        tenant: &TenantId,
        session: &SessionId,
        submission: &Submission,
        teller: &Teller,
        turn: Option<Turn>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let mut road = self.start_road(caller, tenant, session, submission).await?;
        if let Some(action) = road.seen_before(submission)? {
            return self
                .answer_for(caller, &road.session, &action, submission.exposes)
                .await
                .map(Some);
        }
        match self.look_up_effect(&mut road).await? {
            Lookup::Replay(action) => {
                return self.replay(caller, &road, &action, submission.exposes).await;
            }
            Lookup::Waiting(action) => {
                return self
                    .answer_for(caller, &road.session, &action, submission.exposes)
                    .await
                    .map(Some);
            }
            Lookup::InFlight(action) => return Err(in_flight(&road.session.id, &action)),
            Lookup::Nothing => {}
        }
        let decided = self.decide_road(&mut road).await?;
        match (decided.decision.verdict, decided.contract.as_ref().is_some_and(|c| c.is_read())) {
            (Verdict::Deny, _) => self.deny(&road, decided, submission).await,
            (Verdict::ConfirmationRequired | Verdict::ApprovalRequired, _) => {
                self.ask(&road, decided, submission).await
            }
            (Verdict::Allow, true) => self.read(&road, decided, submission).await,
            (Verdict::Allow, false) => {
                Box::pin(self.dispatch(&road, decided, submission, teller, turn)).await
            }
        }
    }
}

/// The answer as soon as the road has come as far as the caller wants; when the wait is over, as
/// far as it has come.
pub(super) async fn wait_until(
    mut heard: watch::Receiver<Progress>,
    wait_for: WaitFor,
    wait: Duration,
) -> Result<ActionAnswer, Refused> {
    // The decision itself is always waited for; its own steps have their deadlines.
    if heard.wait_for(Option::is_some).await.is_err() {
        return Err(Refused::internal("a road ended without an answer"));
    }
    {
        let far_enough =
            heard.wait_for(|told| told.as_ref().is_some_and(|(stage, _)| *stage >= wait_for));
        // Too late is no failure: the caller gets what is known by then.
        let _ = tokio::time::timeout(wait, far_enough).await;
    }
    let told = heard.borrow().clone();
    told.map_or_else(|| Err(Refused::internal("a road told nothing")), |(_, answer)| answer)
}

/// Nobody decides twice about one effect at a time.
fn in_flight(session: &SessionId, action: &crate::domain::ids::ActionId) -> Refused {
    let mut refused = Refused::new(RefusedKind::Aborted, ReasonCode::IdempotencyInFlight);
    refused.retry_after = Some(Duration::from_millis(250));
    refused.metadata.insert("action".to_owned(), format!("sessions/{session}/actions/{action}"));
    refused
}

/// Whether a refusal of the store means: somebody was faster, look again.
pub(super) fn lost_race(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::SessionMoved(_)
        | Refusal::ActionMoved(_)
        | Refusal::KeyTaken { .. }
        | Refusal::RequestTaken => true,
        Refusal::QuestionGone { .. } | Refusal::Store(_) => false,
    }
}
