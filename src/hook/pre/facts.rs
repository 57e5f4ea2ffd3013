//! Step 5: do the facts exist, are they fresh, and do they hold what the contract asks of them?

use std::collections::BTreeSet;

use super::Inputs;
use crate::{
    bundle::{
        Bundle,
        contract::{Contract, FactUse},
        workflow::Case,
    },
    domain::{
        action_record::Bound,
        contract_terms::Check,
        decision::{CheckResult, CheckVerdict, Reason},
        fact::FactState,
        pointer::Pointer,
        reason::ReasonCode,
    },
    expr::Bindings,
};

/// What the facts said.
pub(super) struct FactsSeen {
    pub(super) result: CheckResult,
    /// Every declared relation holds.
    pub(super) own_data: bool,
    /// Whether a relation was declared at all.
    pub(super) has_relation: bool,
    /// Every `agree` rule holds.
    pub(super) agree: bool,
    /// A fact that the decision needs is absent, unreadable or stale.
    pub(super) missing: bool,
    /// Facts that are present and whose relation was declared and holds.
    related: BTreeSet<String>,
}

impl FactsSeen {
    /// Whether this argument selected a record that exists and is the subject's.
    pub(super) fn reconciles(&self, contract: &Contract, at: &Pointer) -> bool {
        let path = at.tokens().fold("args".to_owned(), |path, token| format!("{path}.{token}"));
        contract
            .facts
            .values()
            .filter(|fact| self.related.contains(&fact.name))
            .any(|fact| fact.args.values().any(|arg| arg.reads().contains(&path)))
    }

    /// As if nothing had been checked, for the test that no check is idle.
    pub(super) fn forget(&mut self) {
        self.own_data = true;
        self.agree = true;
        self.missing = false;
    }
}

pub(super) fn check(
    bundle: &Bundle,
    inputs: &Inputs,
    contract: &Contract,
    bound: &Bound,
    bindings: &Bindings,
) -> FactsSeen {
    let mut seen = FactsSeen {
        result: CheckResult::pass(Check::Facts),
        own_data: true,
        has_relation: false,
        agree: true,
        missing: false,
        related: BTreeSet::new(),
    };
    let mut refusals: Vec<Reason> =
        not_in_case(bundle, inputs, contract, bound).into_iter().collect();
    let mut notes = Vec::new();
    for fact in contract.facts.values() {
        if let Some(reason) = unusable(inputs, fact) {
            refusals.push(reason);
            seen.missing = true;
            // Whose a record is that is not there, nobody can say: not the subject's.
            seen.own_data = seen.own_data && fact.relation.is_none();
            continue;
        }
        if let Some(reason) = relation(inputs, fact, bindings, &mut seen) {
            refusals.push(reason);
        }
        for rule in &fact.agree {
            // A rule that cannot be evaluated does not hold.
            if rule.rule.eval_true(bindings) != Ok(true) {
                seen.agree = false;
                notes.push(Reason::of(Check::Facts, ReasonCode::FactsDisagree).by(rule.id.clone()));
            }
        }
    }
    seen.result = if refusals.is_empty() {
        let verdict = if notes.is_empty() { CheckVerdict::Pass } else { CheckVerdict::Note };
        CheckResult::new(Check::Facts, verdict, notes)
    } else {
        refusals.extend(notes);
        CheckResult::refuse_for(Check::Facts, refusals)
    };
    seen
}

/// A write is only about records that the session is tied to.
fn not_in_case(
    bundle: &Bundle,
    inputs: &Inputs,
    contract: &Contract,
    bound: &Bound,
) -> Option<Reason> {
    if contract.is_read() || bundle.workflow.case == Case::None || contract.resource.is_none() {
        return None;
    }
    let (ty, id) = bound.resource.as_ref()?;
    inputs
        .session
        .bound(ty, id)
        .is_none()
        .then(|| Reason::of(Check::Facts, ReasonCode::NotInCase).saying(format!("{ty} `{id}`")))
}

/// Absent, unreadable, unresolved, stale, from the future: each has an answer and none is allow.
fn unusable(inputs: &Inputs, fact: &FactUse) -> Option<Reason> {
    let reason = |code, detail: String| {
        Some(Reason::of(Check::Facts, code).by(fact.name.clone()).saying(detail))
    };
    let Some(read) = inputs.facts.get(&fact.name) else {
        return reason(ReasonCode::FactUnavailable, "it was not read".to_owned());
    };
    match &read.state {
        FactState::Absent => {
            reason(ReasonCode::FactMissing, format!("`{}` knows no such record", fact.tool))
        }
        FactState::Unavailable { code } => {
            reason(ReasonCode::FactUnavailable, code.as_str().to_owned())
        }
        FactState::Unresolved => {
            reason(ReasonCode::FactUnavailable, "a fact it depends on is missing".to_owned())
        }
        FactState::Present { .. } => {
            if read.read_at > inputs.now {
                return reason(ReasonCode::FactFuture, read.read_at.rfc3339());
            }
            let age = inputs.now.since(read.read_at);
            if age > fact.max_age {
                return reason(ReasonCode::FactStale, format!("{} ms old", age.as_millis()));
            }
            None
        }
    }
}

/// Entitlement: false, or what cannot be evaluated, is a refusal.
fn relation(
    inputs: &Inputs,
    fact: &FactUse,
    bindings: &Bindings,
    seen: &mut FactsSeen,
) -> Option<Reason> {
    let relation = fact.relation.as_ref()?;
    seen.has_relation = true;
    let by = |code| Reason::of(Check::Facts, code).by(format!("{}.relation", fact.name));
    if inputs.session.subject.is_none()
        && relation.reads().iter().any(|path| path.starts_with("subject"))
    {
        seen.own_data = false;
        return Some(by(ReasonCode::SubjectUnknown));
    }
    match relation.eval_true(bindings) {
        Ok(true) => {
            seen.related.insert(fact.name.clone());
            None
        }
        Ok(false) => {
            seen.own_data = false;
            Some(by(ReasonCode::IdentityMismatch))
        }
        Err(error) => {
            seen.own_data = false;
            Some(by(ReasonCode::IdentityMismatch).saying(error.to_string()))
        }
    }
}
