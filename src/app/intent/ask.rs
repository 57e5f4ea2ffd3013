//! Where a decision ends without a call: a refusal, or a question to a person.

use std::{collections::BTreeMap, time::Duration};

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
    bundle::contract::Contract,
    domain::{
        action::{ActionEvent, ActionState},
        action_record::{Action, QuestionView},
        canonical,
        contract_terms::{Need, Verdict},
        decision::CheckVerdict,
        entry::EntryKind,
        fact::FactState,
        limits,
        session::SessionTransition,
        unit::{Change, QuestionRow, QuestionState},
    },
    hook::pre::{Decided, call_digest},
};

impl App {
    /// The action of a decided intent, still `proposed`.
    pub(super) fn new_action(&self, road: &Road, decided: &Decided) -> Action {
        Action {
            id: road.inputs.action.clone(),
            session: road.session.id.clone(),
            version: 1,
            state: ActionState::Proposed,
            intent: road.inputs.intent.clone(),
            proposed_at: road.inputs.now,
            proposed_in: road.inputs.proposed_in,
            bound: decided.bound.clone(),
            decision: decided.decision.clone(),
            inputs: self.ids().inputs(),
            effect: decided.effect.clone(),
            facts: road.inputs.facts.clone(),
            dispatch: None,
            outcome: None,
            verification: None,
            question: None,
            answers: Vec::new(),
            stale_rounds: 0,
            refused_with: None,
        }
    }

