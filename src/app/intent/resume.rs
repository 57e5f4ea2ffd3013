//! Re-entry after an answer: the stored snapshot, fresh facts, the whole road from there; the
//! answer is spent in the commit that acts on it.

use serde_json::json;

use super::{
    decide::Road,
    submit::{Teller, WaitFor, lost_race},
};
use crate::{
    app::{
        App, Refused,
        answer::ActionAnswer,
        journal::{Journal, Said},
        vault::purpose,
    },
    domain::{
        action::ActionEvent,
        action_record::{Action, Answer, QuestionView},
        contract_terms::{Need, Verdict},
        entry::EntryKind,
        reason::ReasonCode,
        session_record::Session,
        unit::{Guard, QuestionRow, QuestionState},
    },
    hook::pre::Decided,
};

/// An answer of a person who was found entitled.
#[derive(Debug, Clone)]
pub(in crate::app) struct Given {
    pub(in crate::app) question: QuestionRow,
    pub(in crate::app) view: QuestionView,
    /// Issuer and subject of the person.
    pub(in crate::app) person: String,
    /// Why a person refused; kept with the vote, never shown to the agent.
    pub(in crate::app) note: String,
}

impl App {
    /// A "yes": decided again with it, then dispatched, asked further, or refused.
    async fn resume(
        &self,
        session: &Session,
        action: Action,
        given: Given,
        teller: &Teller,
    ) -> Result<ActionAnswer, Refused> {
        for _ in 0..crate::domain::limits::ROAD_ATTEMPTS_MAX {
            let queue = self.queue(&session.tenant, &session.id);
            let turn = queue.lock().await;
            let resumed = Box::pin(self.try_resume(session, &action, &given, teller, turn));
            if let Some(answer) = resumed.await? {
                return Ok(answer);
            }
        }
        Err(Refused::new(crate::app::RefusedKind::Aborted, ReasonCode::Conflict))
    }

    async fn try_resume(
        &self,
        session: &Session,
        action: &Action,
        given: &Given,
        teller: &Teller,
        turn: tokio::sync::MutexGuard<'_, ()>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let mut action = self.reload(session, action).await?;
        if !action.state.is_waiting() {
            return Err(Refused::state(ReasonCode::QuestionAnswered));
        }
        action.answers.push(self.spent(session, given));
        let mut road = self.road_of(session, &action).await?;
        self.look_up_effect(&mut road).await?;
        let decided = self.decide_road(&mut road).await?;
        let acts =
            given.question.need == Need::Approval || decided.decision.verdict == Verdict::Allow;
        if acts && let Some(changed) = self.went_stale(&road, &decided, &action, given) {
            drop(turn);
            return Box::pin(self.ask_again(&road, action, given, changed)).await;
        }
        match decided.decision.verdict {
            Verdict::Allow => {
                Box::pin(self.go_on(&road, &decided, action, given, teller, turn)).await
            }
            Verdict::ConfirmationRequired | Verdict::ApprovalRequired => {
                let mut journal = self.answered(&road, &action, given, QuestionState::Granted)?;
                self.redecide(&mut journal, &road, &decided, &mut action)?;
                let question = self.pose(&mut journal, &road, &decided, &mut action)?;
                journal.put_action(&mut action)?;
                self.finish(journal, action, Some(question)).await
            }
            Verdict::Deny => {
                let mut journal = self.answered(&road, &action, given, QuestionState::Granted)?;
                self.redecide(&mut journal, &road, &decided, &mut action)?;
                let moved = action.take(ActionEvent::Denied).map_err(Refused::internal)?;
                let said = self.decision_said(&road, &decided, &action)?.action_moved(moved);
                let moves = journal.note_action(&action)?;
                journal.write(EntryKind::Decision, said.session_moved(moves))?;
                journal.put_action(&mut action)?;
                self.finish(journal, action, None).await
            }
        }
    }

