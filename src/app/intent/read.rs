//! An allowed read: called, judged, and recorded with its decision in one commit before its bytes
//! reach the agent.

use std::time::Duration;

use serde_json::json;

use super::{
    decide::Road,
    submit::{Submission, lost_race},
};
use crate::{
    app::{
        App, Refused,
        answer::ActionAnswer,
        journal::{Journal, Said},
    },
    bundle::{contract::Contract, workflow::Case},
    domain::{
        action::ActionEvent,
        action_record::{Action, OutcomeRecord},
        contract_terms::Assurance,
        datum::{Content, Datum, Origin},
        entry::EntryKind,
        response::RawResponse,
        session_record::{BoundRecord, CorruptedCall, Session},
        unit::{Change, QuarantineRow},
    },
    expr::Bindings,
    facts::read::{ReadFailure, ReadReport},
    hook::{
        post::{Accepted, Reader},
        pre::{self, Decided, call_digest},
    },
};

/// The longest an agent's read may take, repetitions included.
const READ_DEADLINE: Duration = Duration::from_secs(25);

impl App {
    /// Carries a read out.
    pub(super) async fn read(
        &self,
        road: &Road,
        decided: Decided,
        submission: &Submission,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let (Some(contract), Some(bound)) = (decided.contract.clone(), decided.bound.clone())
        else {
            return Err(Refused::internal("an allowed read without contract or arguments"));
        };
        let bindings = pre::bindings(&road.inputs, &bound.arguments);
        let claimed = road.session.principal.assurance < Assurance::Authenticated;
        let deadline = self.now().plus(READ_DEADLINE);
        let reader = Reader::Agent { claimed };
        let report = self.call_read(&contract, &bindings, reader, deadline).await;

        let mut action = self.new_action(road, &decided);
        let mut journal = Journal::of(self, "read.settle", &road.session);
        self.keep_intent(&mut journal, road, &action, Some(submission))?;
        let cleared = action.take(ActionEvent::Cleared).map_err(Refused::internal)?;
        let said = self.decision_said(road, &decided, &action)?.action_moved(cleared);
        journal.write(EntryKind::Decision, said)?;
        action.take(ActionEvent::Dispatched).map_err(Refused::internal)?;
        let result = match report.outcome {
            Ok(accepted) => {
                let attempts = report.attempts;
                Some(self.accept_read(
                    &mut journal,
                    road,
                    &contract,
                    &mut action,
                    accepted,
                    attempts,
                    submission.exposes,
                )?)
            }
            Err(failure) => {
                let report = ReadReport::<()> {
                    outcome: Ok(()),
                    attempts: report.attempts,
                    ended_at: report.ended_at,
                };
                self.refuse_read(&mut journal, &contract, &mut action, failure, report.attempts)?;
                None
            }
        };
        journal.new_action(&action)?;
        match journal.commit().await? {
            Ok((session, _)) => {
                let mut answer = self.plain_answer(&session, action);
                answer.fallback = fallback(&contract, &answer.action);
                answer.result = result.filter(|_| submission.exposes);
                Ok(Some(answer))
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one commit, named at the one call")]
    fn accept_read(
        &self,
        journal: &mut Journal<'_>,
        road: &Road,
        contract: &Contract,
        action: &mut Action,
        accepted: Accepted,
        attempts: u32,
        exposes: bool,
    ) -> Result<Datum, Refused> {
        let datum = self.result_datum(journal, contract, action, &accepted)?;
        bind_case(&mut journal.session, road, contract, action, &datum, &accepted);
        resolve(&mut journal.session, road);
        if let Some(call) = call_digest(&contract.name, &action.arguments()) {
            journal.session.corrupted.remove(call.as_str());
        }
        let moved = action.take(ActionEvent::Succeeded).map_err(Refused::internal)?;
        action.outcome = Some(OutcomeRecord {
            attempts,
            stop_reason: None,
            result: Some(datum.id.clone()),
            quarantine: None,
            settled_by: "answer".to_owned(),
            at: journal.now,
        });
        let session_moves = journal.session.settle_state().map_err(Refused::internal)?;
        let said = Said::about(
            &action.id,
            json!({
                "outcome": action.state.as_str(),
                "attempts": attempts,
                "result": datum.in_log(),
                "tool": {"name": contract.name, "version": contract.version},
            }),
        );
        journal.write(EntryKind::Outcome, said.action_moved(moved).session_moved(session_moves))?;
        if exposes {
            expose(journal, &datum)?;
        }
        Ok(datum)
    }

    fn refuse_read(
        &self,
        journal: &mut Journal<'_>,
        contract: &Contract,
        action: &mut Action,
        failure: ReadFailure,
        attempts: u32,
    ) -> Result<(), Refused> {
        let moved = action.take(ActionEvent::Failed).map_err(Refused::internal)?;
        let quarantine = match &failure.corrupt {
            Some(response) => {
                Some(self.quarantine(journal, contract, action, response, failure.code)?)
            }
            None => None,
        };
        if failure.corrupt.is_some()
            && let Some(call) = call_digest(&contract.name, &action.arguments())
        {
            let corrupted =
                CorruptedCall { tool: contract.name.clone(), resource: action.resource() };
            journal.session.corrupted.insert(call.to_string(), corrupted);
        }
        action.outcome = Some(OutcomeRecord {
            attempts,
            stop_reason: Some(failure.code),
            result: None,
            quarantine: quarantine.clone(),
            settled_by: "answer".to_owned(),
            at: journal.now,
        });
        if let Some(detail) = &failure.detail {
            tracing::warn!(tool = %contract.name, code = %failure.code, cause = %failure.cause, %detail, action = %action.id, "a read was stopped");
        }
        let said = Said::about(
            &action.id,
            json!({
                "outcome": action.state.as_str(),
                "attempts": attempts,
                "reasons": [failure.code.as_str()],
                "cause": failure.cause.as_str(),
                "quarantine": quarantine.as_ref().map(|id| id.as_str()),
                "tool": {"name": contract.name, "version": contract.version},
            }),
        );
        journal.write(EntryKind::Outcome, said.action_moved(moved))
    }

    /// Stores an accepted answer as a datum.
    pub(super) fn result_datum(
        &self,
        journal: &mut Journal<'_>,
        contract: &Contract,
        action: &Action,
        accepted: &Accepted,
    ) -> Result<Datum, Refused> {
        let id = self.ids().datum(&contract.response.datum.kind).map_err(Refused::internal)?;
        let datum = Datum {
            id,
            session: action.session.clone(),
            media_type: "application/json".to_owned(),
            content: Content::Json(accepted.projected.clone()),
            labels: accepted.labels.clone(),
            origin: Origin::Tool {
                tool: contract.name.clone(),
                version: contract.version,
                action: action.id.clone(),
            },
            created_at: journal.now,
            display: accepted.display.clone(),
        };
        journal.new_datum(&datum)?;
        Ok(datum)
    }

    /// Keeps an answer that failed a gate, sealed, away from agent and model.
    pub(super) fn quarantine(
        &self,
        journal: &mut Journal<'_>,
        contract: &Contract,
        action: &Action,
        response: &RawResponse,
        code: crate::domain::reason::ReasonCode,
    ) -> Result<crate::domain::ids::QuarantineId, Refused> {
        let id = self.ids().quarantine();
        let kept = json!({
            "status": response.status,
            "headers": response.headers,
            "framing": format!("{:?}", response.framing),
            "body": response.body,
        });
        journal.change(Change::InsertQuarantine(QuarantineRow {
            quarantine: id.clone(),
            action: action.id.clone(),
            session: action.session.clone(),
            tool: contract.name.clone(),
            reason: code.as_str().to_owned(),
            received_at: journal.now,
            body: self.seal(journal.tenant(), "quarantine", id.as_str(), &kept)?,
        }));
        Ok(id)
    }
}

/// Records that content reaches the model.
pub(in crate::app) fn expose(journal: &mut Journal<'_>, datum: &Datum) -> Result<(), Refused> {
    if journal.session.exposure.sources.contains(datum.id.as_str()) {
        return Ok(());
    }
    let label = datum.labels.joined();
    journal.session.exposure.add(datum.id.as_str(), &label);
    let members = json!({"inputs": [datum.in_log()]});
    journal.write(EntryKind::Exposure, Said::with(members))
}

/// Ties the session to the record that was read, if the workflow wants it and no other is tied.
fn bind_case(
    session: &mut Session,
    road: &Road,
    contract: &Contract,
    action: &Action,
    datum: &Datum,
    accepted: &Accepted,
) {
    let Case::Records(records) = &road.bundle.workflow.case else { return };
    let Some((ty, id)) = action.bound.as_ref().and_then(|bound| bound.resource.clone()) else {
        return;
    };
    for (name, record) in records {
        if record.tool != contract.name || record.ty != ty {
            continue;
        }
        let tied_to_another = session.case.get(name).is_some_and(|bound| bound.id != id);
        if tied_to_another && session.standing.resolved {
            continue;
        }
        let bound = BoundRecord {
            ty: ty.clone(),
            id: id.clone(),
            datum: datum.id.clone(),
            value: accepted.result.clone(),
        };
        session.case.insert(name.clone(), bound);
    }
}

/// Evaluates the workflow's resolve condition anew.
pub(in crate::app) fn resolve(session: &mut Session, road: &Road) {
    let Some(condition) = &road.bundle.workflow.resolve else { return };
    let mut bindings = Bindings::new();
    bindings.bind("case", session.case_value());
    bindings.bind("session", pre::session_value(session));
    if let Some(subject) = &session.subject {
        bindings.bind("subject", json!({"type": subject.ty, "id": subject.id}));
    }
    // What cannot be evaluated does not hold; a session once resolved is unresolved only by a rebinding.
    if condition.eval_true(&bindings) == Ok(true) {
        session.standing.resolved = true;
    }
}

/// The safe next step, where the tool did not serve.
pub(super) fn fallback(contract: &Contract, action: &Action) -> Option<(String, String)> {
    let stopped = action.outcome.as_ref()?.stop_reason.is_some();
    let fallback = contract.fallback.as_ref().filter(|_| stopped)?;
    Some((fallback.next.as_str().to_owned(), fallback.message.clone()))
}
