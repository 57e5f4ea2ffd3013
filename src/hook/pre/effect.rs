//! Step 6: what the action would do, whether that was done or is being done already, and whether
//! the budgets bear it.

use serde_json::{Value, json};

use super::Inputs;
use crate::{
    bundle::{
        Bundle,
        contract::{Contract, Effect},
        workflow::BudgetAnswer,
    },
    domain::{
        action_record::Bound,
        canonical::{self, Digest},
        contract_terms::{Check, Need, Risk, RoleKind},
        decision::{CheckResult, CheckVerdict, Reason},
        effect::{EffectIdentity, Money},
        pointer::Pointer,
        reason::ReasonCode,
    },
    expr::Bindings,
};

/// What is known of the effect.
pub(super) struct EffectSeen {
    pub(super) result: CheckResult,
    pub(super) identity: Option<EffectIdentity>,
    /// A sum of the workflow reached its threshold.
    pub(super) above_threshold: bool,
}

/// Why an effect has no identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EffectFault {
    /// An expression did not evaluate.
    #[error("`{part}`: {text}")]
    Expression {
        /// `key`, `same` or `amount`.
        part: &'static str,
        /// What the evaluation said.
        text: String,
    },
    /// An expression gave something else than its contract promises.
    #[error("`{0}` is not of the form that the contract promises")]
    Form(&'static str),
}

/// Key, `same`, fingerprint and amount of an effect. The amount is left out where its facts are not
/// there yet, so that a settled key can be found before facts are read.
///
/// # Errors
/// When an expression fails or gives another form.
pub fn identify(
    contract: &Contract,
    effect: &Effect,
    arguments: &Value,
    bindings: &Bindings,
    with_amount: bool,
) -> Result<EffectIdentity, EffectFault> {
    let list = |part: &'static str, expr: &crate::expr::Expr| match expr.eval(bindings) {
        Ok(value) if value.is_array() => Ok(value),
        Ok(_) => Err(EffectFault::Form(part)),
        Err(error) => Err(EffectFault::Expression { part, text: error.to_string() }),
    };
    let amount = match &effect.amount {
        Some(expr) if with_amount => Some(amount_of(expr, bindings)?),
        Some(_) | None => None,
    };
    Ok(EffectIdentity {
        name: effect.name.clone(),
        key: list("key", &effect.key)?,
        same: list("same", &effect.same)?,
        fingerprint: fingerprint(contract, arguments).ok_or(EffectFault::Form("fingerprint"))?,
        amount,
    })
}

fn amount_of(expr: &crate::expr::Expr, bindings: &Bindings) -> Result<Money, EffectFault> {
    let value = expr
        .eval(bindings)
        .map_err(|error| EffectFault::Expression { part: "amount", text: error.to_string() })?;
    serde_json::from_value::<Money>(value)
        .ok()
        .filter(|money| money.minor >= 0 && !money.currency.is_empty())
        .ok_or(EffectFault::Form("amount"))
}

/// Tells a repetition from another request: tool and arguments without evidence, which is shown and
/// not sent. Facts stay out, since the effect itself changes them (docs/decisions/0003).
fn fingerprint(contract: &Contract, arguments: &Value) -> Option<Digest> {
    let mut sent = arguments.clone();
    for (at, role) in &contract.input.roles {
        if role.kind == RoleKind::Evidence {
            remove(&mut sent, at);
        }
    }
    canonical::digest(&json!([contract.name, sent])).ok()
}

fn remove(value: &mut Value, at: &Pointer) {
    let (Some(parent), Some(name)) = (at.parent(), at.tokens().last()) else { return };
    if let Some(Value::Object(members)) = value.pointer_mut(parent.as_str()) {
        members.remove(&name);
    }
}

pub(super) fn check(
    bundle: &Bundle,
    inputs: &Inputs,
    contract: &Contract,
    bound: &Bound,
    bindings: &Bindings,
    facts_missing: bool,
) -> EffectSeen {
    let mut seen = EffectSeen {
        result: CheckResult::pass(Check::Effect),
        identity: None,
        above_threshold: false,
    };
    let Some(effect) = &contract.effect else { return seen };
    let mut refusals = Vec::new();
    let mut notes = Vec::new();
    match identify(contract, effect, &bound.arguments, bindings, true) {
        Ok(identity) => seen.identity = Some(identity),
        // A missing fact has its own reason; what fails with all facts present is the contract's fault.
        Err(_) if facts_missing => {}
        Err(fault) => refusals.push(reason(ReasonCode::EffectUndefined).saying(fault.to_string())),
    }
    if let Some(identity) = &seen.identity {
        refusals.extend(above_maximum(effect, identity));
        refusals.extend(key_of_another(inputs, identity));
        let (denied, asked) = sums(bundle, inputs, contract, identity, bindings);
        seen.above_threshold = !asked.is_empty();
        refusals.extend(denied);
        notes.extend(asked);
    }
    refusals.extend(busy(inputs, bound));
    refusals.extend(writes_used_up(inputs));
    let twice = inputs.effects.same.iter().any(|claim| claim.action != inputs.action);
    seen.result = if refusals.is_empty() {
        duplicate(contract, twice, notes)
    } else {
        CheckResult::refuse_for(Check::Effect, refusals)
    };
    seen
}

