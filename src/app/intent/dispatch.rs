//! An allowed write: COMMIT 1, the attempts, COMMIT 2.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    call::{rendered, signal},
    decide::Road,
    read::{expose, fallback},
    submit::{Submission, Teller, Turn, WaitFor, lost_race},
};
use crate::{
    app::{
        App, Refused,
        answer::ActionAnswer,
        journal::{Journal, Said},
    },
    bundle::{Bundle, contract::Contract},
    domain::{
        action::{ActionEvent, ActionState},
        action_record::{Action, DispatchRecord, OutcomeRecord},
        clock::Timestamp,
        contract_terms::{Assurance, Check, Risk},
        datum::Datum,
        decision::Reason,
        effect::provider_key,
        entry::EntryKind,
        limits,
        reason::ReasonCode,
        response::RawResponse,
        session_record::Session,
        unit::{Change, Dispatch, EffectRow, EffectStatus, Guard},
    },
    expr::Bindings,
    gateway::{Call, Next, Permit, Signal, TransportFault, classify, retry},
    hook::{
        post::{self, Accepted, Reader},
        pre::{self, Decided},
    },
    store::Receipt,
};

/// The longest a write may take, repetitions included.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

/// Everything that follows a committed dispatch.
#[derive(Debug, Clone)]
pub(super) struct Sending {
    pub(super) bundle: Arc<Bundle>,
    pub(super) contract: Arc<Contract>,
    pub(super) session: Session,
    pub(super) action: Action,
    /// What expressions of the contract see: args, facts, effect and so on.
    pub(super) bindings: Bindings,
    pub(super) exposes: bool,
}

impl Sending {
    /// Whether the contract can find out what became of a lost request.
    pub(super) fn has_lookup(&self) -> bool {
        self.contract.effect.as_ref().is_some_and(|effect| effect.reconcile.is_some())
    }
}

/// What the attempts came to.
#[derive(Debug)]
pub(super) enum Sent {
    /// A sound answer.
    Answered(Box<Accepted>),
    /// Proven not executed.
    NotExecuted(ReasonCode),
    /// It may have acted.
    Unknown { code: ReasonCode, corrupt: Option<RawResponse> },
}