    /// Nothing is missing any more: COMMIT 1 spends the answer.
    async fn go_on(
        &self,
        road: &Road,
        decided: &Decided,
        mut action: Action,
        given: &Given,
        teller: &Teller,
        turn: tokio::sync::MutexGuard<'_, ()>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let planned = self.plan_sending(road, decided, &action, false);
        let (call, sending) = planned.map_err(Refused::internal)?;
        let mut journal = self.answered(road, &action, given, QuestionState::Granted)?;
        self.redecide(&mut journal, road, decided, &mut action)?;
        self.commit_one_writes(&mut journal, road, decided, &mut action)?;
        journal.put_action(&mut action)?;
        match journal.commit().await? {
            Ok((session, receipt)) => {
                // The queue is free again before the tool is called.
                drop(turn);
                let sending = super::dispatch::Sending { session, action, ..sending };
                Box::pin(self.carry_out(sending, call, receipt, teller)).await.map(Some)
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    async fn finish(
        &self,
        journal: Journal<'_>,
        action: Action,
        question: Option<QuestionRow>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        match journal.commit().await? {
            Ok((session, _)) => {
                let mut answer = self.plain_answer(&session, action);
                answer.question = question;
                Ok(Some(answer))
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// The journal of a commit that spends an answer.
    fn answered<'a>(
        &'a self,
        road: &Road,
        action: &Action,
        given: &Given,
        becomes: QuestionState,
    ) -> Result<Journal<'a>, Refused> {
        let mut journal = Journal::of(self, "question.answer", &road.session);
        let by = self.keyed(&road.session.tenant, purpose::PERSON, given.person.as_bytes());
        journal.guard(Guard::SpendQuestion {
            question: given.question.question.clone(),
            becomes,
            by: Some(by.clone()),
        });
        let said = Said::about(
            &action.id,
            json!({
                "question": given.question.question.as_str(),
                "need": given.question.need.as_str(),
                "answer": becomes.as_str(),
                "digest": given.question.digest.as_str(),
                "by": by,
                "tool": {"name": action.intent.tool},
            }),
        );
        journal.write(EntryKind::Vote, said)?;
        Ok(journal)
    }

    fn redecide(
        &self,
        journal: &mut Journal<'_>,
        road: &Road,
        decided: &Decided,
        action: &mut Action,
    ) -> Result<(), Refused> {
        action.decision = decided.decision.clone();
        action.effect.clone_from(&decided.effect);
        action.facts = road.inputs.facts.clone();
        action.inputs = self.ids().inputs();
        self.keep_intent(journal, road, action, None)
    }

    fn spent(&self, session: &Session, given: &Given) -> Answer {
        Answer {
            need: given.question.need,
            question: given.question.question.clone(),
            digest: given.question.digest.clone(),
            by: self.keyed(&session.tenant, purpose::PERSON, given.person.as_bytes()),
            at: self.now(),
            rules: given.view.rules.clone(),
        }
    }

    async fn reload(&self, session: &Session, action: &Action) -> Result<Action, Refused> {
        let row = self.store().action(&session.tenant, &action.id).await?;
        self.action_from(&session.tenant, &row.ok_or_else(Refused::not_found)?)
    }

    /// Whether a fact that was shown has changed since.
    fn went_stale(
        &self,
        road: &Road,
        decided: &Decided,
        action: &Action,
        given: &Given,
    ) -> Option<Vec<String>> {
        let contract = decided.contract.as_ref()?;
        let mut fresh = action.clone();
        fresh.facts = road.inputs.facts.clone();
        fresh.effect.clone_from(&decided.effect);
        let now = self.view(road, decided, &fresh, contract, given.question.need);
        let changed: Vec<String> = given
            .view
            .facts
            .iter()
            .filter(|(path, shown)| now.facts.get(*path) != Some(shown))
            .map(|(path, _)| path.clone())
            .collect();
        (!changed.is_empty()).then_some(changed)
    }

    /// What was shown changed: the answer does not count; the person is asked anew with what is true
    /// now. After the second time the action ends and the case is handed over.
    async fn ask_again(
        &self,
        road: &Road,
        mut action: Action,
        given: &Given,
        changed: Vec<String>,
    ) -> Result<Option<ActionAnswer>, Refused> {
        action.answers.pop();
        action.stale_rounds += 1;
        let mut road_now = self.road_of(&road.session, &action).await?;
        self.look_up_effect(&mut road_now).await?;
        let again = self.decide_road(&mut road_now).await?;
        let mut journal = self.answered(&road_now, &action, given, QuestionState::Stale)?;
        tracing::info!(action = %action.id, ?changed, "what was shown has changed");
        self.redecide(&mut journal, &road_now, &again, &mut action)?;
        let asks = matches!(
            again.decision.verdict,
            Verdict::ConfirmationRequired | Verdict::ApprovalRequired
        );
        if asks && action.stale_rounds < 2 {
            let question = self.pose(&mut journal, &road_now, &again, &mut action)?;
            journal.put_action(&mut action)?;
            return self.finish(journal, action, Some(question)).await;
        }
        let moved = action.take(ActionEvent::WentStale).map_err(Refused::internal)?;
        journal.session.standing.handed_over = true;
        let moves = journal.note_action(&action)?;
        let said = Said::about(
            &action.id,
            json!({"reasons": [ReasonCode::ShownFactsChanged.as_str()], "tool": {"name": action.intent.tool}}),
        );
        journal.write(EntryKind::Question, said.action_moved(moved).session_moved(moves))?;
        journal.put_action(&mut action)?;
        self.finish(journal, action, None).await
    }

    /// A "no": the action ends.
    pub(in crate::app) async fn refuse(
        &self,
        session: &Session,
        action: &Action,
        given: &Given,
    ) -> Result<ActionAnswer, Refused> {
        self.end_waiting(
            session,
            action,
            Some(given),
            ActionEvent::Refused,
            ReasonCode::RefusedByPerson,
        )
        .await
    }

    /// Ends a waiting action without a call: refused, expired, withdrawn.
    pub(in crate::app) async fn end_waiting(
        &self,
        session: &Session,
        action: &Action,
        given: Option<&Given>,
        event: ActionEvent,
        code: ReasonCode,
    ) -> Result<ActionAnswer, Refused> {
        let by = given
            .map(|given| self.keyed(&session.tenant, purpose::PERSON, given.person.as_bytes()));
        let becomes = if event == ActionEvent::Refused {
            QuestionState::Refused
        } else if event == ActionEvent::Expired {
            QuestionState::Expired
        } else {
            QuestionState::Withdrawn
        };
        let settled = self.settle(
            "question.end",
            &session.tenant,
            &session.id,
            &action.id,
            |journal, action| {
                if !action.state.is_waiting() {
                    return Err(Refused::state(ReasonCode::QuestionAnswered));
                }
                if let Some(question) = &action.question {
                    journal.guard(Guard::SpendQuestion {
                        question: question.clone(),
                        becomes,
                        by: by.clone(),
                    });
                }
                let moved = action.take(event).map_err(Refused::internal)?;
                action.refused_with = given.map(|given| given.note.clone());
                if event == ActionEvent::Refused {
                    let key = action.intent.tool.clone();
                    *journal.session.counters.refused_questions.entry(key).or_default() += 1;
                }
                let moves = journal.note_action(action)?;
                let said = Said::about(
                    &action.id,
                    json!({
                        "answer": becomes.as_str(),
                        "question": action.question.as_ref().map(|q| q.as_str()),
                        "by": by,
                        "reasons": [code.as_str()],
                        "tool": {"name": action.intent.tool},
                    }),
                );
                journal.write(EntryKind::Vote, said.action_moved(moved).session_moved(moves))?;
                Ok(true)
            },
        );
        let (session, action) = settled.await?;
        Ok(self.plain_answer(&session, action))
    }

    /// Runs a resumed road in a task of the daemon's own and waits for it.
    pub(in crate::app) async fn resume_and_wait(
        &self,
        session: Session,
        action: Action,
        given: Given,
    ) -> Result<ActionAnswer, Refused> {
        let (teller, heard) = Teller::new();
        let app = self.clone();
        self.inner.roads.spawn(async move {
            let outcome = Box::pin(app.resume(&session, action, given, &teller)).await;
            teller.end(outcome);
        });
        super::submit::wait_until(heard, WaitFor::Outcome, std::time::Duration::from_secs(30)).await
    }
}
