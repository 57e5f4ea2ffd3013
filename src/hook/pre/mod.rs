//! Owns: the steps of a decision, pure: admission, binding, loop guard, provenance, facts, effect, policy, decision.
//! Must not know: any `await`, any I/O, how facts are fetched or decisions stored.
//! Start reading at: `prepare` and `decide` below, then the checks in their order.
//!
//! Steps 1 and 2 end the road on failure; 4 to 7 are independent and all reported. Everything a
//! decision rests on is in [`Inputs`], so that it can be made again from what was stored.

mod admission;
mod binding;
mod decide;
mod effect;
mod facts;
mod loop_guard;
mod policy;
mod provenance;

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::{
    binding::call_digest,
    effect::{EffectFault, effect_value, identify},
};
use crate::{
    bundle::{Bundle, contract::Contract},
    domain::{
        action_record::{Answer, Bound},
        canonical::Digest,
        clock::{Clock, Timestamp},
        contract_terms::Check,
        datum::Datum,
        decision::{ArgumentProvenance, CheckResult, Decision, MatrixColumn},
        effect::EffectIdentity,
        fact::Facts,
        ids::ActionId,
        intent::Intent,
        pointer::Pointer,
        session::SessionState,
        session_record::Session,
        unit::EffectStatus,
    },
    expr::Bindings,
};

/// Everything a decision rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// When it is made.
    pub now: Timestamp,
    /// The action's handle.
    pub action: ActionId,
    /// The session as it stood.
    pub session: Session,
    /// The state from which the action was proposed; the session's own for a new one.
    pub proposed_in: SessionState,
    /// What was proposed.
    pub intent: Intent,
    /// Data of the session that the intent cites, refers to or shows.
    pub data: Vec<Datum>,
    /// The principal's statements in the session.
    pub statements: Vec<Datum>,
    /// Answers given to this action so far.
    pub answers: Vec<Answer>,
    /// Arguments and labels frozen when it was proposed; none for a new action.
    pub frozen: Option<Frozen>,
    /// The facts; empty until they were read.
    pub facts: Facts,
    /// What is known of the effect; empty until it was looked up.
    pub effects: Effects,
}

/// What a waiting action keeps of its proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    /// The bound arguments and their labels.
    pub bound: Bound,
    /// Their provenance.
    pub arguments: Vec<ArgumentProvenance>,
}

/// What is known of the effect an action would have.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Effects {
    /// Live claims of the same business effect, under any key.
    pub same: Vec<Claim>,
    /// The sums of the workflow's budgets so far, without this action, by budget id.
    pub sums: BTreeMap<String, i64>,
}

/// A live claim of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Who holds it.
    pub action: ActionId,
    /// Whether it is under this very key.
    pub same_key: bool,
    /// The request's digest.
    pub fingerprint: Digest,
    /// What became of it.
    pub status: EffectStatus,
}

/// The first half of a decision: what is known before facts are read.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The checks so far, in order.
    pub checks: Vec<CheckResult>,
    /// The contract; none when the tool is unknown.
    pub contract: Option<Arc<Contract>>,
    /// The bound arguments; none when binding failed.
    pub bound: Option<Bound>,
    /// Where the arguments came from.
    pub arguments: Vec<ArgumentProvenance>,
    /// Whether the road ended here.
    pub ended: bool,
    cited_conflict: bool,
}

/// A decision and what it is about.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// The bound arguments; none when binding failed.
    pub bound: Option<Bound>,
    /// What identifies the effect; none for reads and refused roads.
    pub effect: Option<EffectIdentity>,
    /// The contract; none when the tool is unknown.
    pub contract: Option<Arc<Contract>>,
}

/// Steps 1 to 4, up to where facts are needed.
#[must_use]
pub fn prepare(bundle: &Bundle, inputs: &Inputs, clock: &dyn Clock) -> Prepared {
    prepare_in(&Run::timed(clock), bundle, inputs)
}

/// Steps 5 to 8.
#[must_use]
pub fn decide(bundle: &Bundle, inputs: &Inputs, prepared: Prepared, clock: &dyn Clock) -> Decided {
    decide_in(&Run::timed(clock), bundle, inputs, prepared)
}

/// The whole decision from stored inputs.
#[must_use]
pub fn assess(bundle: &Bundle, inputs: &Inputs) -> Decided {
    let run = Run::untimed(None);
    decide_in(&run, bundle, inputs, prepare_in(&run, bundle, inputs))
}

/// The whole decision with one check taken out, for the test that no check is idle.
#[doc(hidden)]
#[must_use]
pub fn assess_without(bundle: &Bundle, inputs: &Inputs, left_out: Check) -> Decided {
    let run = Run::untimed(Some(left_out));
    decide_in(&run, bundle, inputs, prepare_in(&run, bundle, inputs))
}

/// The bound arguments alone, to find a settled effect before anything else is checked; none when
/// binding refuses them.
#[must_use]
pub fn bind(inputs: &Inputs, contract: &Contract) -> Option<Bound> {
    binding::bind(inputs, contract).bound
}

