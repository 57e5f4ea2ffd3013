//! Step 8: any refusal denies; otherwise the union of all needs, less what was answered. The only
//! place where checks are combined.

use std::collections::BTreeSet;

use super::{Decided, Inputs, Prepared};
use crate::{
    bundle::{Bundle, contract::Contract},
    domain::{
        contract_terms::{Assurance, Check, Need, PrincipalKind, Risk, Verdict},
        decision::{CheckResult, CheckVerdict, Decision, MatrixColumn, Reason},
        effect::EffectIdentity,
        reason::ReasonCode,
        session_record::Session,
    },
    policy::Guard,
};

pub(super) fn column(guard: &Guard) -> MatrixColumn {
    if guard.assurance == Assurance::None || !guard.own_data {
        MatrixColumn::IdentityInvalid
    } else if !guard.inputs_intact {
        MatrixColumn::InputsCorrupted
    } else if guard.assurance != Assurance::Authenticated {
        MatrixColumn::Claimed
    } else if guard.above_threshold || !guard.facts_agree {
        MatrixColumn::AboveOrContradicted
    } else if !guard.act_asked || !guard.in_scope {
        MatrixColumn::NotAskedFor
    } else if !guard.authority_clean || !guard.authority_named {
        MatrixColumn::UncleanOrUnnamed
    } else {
        MatrixColumn::Clean
    }
}

pub(super) fn unite(
    bundle: &Bundle,
    inputs: &Inputs,
    mut prepared: Prepared,
    effect: Option<EffectIdentity>,
    column: MatrixColumn,
) -> Decided {
    for &check in Check::ALL.iter().take(7) {
        if !prepared.checks.iter().any(|result| result.check == check) {
            prepared.checks.push(CheckResult::skipped(check));
        }
    }
    prepared.checks.sort_by_key(|result| result.check);
    let mut reasons: Vec<Reason> =
        prepared.checks.iter().flat_map(|result| result.reasons.iter().cloned()).collect();
    let mut refused = prepared.checks.iter().any(CheckResult::refuses);
    let needs = if refused { BTreeSet::new() } else { open_needs(inputs, &prepared.checks) };
    if needs.contains(&Need::Approval) && !has_approver(bundle, prepared.contract.as_deref()) {
        reasons.push(Reason::of(Check::Decision, ReasonCode::NoEligibleApprover));
        refused = true;
    }
    let verdict = if refused {
        Verdict::Deny
    } else if needs.contains(&Need::Confirmation) {
        Verdict::ConfirmationRequired
    } else if needs.contains(&Need::Approval) {
        Verdict::ApprovalRequired
    } else {
        Verdict::Allow
    };
    prepared.checks.push(decision_result(verdict, &needs));
    reasons.sort_by(|a, b| a.code.as_str().cmp(b.code.as_str()).then_with(|| a.cmp(b)));
    reasons.dedup_by(|a, b| a.code == b.code && a.rule == b.rule);
    let decision = Decision {
        verdict,
        needs: if refused { BTreeSet::new() } else { needs },
        reasons,
        checks: prepared.checks,
        arguments: prepared.arguments,
        matrix_row: row(prepared.contract.as_deref()).unwrap_or("none").to_owned(),
        matrix_column: column.as_str().to_owned(),
        bundle: bundle.name.clone(),
        bundle_version: bundle.version.clone(),
        bundle_digest: bundle.digest.to_string(),
        decided_at: inputs.now,
    };
    Decided { decision, bound: prepared.bound, effect, contract: prepared.contract }
}

fn decision_result(verdict: Verdict, needs: &BTreeSet<Need>) -> CheckResult {
    let said = match verdict {
        Verdict::Allow => CheckVerdict::Pass,
        Verdict::ConfirmationRequired | Verdict::ApprovalRequired => CheckVerdict::Needs,
        Verdict::Deny => CheckVerdict::Refuse,
    };
    let mut result = CheckResult::new(Check::Decision, said, Vec::new());
    result.needs.clone_from(needs);
    result
}

/// What is still to be answered. An answer counts for the rules that its question named and for no
/// other. Where nobody can confirm, one approval answers both questions.
fn open_needs(inputs: &Inputs, checks: &[CheckResult]) -> BTreeSet<Need> {
    let nobody_confirms = !can_confirm(&inputs.session);
    let mut open = BTreeSet::new();
    for result in checks.iter().filter(|result| result.verdict == CheckVerdict::Needs) {
        for need in &result.needs {
            let need = if nobody_confirms { Need::Approval } else { *need };
            let answered = inputs.answers.iter().any(|answer| {
                answer.need == need && result.rules.iter().all(|rule| answer.rules.contains(rule))
            });
            if !answered {
                open.insert(need);
            }
        }
    }
    open
}

/// A person who signed in can be asked; a service, or somebody who is only claimed, cannot.
fn can_confirm(session: &Session) -> bool {
    session.principal.kind == PrincipalKind::Person
        && session.principal.assurance == Assurance::Authenticated
}

fn has_approver(bundle: &Bundle, contract: Option<&Contract>) -> bool {
    contract.is_some_and(|contract| {
        bundle.approvals.rule_for(&contract.name, &contract.risks).is_some()
    })
}

/// The strictest risk: the row that names a decision.
fn row(contract: Option<&Contract>) -> Option<&'static str> {
    let strictness = |risk: &Risk| match risk {
        Risk::Read => 0,
        Risk::Reversible => 1,
        Risk::Egress => 2,
        Risk::ReadSensitive => 3,
        Risk::Financial => 4,
        Risk::Sensitive => 5,
        Risk::Grant => 6,
        Risk::Irreversible => 7,
    };
    contract?.risks.iter().max_by_key(|risk| strictness(risk)).map(|risk| risk.as_str())
}