    /// What every new intent adds: it is counted, its inputs are kept, its request id is remembered.
    pub(super) fn keep_intent(
        &self,
        journal: &mut Journal<'_>,
        road: &Road,
        action: &Action,
        submission: Option<&Submission>,
    ) -> Result<(), Refused> {
        let tenant = road.session.tenant.clone();
        journal.change(Change::InsertInputs {
            inputs: action.inputs.clone(),
            session: road.session.id.clone(),
            sealed: self.seal_inputs(&tenant, &action.inputs, &road.inputs)?,
        });
        let Some(submission) = submission else { return Ok(()) };
        if let Some((request_id, digest)) = &submission.request {
            journal.change(Change::RememberRequest {
                session: road.session.id.clone(),
                request_id: request_id.clone(),
                digest: digest.clone(),
                action: action.id.clone(),
            });
        }
        let counters = &mut journal.session.counters;
        counters.steps = counters.steps.saturating_add(1);
        // Only names of the bundle are counted, and nothing once the steps are used up, so that
        // whoever goes on asking cannot fill the session.
        let within = counters.steps <= road.bundle.workflow.budgets.steps;
        if within && road.bundle.contracts.contains_key(&action.intent.tool) {
            *counters.calls.entry(action.intent.tool.clone()).or_default() += 1;
            if let Some(call) = call_digest(&action.intent.tool, &action.arguments()) {
                *counters.identical.entry(call.to_string()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Records a refusal.
    pub(super) async fn deny(
        &self,
        road: &Road,
        decided: Decided,
        submission: &Submission,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let mut action = self.new_action(road, &decided);
        let mut journal = Journal::of(self, "intent.deny", &road.session);
        let moved = action.take(ActionEvent::Denied).map_err(Refused::internal)?;
        self.keep_intent(&mut journal, road, &action, Some(submission))?;
        journal.new_action(&action)?;
        let mut said = self.decision_said(road, &decided, &action)?.action_moved(moved);
        if let Some(moves) = end_expired(&mut journal)? {
            said = said.session_moved(moves);
        }
        journal.write(EntryKind::Decision, said)?;
        match journal.commit().await? {
            Ok((session, _)) => Ok(Some(self.plain_answer(&session, action))),
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Asks a person; the action waits.
    pub(super) async fn ask(
        &self,
        road: &Road,
        decided: Decided,
        submission: &Submission,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let mut action = self.new_action(road, &decided);
        let mut journal = Journal::of(self, "intent.ask", &road.session);
        self.keep_intent(&mut journal, road, &action, Some(submission))?;
        let question = self.pose(&mut journal, road, &decided, &mut action)?;
        journal.new_action(&action)?;
        match journal.commit().await? {
            Ok((session, _)) => {
                let mut answer = self.plain_answer(&session, action);
                answer.question = Some(question);
                Ok(Some(answer))
            }
            Err(refusal) if lost_race(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Poses the question that a decision waits for: moves the action, writes question and entries.
    pub(super) fn pose(
        &self,
        journal: &mut Journal<'_>,
        road: &Road,
        decided: &Decided,
        action: &mut Action,
    ) -> Result<QuestionRow, Refused> {
        let contract = decided
            .contract
            .as_ref()
            .ok_or_else(|| Refused::internal("a question about an unknown tool"))?;
        let (need, event) = match decided.decision.verdict {
            Verdict::ConfirmationRequired => (Need::Confirmation, ActionEvent::ConfirmationAsked),
            Verdict::ApprovalRequired => (Need::Approval, ActionEvent::ApprovalAsked),
            Verdict::Allow | Verdict::Deny => {
                return Err(Refused::internal("a question without a need"));
            }
        };
        let before = action.state;
        if before
            != (if need == Need::Approval {
                ActionState::AwaitingApproval
            } else {
                ActionState::AwaitingConfirmation
            })
        {
            let moved = action.take(event).map_err(Refused::internal)?;
            let said = self.decision_said(road, decided, action)?.action_moved(moved);
            journal.write(EntryKind::Decision, said)?;
        } else {
            journal.write(EntryKind::Decision, self.decision_said(road, decided, action)?)?;
        }
        let view = self.view(road, decided, action, contract, need);
        let document = serde_json::to_value(&view).map_err(Refused::internal)?;
        let digest = canonical::digest(&document).map_err(Refused::internal)?;
        let id = self.ids().question();
        let life = self.question_life(road, contract, need);
        let row = QuestionRow {
            question: id.clone(),
            action: action.id.clone(),
            session: action.session.clone(),
            need,
            state: QuestionState::Pending,
            digest: digest.clone(),
            asked_at: journal.now,
            expires_at: journal.now.plus(life).min(road.session.expires_at),
            body: self.seal_view(&road.session.tenant, &id, &view)?,
        };
        action.question = Some(id.clone());
        let moves = journal.note_action(action)?;
        let said = Said::about(
            &action.id,
            json!({
                "need": need.as_str(),
                "question": id.as_str(),
                "digest": digest.as_str(),
                "expires_at_us": row.expires_at.micros(),
                "rules": view.rules,
                "tool": {"name": contract.name, "version": contract.version},
            }),
        );
        journal.write(EntryKind::Question, said.session_moved(moves))?;
        journal.change(Change::InsertQuestion(row.clone()));
        Ok(row)
    }

    fn question_life(&self, road: &Road, contract: &Contract, need: Need) -> Duration {
        match need {
            Need::Confirmation => limits::CONFIRMATION_LIFE,
            Need::Approval => road
                .bundle
                .approvals
                .rule_for(&contract.name, &contract.risks)
                .map_or(limits::CONFIRMATION_LIFE, |rule| rule.expires_after),
        }
    }

    /// What the person is shown; the digest is over exactly this.
    pub(super) fn view(
        &self,
        road: &Road,
        decided: &Decided,
        action: &Action,
        contract: &Contract,
        need: Need,
    ) -> QuestionView {
        let session = &road.session;
        let approval = road.bundle.approvals.rule_for(&contract.name, &contract.risks);
        let roles = approval.filter(|_| need == Need::Approval).map(|rule| {
            rule.factors.iter().flat_map(|factor| factor.roles.iter().cloned()).collect()
        });
        let rules = decided
            .decision
            .checks
            .iter()
            .filter(|check| check.verdict == CheckVerdict::Needs)
            .flat_map(|check| check.rules.iter().cloned())
            .collect();
        let labels = decided.decision.arguments.iter().map(|argument| {
            let named = argument.named_by.as_deref().unwrap_or("nobody");
            (argument.at.to_string(), format!("{}, named by {named}", argument.integrity))
        });
        QuestionView {
            action: action.id.clone(),
            session: session.id.clone(),
            need,
            tool: contract.name.clone(),
            tool_version: contract.version,
            tool_digest: contract.digest.to_string(),
            description: contract.description.clone(),
            risks: contract.risks.iter().map(ToString::to_string).collect(),
            purpose: action.intent.purpose.clone(),
            arguments: action.arguments(),
            labels: labels.collect(),
            resource: action.bound.as_ref().and_then(|bound| bound.resource.clone()),
            effect: action.effect.clone(),
            facts: used_facts(contract, action),
            reasons: decided.decision.code_texts().into_iter().map(str::to_owned).collect(),
            rules,
            bundle_digest: decided.decision.bundle_digest.clone(),
            principal: session.principal.sub.clone(),
            assurance: session.principal.assurance.to_string(),
            agent: format!("{} ({})", session.agent.agent, session.agent.workload),
            roles: roles.unwrap_or_default(),
        }
    }

    /// An answer without content, for the session's own agent.
    pub(super) fn plain_answer(
        &self,
        session: &crate::domain::session_record::Session,
        action: Action,
    ) -> ActionAnswer {
        ActionAnswer {
            action,
            session_state: session.state,
            replayed: false,
            result: None,
            question: None,
            fallback: None,
            in_full: false,
        }
    }
}

/// A session whose life is over and in which nothing is open ends with the first call that finds it so.
fn end_expired(journal: &mut Journal<'_>) -> Result<Option<Vec<SessionTransition>>, Refused> {
    let now = journal.now;
    let session = &mut journal.session;
    if now < session.expires_at || !session.open.is_empty() || session.state.is_terminal() {
        return Ok(None);
    }
    session.standing.handed_over = false;
    session.standing.closed = true;
    session.outcome = Some("expired".to_owned());
    session.settle_state().map(Some).map_err(Refused::internal)
}

/// The fact fields that expressions of the contract read, by dotted path.
fn used_facts(contract: &Contract, action: &Action) -> BTreeMap<String, serde_json::Value> {
    let mut used = BTreeMap::new();
    for path in contract.fact_paths() {
        let mut steps = path.split('.').skip(1);
        let Some(FactState::Present { value, .. }) =
            steps.next().and_then(|name| action.facts.get(name)).map(|fact| &fact.state)
        else {
            continue;
        };
        if let Some(held) = steps.try_fold(value, |value, step| value.get(step)) {
            used.insert(path.clone(), held.clone());
        }
    }
    used
}