impl App {
    /// Commits the dispatch of a new action, then carries it out.
    pub(super) async fn dispatch(
        &self,
        road: &Road,
        mut decided: Decided,
        submission: &Submission,
        teller: &Teller,
        turn: Option<Turn>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let exposes = submission.exposes;
        let mut action = self.new_action(road, &decided);
        let (call, sending) = match self.plan_sending(road, &decided, &action, exposes) {
            Ok(planned) => planned,
            Err(code) => {
                deny_for(&mut decided, code);
                return self.deny(road, decided, submission).await;
            }
        };
        let mut journal = Journal::of(self, "intent.dispatch", &road.session);
        self.keep_intent(&mut journal, road, &action, Some(submission))?;
        self.commit_one_writes(&mut journal, road, &decided, &mut action)?;
        journal.new_action(&action)?;
        match journal.commit().await? {
            Ok((session, receipt)) => {
                drop(turn);
                let sending = Sending { session, action, ..sending };
                Box::pin(self.carry_out(sending, call, receipt, teller)).await.map(Some)
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// The rendered call and all that is needed after it; fails before anything is committed.
    pub(super) fn plan_sending(
        &self,
        road: &Road,
        decided: &Decided,
        action: &Action,
        exposes: bool,
    ) -> Result<(Call, Sending), ReasonCode> {
        let (Some(contract), Some(effect)) = (&decided.contract, &decided.effect) else {
            return Err(ReasonCode::EffectUndefined);
        };
        let key = provider_key(&road.session.tenant, &contract.name, &effect.key, road.generation)
            .map_err(|_| ReasonCode::EffectUndefined)?;
        let mut bindings = pre::bindings(&road.inputs, &action.arguments());
        bindings.bind("effect", pre::effect_value(effect, Some(&key)));
        let call = rendered(contract, &bindings)?;
        if !self.parts().gateway.has_endpoint(&call.request.endpoint) {
            return Err(ReasonCode::RequestUnrenderable);
        }
        let sending = Sending {
            bundle: Arc::clone(&road.bundle),
            contract: Arc::clone(contract),
            session: road.session.clone(),
            action: action.clone(),
            bindings,
            exposes,
        };
        Ok((call, sending))
    }

    /// What COMMIT 1 writes: decision, claim of the effect key, dispatch.
    pub(super) fn commit_one_writes(
        &self,
        journal: &mut Journal<'_>,
        road: &Road,
        decided: &Decided,
        action: &mut Action,
    ) -> Result<(), Refused> {
        let (Some(contract), Some(effect)) = (&decided.contract, &decided.effect) else {
            return Err(Refused::internal("a dispatch without an effect"));
        };
        let session = &road.session;
        let cleared = action.take(ActionEvent::Cleared).map_err(Refused::internal)?;
        let said = self.decision_said(road, decided, action)?.action_moved(cleared);
        journal.write(EntryKind::Decision, said)?;
        let sent = action.take(ActionEvent::Dispatched).map_err(Refused::internal)?;
        let key = provider_key(&session.tenant, &contract.name, &effect.key, road.generation)
            .map_err(Refused::internal)?;
        let send_before = journal.now.plus(limits::SEND_BEFORE);
        action.dispatch = Some(DispatchRecord {
            provider_key: key.clone(),
            generation: road.generation,
            send_before,
            at: journal.now,
        });
        let (effect_key, effect_same) =
            self.effect_keys(&session.tenant, &effect.key, &effect.same)?;
        let live = road.inputs.effects.same.iter().filter(|claim| claim.action != action.id);
        journal.guard(Guard::ClaimKey(EffectRow {
            effect: effect.name.clone(),
            key: effect_key,
            generation: road.generation,
            same: effect_same,
            ordinal: i64::try_from(live.count()).unwrap_or(i64::MAX),
            fingerprint: effect.fingerprint.clone(),
            action: action.id.clone(),
            session: session.id.clone(),
            principal: self.principal_key(session),
            status: EffectStatus::InFlight,
            claimed_at: journal.now,
        }));
        let counters = &mut journal.session.counters;
        counters.writes = counters.writes.saturating_add(1);
        if contract.risks.iter().any(|risk| is_sensitive(*risk)) {
            counters.sensitive = counters.sensitive.saturating_add(1);
        }
        let moves = journal.note_action(action)?;
        let said = Said::about(
            &action.id,
            json!({
                "tool": {"name": contract.name, "version": contract.version},
                "send_before_us": send_before.micros(),
                "generation": road.generation,
            }),
        );
        journal.write(EntryKind::Dispatch, said.action_moved(sent).session_moved(moves))?;
        journal.dispatch(Dispatch { action: action.id.clone(), provider_key: key, send_before });
        Ok(())
    }

    /// Sends what was committed, settles it, verifies it.
    pub(super) async fn carry_out(
        &self,
        sending: Sending,
        call: Call,
        receipt: Receipt,
        teller: &Teller,
    ) -> Result<ActionAnswer, Refused> {
        let Some(committed) = receipt.dispatch else {
            return Err(Refused::internal("a dispatch was committed without its permit"));
        };
        let decided = self.plain_answer(&sending.session, sending.action.clone());
        teller.tell(WaitFor::Decision, decided);
        let (sent, attempts) = self.send(&sending, &call, Permit::Dispatch(committed)).await;
        match sent {
            Sent::Answered(accepted) => {
                Box::pin(self.settle_answer(&sending, *accepted, attempts, "answer", teller)).await
            }
            Sent::NotExecuted(code) => self.settle_failure(&sending, code, attempts).await,
            Sent::Unknown { code, corrupt } => {
                Box::pin(self.settle_unknown(&sending, code, corrupt, attempts, teller)).await
            }
        }
    }

    /// The attempt loop. What one attempt left open, a later one that was not sent does not close.
    async fn send(&self, sending: &Sending, call: &Call, permit: Permit) -> (Sent, u32) {
        let parts = self.parts();
        let class = sending.contract.class();
        let has_lookup = sending.has_lookup();
        let deadline = self.now().plus(WRITE_DEADLINE);
        let (mut attempts, mut may_have_acted) = (0, false);
        loop {
            let left = deadline.since(self.now());
            let timeout = match parts.retry.attempt_timeout(call.timeout, left) {
                Ok(timeout) => timeout,
                Err(code) => return (unsettled(may_have_acted, code, None), attempts),
            };
            let report = parts.gateway.attempt(&permit, call, timeout).await;
            attempts += 1;
            let (signal, response) = match report.response {
                None => {
                    let fault = report.fault.unwrap_or(TransportFault::Closed);
                    (Signal::Transport(report.phase, fault), None)
                }
                Some(response) => match judge(sending, &response) {
                    Ok(accepted) => return (Sent::Answered(Box::new(accepted)), attempts),
                    Err(signal) => (signal, Some(response)),
                },
            };
            let last = classify(signal, class, has_lookup);
            may_have_acted = may_have_acted || !last.proven_not_executed;
            let asked = response.as_ref().and_then(|response| {
                let value = response.header("retry-after").into_iter().next()?;
                retry::retry_after(value, self.now())
            });
            let left = deadline.since(self.now());
            match parts.retry.next(attempts, last, asked, left, self.random()) {
                Next::Again { after } => tokio::time::sleep(after).await,
                Next::Stop { code, cause } => {
                    let corrupt = response.filter(|_| matches!(signal, Signal::Corrupt(_)));
                    let code = if may_have_acted { cause } else { code };
                    return (unsettled(may_have_acted, code, corrupt), attempts);
                }
            }
        }
    }

    /// COMMIT 2 of a sound answer; the verdict of the verification with it, if it comes in time.
    pub(super) async fn settle_answer(
        &self,
        sending: &Sending,
        accepted: Accepted,
        attempts: u32,
        settled_by: &'static str,
        teller: &Teller,
    ) -> Result<ActionAnswer, Refused> {
        let verification = self.verify(sending, &accepted);
        tokio::pin!(verification);
        let early = tokio::time::timeout(limits::VERIFY_INLINE, &mut verification).await.ok();
        let datum = std::sync::Mutex::new(None::<Datum>);
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        let settled =
            self.settle("intent.settle", tenant, &sending.action.session, id, |journal, action| {
                if !matches!(action.state, ActionState::Dispatched | ActionState::OutcomeUnknown) {
                    return Ok(false);
                }
                let stored =
                    self.write_success(journal, action, sending, &accepted, attempts, settled_by)?;
                if let Ok(mut datum) = datum.lock() {
                    *datum = Some(stored);
                }
                if let Some(verdict) = &early {
                    self.write_verdict(journal, action, sending, verdict)?;
                }
                Ok(true)
            });
        let (session, action) = settled.await?;
        let stored = datum.into_inner().ok().flatten();
        let answer = |session: &Session, action: Action| {
            let mut answer = self.plain_answer(session, action);
            answer.result = stored.clone().filter(|_| sending.exposes);
            answer
        };
        if early.is_some() {
            return Ok(answer(&session, action));
        }
        teller.tell(WaitFor::Outcome, answer(&session, action));
        let verdict = verification.await;
        let (session, action) = self.settle_verdict(sending, &verdict).await?;
        Ok(answer(&session, action))
    }

    fn write_success(
        &self,
        journal: &mut Journal<'_>,
        action: &mut Action,
        sending: &Sending,
        accepted: &Accepted,
        attempts: u32,
        settled_by: &str,
    ) -> Result<Datum, Refused> {
        let contract = &sending.contract;
        let datum = self.result_datum(journal, contract, action, accepted)?;
        let mut moved = vec![action.take(ActionEvent::Succeeded).map_err(Refused::internal)?];
        if !accepted.finished {
            moved.push(action.take(ActionEvent::Accepted).map_err(Refused::internal)?);
        }
        action.outcome = Some(OutcomeRecord {
            attempts,
            stop_reason: None,
            result: Some(datum.id.clone()),
            quarantine: None,
            settled_by: settled_by.to_owned(),
            at: journal.now,
        });
        journal.change(Change::SettleEffect {
            effect: effect_name(action),
            action: action.id.clone(),
            status: EffectStatus::Settled,
        });
        let moves = journal.note_action(action)?;
        let mut said = Said::about(
            &action.id,
            json!({
                "outcome": action.state.as_str(),
                "attempts": attempts,
                "settled_by": settled_by,
                "result": datum.in_log(),
                "tool": {"name": contract.name, "version": contract.version},
            }),
        )
        .session_moved(moves);
        said.action_moves = moved;
        journal.write(EntryKind::Outcome, said)?;
        if sending.exposes {
            expose(journal, &datum)?;
        }
        Ok(datum)
    }

    /// COMMIT 2 of a write that provably did nothing: its key is free again.
    pub(super) async fn settle_failure(
        &self,
        sending: &Sending,
        code: ReasonCode,
        attempts: u32,
    ) -> Result<ActionAnswer, Refused> {
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        let settled =
            self.settle("intent.fail", tenant, &sending.action.session, id, |journal, action| {
                if !matches!(action.state, ActionState::Dispatched | ActionState::OutcomeUnknown) {
                    return Ok(false);
                }
                let moved = action.take(ActionEvent::Failed).map_err(Refused::internal)?;
                action.outcome = Some(outcome(code, attempts, None, journal.now));
                journal.change(Change::SettleEffect {
                    effect: effect_name(action),
                    action: action.id.clone(),
                    status: EffectStatus::Released,
                });
                let moves = journal.note_action(action)?;
                let said = said_stopped(action, sending, code, attempts, Value::Null);
                journal.write(EntryKind::Outcome, said.action_moved(moved).session_moved(moves))?;
                Ok(true)
            });
        let (session, action) = settled.await?;
        let mut answer = self.plain_answer(&session, action);
        answer.fallback = fallback(&sending.contract, &answer.action);
        Ok(answer)
    }

    /// COMMIT 2 of a write that may have acted: look first; whatever is found settles it.
    async fn settle_unknown(
        &self,
        sending: &Sending,
        code: ReasonCode,
        corrupt: Option<RawResponse>,
        attempts: u32,
        teller: &Teller,
    ) -> Result<ActionAnswer, Refused> {
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        let settled =
            self.settle("intent.lose", tenant, &sending.action.session, id, |journal, action| {
                if action.state != ActionState::Dispatched {
                    return Ok(false);
                }
                let moved = action.take(ActionEvent::OutcomeLost).map_err(Refused::internal)?;
                let quarantine = match &corrupt {
                    Some(response) => {
                        Some(self.quarantine(journal, &sending.contract, action, response, code)?)
                    }
                    None => None,
                };
                let named = json!(quarantine.as_ref().map(|id| id.as_str()));
                action.outcome = Some(outcome(code, attempts, quarantine, journal.now));
                let looking = sending.has_lookup();
                let moves = journal.note_looking(action, looking)?;
                let said = said_stopped(action, sending, code, attempts, named);
                journal.write(EntryKind::Outcome, said.action_moved(moved).session_moved(moves))?;
                Ok(true)
            });
        let (session, action) = settled.await?;
        let mut answer = self.plain_answer(&session, action.clone());
        answer.fallback = fallback(&sending.contract, &answer.action);
        teller.tell(WaitFor::Decision, answer.clone());
        let sending = Sending { session, action, ..sending.clone() };
        Ok(self.reconcile(&sending, teller).await?.unwrap_or(answer))
    }
}

fn judge(sending: &Sending, response: &RawResponse) -> Result<Accepted, Signal> {
    let claimed = sending.session.principal.assurance < Assurance::Authenticated;
    let reader = Reader::Agent { claimed };
    post::check_response(&sending.contract, response, &sending.bindings, reader).map_err(
        |stopped| {
            let (tool, action) = (&sending.contract.name, &sending.action.id);
            tracing::warn!(%tool, %action, code = %stopped.code, detail = %stopped.detail, "an answer was stopped");
            signal(&stopped)
        },
    )
}

fn unsettled(may_have_acted: bool, code: ReasonCode, corrupt: Option<RawResponse>) -> Sent {
    if may_have_acted { Sent::Unknown { code, corrupt } } else { Sent::NotExecuted(code) }
}

fn outcome(
    code: ReasonCode,
    attempts: u32,
    quarantine: Option<crate::domain::ids::QuarantineId>,
    at: Timestamp,
) -> OutcomeRecord {
    OutcomeRecord {
        attempts,
        stop_reason: Some(code),
        result: None,
        quarantine,
        settled_by: "answer".to_owned(),
        at,
    }
}

fn said_stopped(
    action: &Action,
    sending: &Sending,
    code: ReasonCode,
    attempts: u32,
    quarantine: Value,
) -> Said {
    let contract = &sending.contract;
    Said::about(
        &action.id,
        json!({
            "outcome": action.state.as_str(),
            "attempts": attempts,
            "reasons": [code.as_str()],
            "quarantine": quarantine,
            "tool": {"name": contract.name, "version": contract.version},
        }),
    )
}

/// The name under which an action's effect is claimed.
pub(super) fn effect_name(action: &Action) -> String {
    action.effect.as_ref().map(|effect| effect.name.clone()).unwrap_or_default()
}

const fn is_sensitive(risk: Risk) -> bool {
    matches!(risk, Risk::Sensitive | Risk::Financial | Risk::Irreversible | Risk::Grant)
}

/// Turns an allow that cannot be carried out into a refusal.
fn deny_for(decided: &mut Decided, code: ReasonCode) {
    decided.decision.verdict = crate::domain::contract_terms::Verdict::Deny;
    decided.decision.needs.clear();
    decided.decision.reasons.push(Reason::of(Check::Gateway, code));
}