fn reason(code: ReasonCode) -> Reason {
    Reason::of(Check::Effect, code)
}

/// The same business effect, done or in flight under another key: asks a person.
fn duplicate(contract: &Contract, twice: bool, mut notes: Vec<Reason>) -> CheckResult {
    if !twice {
        let verdict = if notes.is_empty() { CheckVerdict::Pass } else { CheckVerdict::Note };
        return CheckResult::new(Check::Effect, verdict, notes);
    }
    notes.push(reason(ReasonCode::PossibleDuplicate).by("effect.same"));
    let heavy = [Risk::Financial, Risk::Irreversible, Risk::Grant, Risk::Sensitive];
    let need = if heavy.iter().any(|risk| contract.risks.contains(risk)) {
        Need::Approval
    } else {
        Need::Confirmation
    };
    let mut result = CheckResult::new(Check::Effect, CheckVerdict::Needs, notes);
    result.needs.insert(need);
    result.rules.push("effect.same".to_owned());
    result
}

/// This very key is taken: by another request, or by somebody whose outcome is not ours to see.
fn key_of_another(inputs: &Inputs, identity: &EffectIdentity) -> Option<Reason> {
    let mut claims = inputs.effects.same.iter();
    let held = claims.find(|claim| claim.same_key && claim.action != inputs.action)?;
    let code = if held.fingerprint == identity.fingerprint {
        ReasonCode::PossibleDuplicate
    } else {
        ReasonCode::IdempotencyMismatch
    };
    Some(reason(code).by("effect.key"))
}

fn above_maximum(effect: &Effect, identity: &EffectIdentity) -> Option<Reason> {
    let maximum = effect.amount_max.as_ref()?;
    let amount = identity.amount.as_ref()?;
    let within = amount.currency == maximum.currency && amount.minor <= maximum.minor;
    (!within).then(|| {
        reason(ReasonCode::AmountAboveMaximum)
            .saying(format!("{} {}", amount.minor, amount.currency))
    })
}

/// Sums of the workflow, this action included: refusals, and thresholds that ask.
fn sums(
    bundle: &Bundle,
    inputs: &Inputs,
    contract: &Contract,
    identity: &EffectIdentity,
    bindings: &Bindings,
) -> (Vec<Reason>, Vec<Reason>) {
    let (mut denied, mut asked) = (Vec::new(), Vec::new());
    let mut with_effect = bindings.clone();
    with_effect.bind("effect", effect_value(identity, None));
    for budget in &bundle.workflow.budgets.sums {
        let Some(value) = budget.value.get(&contract.name) else { continue };
        let Some(own) = value.eval(&with_effect).ok().and_then(|value| value.as_i64()) else {
            denied.push(reason(ReasonCode::EffectUndefined).by(budget.id.clone()));
            continue;
        };
        let before = inputs.effects.sums.get(&budget.id).copied().unwrap_or(0);
        if before.saturating_add(own) < budget.at_least {
            continue;
        }
        let reached = reason(budget.reason).by(budget.id.clone());
        match budget.then {
            BudgetAnswer::Deny => denied.push(reached),
            BudgetAnswer::Approval => asked.push(reached),
        }
    }
    (denied, asked)
}

/// The root `effect` of an expression.
#[must_use]
pub fn effect_value(identity: &EffectIdentity, provider_key: Option<&str>) -> Value {
    let mut value = json!({"key": identity.key, "same": identity.same});
    if let (Some(amount), Value::Object(members)) = (&identity.amount, &mut value) {
        members.insert(
            "amount".to_owned(),
            json!({"minor": amount.minor, "currency": amount.currency}),
        );
    }
    if let (Some(key), Value::Object(members)) = (provider_key, &mut value) {
        members.insert("provider_key".to_owned(), Value::from(key));
    }
    value
}

fn busy(inputs: &Inputs, bound: &Bound) -> Option<Reason> {
    let (ty, id) = bound.resource.as_ref()?;
    let resource = format!("{ty}/{id}");
    let others = inputs.session.open.iter().any(|(action, open)| {
        *action != inputs.action && open.resource.as_deref() == Some(&resource)
    });
    others.then(|| reason(ReasonCode::ResourceBusy).saying(resource))
}

fn writes_used_up(inputs: &Inputs) -> Option<Reason> {
    let cap = inputs.session.scope.limits.get("writes")?;
    let used = i64::from(inputs.session.counters.writes);
    (used >= *cap).then(|| reason(ReasonCode::BudgetExceeded).by("scope.limits.writes"))
}