fn prepare_in(run: &Run<'_>, bundle: &Bundle, inputs: &Inputs) -> Prepared {
    let contract = bundle.contracts.get(&inputs.intent.tool).cloned();
    let mut prepared = Prepared {
        checks: Vec::new(),
        contract: contract.clone(),
        bound: None,
        arguments: Vec::new(),
        ended: false,
        cited_conflict: false,
    };
    prepared.keep(run.mark(admission::check(bundle, inputs, contract.as_deref())));
    let Some(contract) = contract else {
        prepared.ended = true;
        return prepared;
    };
    if prepared.ended {
        return prepared;
    }
    let bound = binding::bind(inputs, &contract);
    prepared.keep(run.mark(bound.result));
    prepared.bound = bound.bound;
    let Some(arguments) = prepared.bound.clone() else {
        prepared.ended = true;
        return prepared;
    };
    if prepared.ended {
        return prepared;
    }
    let call = call_digest(&contract.name, &arguments.arguments);
    let loops = run.mark(loop_guard::check(bundle, inputs, &contract, call.as_ref()));
    let stop = loops.refuses();
    prepared.checks.push(loops);
    let origins = provenance::assess(inputs, &contract, &arguments, &bound.references);
    prepared.checks.push(run.mark(origins.result));
    if let (Some(bound), None) = (&mut prepared.bound, &inputs.frozen) {
        bound.labels = provenance::labels(&origins.arguments);
    }
    prepared.arguments = origins.arguments;
    prepared.cited_conflict = origins.conflict;
    prepared.ended = stop;
    prepared
}

fn decide_in(run: &Run<'_>, bundle: &Bundle, inputs: &Inputs, mut prepared: Prepared) -> Decided {
    let (Some(contract), Some(bound), false) =
        (prepared.contract.clone(), prepared.bound.clone(), prepared.ended)
    else {
        return decide::unite(bundle, inputs, prepared, None, MatrixColumn::Unasked);
    };
    let bindings = bindings(inputs, &bound.arguments);
    let mut facts = facts::check(bundle, inputs, &contract, &bound, &bindings);
    facts.result = run.mark(facts.result);
    if run.left_out == Some(Check::Facts) {
        facts.forget();
    }
    provenance::finish(&mut prepared.arguments, &contract, &facts);
    let mut effect = effect::check(bundle, inputs, &contract, &bound, &bindings, facts.missing);
    effect.result = run.mark(effect.result);
    if run.left_out == Some(Check::Effect) {
        effect.above_threshold = false;
    }
    let seen = policy::Seen {
        contract: &contract,
        bound: &bound,
        arguments: &prepared.arguments,
        facts: &facts,
        effect: &effect,
        cited_conflict: prepared.cited_conflict,
    };
    let guard = policy::guard(bundle, inputs, &seen);
    // A policy over a fact that is not there could only fail; the fact has its own reason.
    let policy = if facts.missing {
        CheckResult::skipped(Check::Policy)
    } else {
        run.mark(policy::check(bundle, inputs, &seen, &guard))
    };
    prepared.checks.extend([facts.result.clone(), effect.result.clone(), policy]);
    let column = decide::column(&guard);
    decide::unite(bundle, inputs, prepared, effect.identity, column)
}

/// One pass over the checks: how long each took, and which one a test took out.
struct Run<'c> {
    clock: Option<&'c dyn Clock>,
    left_out: Option<Check>,
    lap: Cell<Timestamp>,
}

impl<'c> Run<'c> {
    fn timed(clock: &'c dyn Clock) -> Self {
        Self { clock: Some(clock), left_out: None, lap: Cell::new(clock.now()) }
    }

    fn untimed(left_out: Option<Check>) -> Self {
        Self { clock: None, left_out, lap: Cell::new(Timestamp::default()) }
    }

    /// Notes how long a check took; skips the one that was taken out.
    fn mark(&self, mut result: CheckResult) -> CheckResult {
        if self.left_out == Some(result.check) {
            return CheckResult::skipped(result.check);
        }
        if let Some(clock) = self.clock {
            let now = clock.now();
            let took = now.since(self.lap.replace(now));
            result.us = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        }
        result
    }
}

impl Prepared {
    fn keep(&mut self, result: CheckResult) {
        self.ended = self.ended || result.refuses();
        self.checks.push(result);
    }
}

/// The roots that expressions of a contract see before the call.
#[must_use]
pub fn bindings(inputs: &Inputs, arguments: &Value) -> Bindings {
    let session = &inputs.session;
    let mut bindings = Bindings::new();
    bindings.bind("args", arguments.clone());
    bindings.bind("facts", inputs.facts.values());
    bindings.bind("case", session.case_value());
    bindings.bind("session", session_value(session));
    bindings.bind("principal", principal_value(session));
    if let Some(subject) = &session.subject {
        bindings.bind("subject", json!({"type": subject.ty, "id": subject.id}));
    }
    bindings.bind_now(inputs.now);
    bindings
}

/// The root `session` of an expression.
#[must_use]
pub fn session_value(session: &Session) -> Value {
    json!({
        "id": session.id.as_str(),
        "workflow": session.workflow,
        "purpose": session.purpose,
        "state": session.state.as_str(),
    })
}

fn principal_value(session: &Session) -> Value {
    let principal = &session.principal;
    json!({
        "id": principal.sub,
        "tenant": session.tenant.as_str(),
        "kind": principal.kind.as_str(),
        "roles": principal.roles,
        "channel": principal.channel,
        "assurance": principal.assurance.as_str(),
    })
}

/// What stands at every place that a role of the contract covers, root of the role first.
fn role_places(contract: &Contract, arguments: &Value) -> Vec<Pointer> {
    contract.input.roles.keys().filter(|at| at.get(arguments).is_some()).cloned().collect()
}
