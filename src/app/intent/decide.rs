//! From a session and an intent to a decision: what is read for it, in which order.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    app::{
        App, Caller, Refused, RefusedKind,
        intent::{entries::micros, submit::Submission},
    },
    bundle::{
        Bundle,
        contract::Contract,
        workflow::{BudgetScope, SumBudget},
    },
    domain::{
        action_record::Action,
        canonical::Digest,
        clock::Timestamp,
        contract_terms::Check,
        datum::Datum,
        ids::{ActionId, DatumId, SessionId, TenantId},
        intent::Intent,
        json::{self, JsonLimits},
        reason::ReasonCode,
        session_record::Session,
        unit::{EffectRow, EffectStatus},
    },
    hook::pre::{self, Claim, Decided, Effects, Inputs},
    store::{EffectView, SumQuery},
};

/// One intent on its way.
#[derive(Debug)]
pub(super) struct Road {
    pub(super) session: Session,
    pub(super) bundle: Arc<Bundle>,
    pub(super) inputs: Inputs,
    pub(super) started_at: Timestamp,
    /// What the request id led to before.
    request: Option<(Digest, ActionId)>,
    /// How often the effect's key was released.
    pub(super) generation: i64,
    looked_up: bool,
}

/// What is known of the effect before facts are read.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Nothing that answers the intent.
    Nothing,
    /// It was carried out: this action has the outcome.
    Replay(ActionId),
    /// The same intent waits for an answer.
    Waiting(ActionId),
    /// It is being carried out.
    InFlight(ActionId),
}

impl Road {
    /// The action that the same request id led to.
    pub(super) fn seen_before(&self, submission: &Submission) -> Result<Option<ActionId>, Refused> {
        match (&self.request, &submission.request) {
            (Some((digest, action)), Some((_, given))) if digest == given => {
                Ok(Some(action.clone()))
            }
            (Some(_), Some(_)) => {
                Err(Refused::new(RefusedKind::Invalid, ReasonCode::RequestIdReused))
            }
            (None, _) | (_, None) => Ok(None),
        }
    }

    /// The contract of the intent.
    pub(super) fn contract(&self) -> Option<&Arc<Contract>> {
        self.bundle.contracts.get(&self.inputs.intent.tool)
    }
}

impl App {
    /// Reads what an intent starts from, in one go.
    pub(super) async fn start_road(
        &self,
        caller: &Caller,
        tenant: &TenantId,
        session: &SessionId,
        submission: &Submission,
    ) -> Result<Road, Refused> {
        let started_at = self.now();
        let wanted = handles(&submission.intent);
        let request_id = submission.request.as_ref().map(|(id, _)| id.as_str());
        let view = self
            .store()
            .road(tenant, session, &wanted, request_id)
            .await?
            .ok_or_else(Refused::not_found)?;
        let session = self.session_from(tenant, &view.session)?;
        self.may_see(caller, &session)?;
        let bundle = self.bundle(&session.bundle_digest).await?;
        let open = |rows: &[_]| -> Result<Vec<Datum>, Refused> {
            rows.iter().map(|row| self.datum_from(tenant, row)).collect()
        };
        let inputs = Inputs {
            now: self.now(),
            action: self.ids().action(),
            proposed_in: session.standing.ground(),
            session: session.clone(),
            intent: submission.intent.clone(),
            data: open(&view.data)?,
            statements: open(&view.statements)?,
            answers: Vec::new(),
            frozen: None,
            facts: crate::domain::fact::Facts::default(),
            effects: Effects::default(),
        };
        Ok(Road {
            session,
            bundle,
            inputs,
            started_at,
            request: view.request,
            generation: 0,
            looked_up: false,
        })
    }

    /// Looks the effect up, if its key can be computed before facts are read. Comes before the
    /// state check: a closed session still answers with its stored outcome.
    pub(super) async fn look_up_effect(&self, road: &mut Road) -> Result<Lookup, Refused> {
        let Some(contract) = road.contract().cloned() else { return Ok(Lookup::Nothing) };
        let Some(effect) = contract.effect.as_ref() else { return Ok(Lookup::Nothing) };
        let Some(bound) = pre::bind(&road.inputs, &contract) else { return Ok(Lookup::Nothing) };
        let bindings = pre::bindings(&road.inputs, &bound.arguments);
        let identity = pre::identify(&contract, effect, &bound.arguments, &bindings, false);
        let Ok(identity) = identity else { return Ok(Lookup::Nothing) };
        let view = self.effect_view(road, &identity).await?;
        let fingerprint = identity.fingerprint;
        if let Some((waiting, Some(theirs))) = &view.waiting
            && *theirs == fingerprint
            && road.inputs.frozen.is_none()
        {
            return Ok(Lookup::Waiting(waiting.clone()));
        }
        let Some(held) = &view.by_key else { return Ok(Lookup::Nothing) };
        let own =
            held.session == road.session.id || held.principal == self.principal_key(&road.session);
        if !own || held.fingerprint != fingerprint || held.action == road.inputs.action {
            return Ok(Lookup::Nothing);
        }
        Ok(match held.status {
            EffectStatus::Settled => Lookup::Replay(held.action.clone()),
            EffectStatus::InFlight => Lookup::InFlight(held.action.clone()),
            EffectStatus::Released => Lookup::Nothing,
        })
    }

