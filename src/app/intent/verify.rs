//! Reading an effect back: through another road than the write, within its window, with patience.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::dispatch::Sending;
use crate::{
    app::{
        App, Refused,
        journal::{Journal, Said},
    },
    domain::{
        action::{ActionEvent, ActionState},
        action_record::{Action, VerificationRecord},
        entry::EntryKind,
        reason::ReasonCode,
        session_record::Session,
    },
    expr::Bindings,
    hook::{
        post::{
            Accepted, closure,
            verify::{Shown, Verification, check_effect},
        },
        pre,
    },
};

/// The first pause between two read-backs; doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(1);

/// What reading back came to.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    event: ActionEvent,
    record: VerificationRecord,
}

impl App {
    /// Reads the effect back until it shows as decided or its window is over.
    pub(super) async fn verify(&self, sending: &Sending, accepted: &Accepted) -> Verdict {
        let Some(verify) = &sending.contract.verify else {
            return self.verdict(
                "",
                ActionEvent::Unverifiable,
                Some(ReasonCode::EffectUnverifiable),
                None,
            );
        };
        let mut bindings = sending.bindings.clone();
        bindings.bind("result", accepted.result.clone());
        let until = self.now().plus(verify.within);
        let mut pause = FIRST_PAUSE;
        loop {
            let last = self.read_back(sending, verify, &bindings, until).await;
            if last.as_ref().is_ok_and(|verification| verification.shown == Shown::Verified)
                || self.now().plus(pause) >= until
            {
                return self.judge_read_back(&verify.tool, accepted, last);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    async fn read_back(
        &self,
        sending: &Sending,
        verify: &crate::bundle::contract::Verify,
        bindings: &Bindings,
        until: crate::domain::clock::Timestamp,
    ) -> Result<Verification, ReasonCode> {
        let deadline = until.plus(Duration::from_secs(1));
        let report =
            self.own_read(&sending.bundle, &verify.tool, &verify.args, bindings, deadline).await?;
        let after = match report.outcome {
            Ok(accepted) => accepted.result,
            Err(failure) if failure.code == ReasonCode::FactMissing => Value::Null,
            Err(failure) => return Err(failure.code),
        };
        let mut seen = bindings.clone();
        seen.bind("after", after);
        Ok(check_effect(verify, &seen))
    }

    fn judge_read_back(
        &self,
        tool: &str,
        accepted: &Accepted,
        last: Result<Verification, ReasonCode>,
    ) -> Verdict {
        match last {
            Err(code) => {
                tracing::warn!(%tool, %code, "an effect could not be read back");
                self.verdict(
                    tool,
                    ActionEvent::Unverifiable,
                    Some(ReasonCode::EffectUnverifiable),
                    None,
                )
            }
            Ok(verification) => {
                let event = match verification.shown {
                    Shown::Verified => ActionEvent::Verified,
                    Shown::Duplicated => ActionEvent::Duplicated,
                    // Accepted and not yet there: it stays pending and is read again later.
                    Shown::Missing | Shown::Mismatched if !accepted.finished => {
                        ActionEvent::Accepted
                    }
                    Shown::Missing | Shown::Mismatched => ActionEvent::Mismatched,
                };
                self.verdict(tool, event, verification.shown.code(), Some(&verification))
            }
        }
    }

    fn verdict(
        &self,
        tool: &str,
        event: ActionEvent,
        code: Option<ReasonCode>,
        verification: Option<&Verification>,
    ) -> Verdict {
        let rules = |held: bool| {
            let rules = verification.into_iter().flat_map(|v| v.rules.iter());
            rules.filter(|rule| rule.held == held).map(|rule| rule.id.clone()).collect()
        };
        let record = VerificationRecord {
            tool: tool.to_owned(),
            held: rules(true),
            broken: rules(false),
            code,
            at: self.now(),
        };
        Verdict { event, record }
    }

    /// COMMIT 3: the verdict, where it did not come with COMMIT 2.
    pub(super) async fn settle_verdict(
        &self,
        sending: &Sending,
        verdict: &Verdict,
    ) -> Result<(Session, Action), Refused> {
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        self.settle("intent.verify", tenant, &sending.action.session, id, |journal, action| {
            if !matches!(action.state, ActionState::Succeeded | ActionState::Pending) {
                return Ok(false);
            }
            self.write_verdict(journal, action, sending, verdict)
        })
        .await
    }

    /// Writes a verdict; the session goes on, closes, or halts.
    pub(super) fn write_verdict(
        &self,
        journal: &mut Journal<'_>,
        action: &mut Action,
        sending: &Sending,
        verdict: &Verdict,
    ) -> Result<bool, Refused> {
        if verdict.event == ActionEvent::Accepted {
            return Ok(false);
        }
        let moved = action.take(verdict.event).map_err(Refused::internal)?;
        action.verification = Some(verdict.record.clone());
        if action.state == ActionState::Verified {
            let verified = &mut journal.session.counters.verified;
            *verified.entry(action.intent.tool.clone()).or_default() += 1;
        } else {
            journal.session.standing.halted = true;
            let code = verdict.record.code.unwrap_or(ReasonCode::EffectUnverifiable);
            journal.session.stop_reason = Some(code.as_str().to_owned());
        }
        let mut moves = journal.note_action(action)?;
        if let Some(outcome) = self.closes(&journal.session, sending) {
            journal.session.standing.closed = true;
            journal.session.outcome = Some(outcome);
            moves.extend(journal.session.settle_state().map_err(Refused::internal)?);
        }
        let contract = &sending.contract;
        let mut said = Said::about(
            &action.id,
            json!({
                "verdict": action.state.as_str(),
                "read": verdict.record.tool,
                "held": verdict.record.held,
                "broken": verdict.record.broken,
                "reasons": verdict.record.code.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
                "tool": {"name": contract.name, "version": contract.version},
            }),
        )
        .action_moved(moved)
        .session_moved(moves);
        if let Some(outcome) = &journal.session.outcome {
            said.members.insert("session_outcome".to_owned(), Value::from(outcome.clone()));
        }
        journal.write(EntryKind::Verification, said)?;
        Ok(true)
    }

    /// The outcome with which the session closes now, if nothing is open and its condition holds.
    fn closes(&self, session: &Session, sending: &Sending) -> Option<String> {
        if session.standing.halted || !session.open.is_empty() {
            return None;
        }
        let verified: Map<String, Value> = sending
            .bundle
            .contracts
            .keys()
            .map(|tool| {
                let count = session.counters.verified.get(tool).copied().unwrap_or(0);
                (tool.clone(), Value::from(count))
            })
            .collect();
        let mut bindings = Bindings::new();
        bindings.bind("verified", Value::Object(verified));
        bindings.bind("case", session.case_value());
        bindings.bind("session", pre::session_value(session));
        closure::check_close(sending.bundle.workflow.close.as_ref(), &bindings)
    }
}
