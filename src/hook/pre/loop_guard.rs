//! Step 3: is the session going in circles? Refused and failed calls count.

use crate::{
    bundle::{Bundle, contract::Contract},
    domain::{
        canonical::Digest,
        contract_terms::Check,
        decision::{CheckResult, Reason},
        reason::ReasonCode,
    },
    hook::pre::Inputs,
};

pub(super) fn check(
    bundle: &Bundle,
    inputs: &Inputs,
    contract: &Contract,
    call: Option<&Digest>,
) -> CheckResult {
    // An answer continues an action that was counted when it was proposed.
    if inputs.frozen.is_some() {
        return CheckResult::pass(Check::LoopGuard);
    }
    let (budgets, used) = (&bundle.workflow.budgets, &inputs.session.counters);
    let mut reasons = Vec::new();
    if used.steps >= budgets.steps {
        reasons.push(Reason::of(Check::LoopGuard, ReasonCode::StepsExhausted));
    }
    let calls = used.calls.get(&contract.name).copied().unwrap_or(0);
    if budgets.calls.get(&contract.name).is_some_and(|cap| calls >= *cap) {
        reasons.push(Reason::of(Check::LoopGuard, ReasonCode::CallsExhausted));
    }
    let equal = call.and_then(|call| used.identical.get(call.as_str())).copied().unwrap_or(0);
    if equal >= budgets.identical_calls {
        reasons.push(Reason::of(Check::LoopGuard, ReasonCode::LoopSuspected));
    }
    CheckResult::refuse_for(Check::LoopGuard, reasons)
}
