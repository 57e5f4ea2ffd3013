//! Step 1: may this session propose this tool now?

use crate::{
    bundle::{Bundle, contract::Contract, workflow::Case},
    domain::{
        contract_terms::Check,
        decision::{CheckResult, Reason},
        reason::ReasonCode,
        session::SessionState,
    },
    hook::pre::Inputs,
};

pub(super) fn check(bundle: &Bundle, inputs: &Inputs, contract: Option<&Contract>) -> CheckResult {
    let refuse =
        |code| CheckResult::refuse_for(Check::Admission, vec![Reason::of(Check::Admission, code)]);
    let session = &inputs.session;
    match session.state {
        SessionState::Closed => return refuse(ReasonCode::SessionClosed),
        SessionState::Halted => return refuse(ReasonCode::SessionHalted),
        SessionState::Analyzing
        | SessionState::Resolving
        | SessionState::AwaitingConfirmation
        | SessionState::Escalated
        | SessionState::Executing
        | SessionState::Verifying => {}
    }
    if inputs.now >= session.expires_at {
        return refuse(ReasonCode::SessionExpired);
    }
    if !bundle.workflow.purposes.contains(&inputs.intent.purpose) {
        return refuse(ReasonCode::PurposeUnknown);
    }
    let Some(contract) = contract else { return refuse(ReasonCode::UnknownTool) };
    if !session.scope.tools.contains(&contract.name) {
        return refuse(ReasonCode::ToolNotInScope);
    }
    if !runs_in(bundle, contract, inputs) {
        return refuse(ReasonCode::ToolNotInState);
    }
    let other_write = session.write_in_flight().is_some_and(|action| *action != inputs.action);
    if !contract.is_read() && other_write {
        return refuse(ReasonCode::WriteInFlight);
    }
    CheckResult::pass(Check::Admission)
}

/// Whether contract and workflow both list the state that counts. Reads count the ground or the
/// state itself; a write counts the ground it was proposed on, since an open question binds only
/// its own resource; after a hand-over no new write is taken.
fn runs_in(bundle: &Bundle, contract: &Contract, inputs: &Inputs) -> bool {
    let lists = |state: SessionState| {
        contract.states.contains(&state)
            && bundle
                .workflow
                .states
                .get(&state)
                .is_some_and(|tools| tools.contains(&contract.name))
    };
    let session = &inputs.session;
    let ground = match bundle.workflow.case {
        Case::None => SessionState::Resolving,
        Case::Records(_) => session.standing.ground(),
    };
    if contract.is_read() {
        return lists(session.state) || lists(ground);
    }
    if inputs.frozen.is_some() {
        return lists(inputs.proposed_in);
    }
    !session.standing.handed_over && lists(ground)
}