    /// Keeps what the store knows of the effect among the inputs.
    async fn effect_view(
        &self,
        road: &mut Road,
        identity: &crate::domain::effect::EffectIdentity,
    ) -> Result<EffectView, Refused> {
        let tenant = road.session.tenant.clone();
        let (key, same) = self.effect_keys(&tenant, &identity.key, &identity.same)?;
        let view = self.store().effect(&tenant, &identity.name, &key, &same).await?;
        let claim = |row: &EffectRow| Claim {
            action: row.action.clone(),
            same_key: row.key == key,
            fingerprint: row.fingerprint.clone(),
            status: row.status,
        };
        let mut claims: Vec<Claim> = view.by_same.iter().map(claim).collect();
        claims.extend(view.by_key.iter().filter(|row| row.same != same).map(claim));
        road.inputs.effects.same = claims;
        road.generation = view.generation;
        road.looked_up = true;
        Ok(view)
    }

    /// Steps 1 to 8, with facts read in between.
    pub(super) async fn decide_road(&self, road: &mut Road) -> Result<Decided, Refused> {
        let clock = Arc::clone(&self.parts().clock);
        let prepared = pre::prepare(&road.bundle, &road.inputs, clock.as_ref());
        let reading = self.now();
        if let (Some(contract), Some(bound), false) =
            (prepared.contract.clone(), prepared.bound.clone(), prepared.ended)
        {
            road.inputs.facts = self.read_facts(road, &contract, &bound.arguments).await?;
            // Facts were read now; what is decided, is decided after that.
            road.inputs.now = self.now();
            let bindings = pre::bindings(&road.inputs, &bound.arguments);
            if let Some(effect) = &contract.effect
                && !road.looked_up
                && let Ok(identity) =
                    pre::identify(&contract, effect, &bound.arguments, &bindings, false)
            {
                self.effect_view(road, &identity).await?;
            }
            if contract.effect.is_some() {
                self.read_sums(road, &contract).await?;
            }
        }
        let read_us = micros(self.now().since(reading));
        let mut decided = pre::decide(&road.bundle, &road.inputs, prepared, clock.as_ref());
        let mut checks = decided.decision.checks.iter_mut();
        if let Some(facts) = checks.find(|result| result.check == Check::Facts) {
            facts.us = facts.us.saturating_add(read_us);
        }
        Ok(decided)
    }

    /// The sums of the workflow's budgets so far.
    async fn read_sums(&self, road: &mut Road, contract: &Contract) -> Result<(), Refused> {
        for budget in &road.bundle.workflow.budgets.sums {
            if !budget.of.contains(&contract.name) {
                continue;
            }
            let query = self.sum_query(road, budget);
            let sum = self.store().sum(&road.session.tenant, &query).await?;
            road.inputs.effects.sums.insert(budget.id.clone(), sum);
        }
        Ok(())
    }

    fn sum_query(&self, road: &Road, budget: &SumBudget) -> SumQuery {
        let session = &road.session;
        let mut query = SumQuery {
            tools: budget.of.iter().cloned().collect(),
            subject: None,
            principal: None,
            session: None,
            since: road.inputs.now.minus(budget.window),
            except: Some(road.inputs.action.clone()),
        };
        match budget.per {
            BudgetScope::Session => query.session = Some(session.id.clone()),
            BudgetScope::Principal => query.principal = Some(self.principal_key(session)),
            BudgetScope::Subject => query.subject = self.subject_key(session),
            BudgetScope::Tenant => {}
        }
        query
    }

    /// The road of an action that waits for an answer: its own arguments and labels, fresh facts.
    pub(super) async fn road_of(
        &self,
        session: &Session,
        action: &Action,
    ) -> Result<Road, Refused> {
        let wanted = handles(&action.intent);
        let tenant = &session.tenant;
        let view = self
            .store()
            .road(tenant, &session.id, &wanted, None)
            .await?
            .ok_or_else(Refused::not_found)?;
        let session = self.session_from(tenant, &view.session)?;
        let bundle = self.bundle(&session.bundle_digest).await?;
        let open = |rows: &[_]| -> Result<Vec<Datum>, Refused> {
            rows.iter().map(|row| self.datum_from(tenant, row)).collect()
        };
        let frozen = action
            .bound
            .clone()
            .map(|bound| pre::Frozen { bound, arguments: action.decision.arguments.clone() });
        let now = self.now();
        let inputs = Inputs {
            now,
            action: action.id.clone(),
            proposed_in: action.proposed_in,
            session: session.clone(),
            intent: action.intent.clone(),
            data: open(&view.data)?,
            statements: open(&view.statements)?,
            answers: action.answers.clone(),
            frozen,
            facts: crate::domain::fact::Facts::default(),
            effects: Effects::default(),
        };
        Ok(Road {
            session,
            bundle,
            inputs,
            started_at: now,
            request: None,
            generation: 0,
            looked_up: false,
        })
    }
}

/// The data that an intent cites, refers to or shows; what is no handle names nothing.
fn handles(intent: &Intent) -> Vec<DatumId> {
    let mut found: BTreeSet<String> = intent.citations.iter().map(|c| c.datum.clone()).collect();
    found.extend(intent.evidence.iter().cloned());
    if let Ok(arguments) = json::parse(intent.arguments_json.as_bytes(), &JsonLimits::ARGUMENTS) {
        collect(&arguments, &mut found);
    }
    found.iter().filter_map(|text| DatumId::parse(text).ok()).collect()
}

/// Every string of the arguments that has the form of a handle: references and evidence.
fn collect(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::String(text) if DatumId::parse(text).is_ok() => {
            found.insert(text.clone());
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        serde_json::Value::Object(members) => {
            members.values().for_each(|member| collect(member, found));
        }
        serde_json::Value::String(_)
        | serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_) => {}
    }
}
