//! Step 7: what the policies say, over what all earlier checks computed.

use std::collections::BTreeMap;

use super::{Inputs, effect::EffectSeen, facts::FactsSeen};
use crate::{
    bundle::{Bundle, contract::Contract},
    domain::{
        action_record::Bound,
        contract_terms::{Check, Risk, RoleKind},
        datum,
        decision::{ArgumentProvenance, CheckResult, CheckVerdict, Reason},
        label::{Label, Readers},
        reason::ReasonCode,
    },
    policy::{
        Guard, PolicyInput, PolicyVerdict, PrincipalFacts, ResourceFacts, RoleFacts, RuleHit,
    },
    provenance::acts,
};

/// What earlier checks computed.
pub(super) struct Seen<'a> {
    pub(super) contract: &'a Contract,
    pub(super) bound: &'a Bound,
    pub(super) arguments: &'a [ArgumentProvenance],
    pub(super) facts: &'a FactsSeen,
    pub(super) effect: &'a EffectSeen,
    pub(super) cited_conflict: bool,
}

pub(super) fn guard(bundle: &Bundle, inputs: &Inputs, seen: &Seen<'_>) -> Guard {
    let session = &inputs.session;
    let authority = || seen.arguments.iter().filter(|argument| argument.role.has_authority());
    let named = authority()
        .filter(|argument| argument.role.must_be_named())
        .all(|argument| argument.named_by.is_some());
    Guard {
        assurance: session.principal.assurance,
        authentication_fresh: session.principal.is_fresh(inputs.now),
        authority_clean: authority().all(|argument| argument.clean),
        authority_named: named,
        act_asked: act_asked(bundle, inputs, seen),
        stated_by_principal: stated(inputs, seen),
        in_scope: in_scope(inputs, seen),
        facts_agree: seen.facts.agree && !seen.cited_conflict,
        above_threshold: seen.effect.above_threshold,
        own_data: seen.facts.own_data,
        recipients_within_readers: recipients_within_readers(inputs, seen),
        inputs_intact: inputs_intact(inputs, seen),
        sensitive_before: i64::from(session.counters.sensitive),
    }
}

/// Reads ask for nothing; a reversible write on the principal's own data needs no act; all else was
/// asked for by a scope, or in words where the bundle lets words ask for these risks.
fn act_asked(bundle: &Bundle, inputs: &Inputs, seen: &Seen<'_>) -> bool {
    let contract = seen.contract;
    if contract.is_read() && !contract.risks.contains(&Risk::ReadSensitive) {
        return true;
    }
    let only_reversible = contract.risks.iter().all(|risk| *risk == Risk::Reversible);
    if only_reversible && seen.facts.has_relation && seen.facts.own_data {
        return true;
    }
    if inputs.session.scope.asks_for(contract.acts.keys()) {
        return true;
    }
    let words_count = contract.risks.iter().all(|risk| bundle.words_may_ask.contains(risk));
    let words: Vec<String> = inputs.statements.iter().flat_map(datum::typed_words).collect();
    let phrases = contract.acts.values().flat_map(|act| act.words.values().flatten());
    words_count && acts::asked_in_words(&words, phrases)
}

/// Confirmed, or the target stands in a statement of the principal. (A confirmation counts through
/// the rules it names, see `decide`.)
fn stated(inputs: &Inputs, seen: &Seen<'_>) -> bool {
    let mut targets = seen.arguments.iter().filter(|a| a.role == RoleKind::Target).peekable();
    let has_statement = !inputs.statements.is_empty();
    has_statement
        && targets.peek().is_some()
        && targets.all(|target| target.named_by.as_deref() == Some("statement"))
}

fn in_scope(inputs: &Inputs, seen: &Seen<'_>) -> bool {
    let scope = &inputs.session.scope;
    seen.bound.resource.as_ref().is_none_or(|(ty, id)| scope.admits_target(ty, id))
}

/// Everything that is sent may be read by everybody it is sent to; the subject's own record is the
/// reader `subject`.
fn recipients_within_readers(inputs: &Inputs, seen: &Seen<'_>) -> bool {
    if !seen.contract.risks.contains(&Risk::Egress) {
        return true;
    }
    let sent = seen
        .arguments
        .iter()
        .filter(|argument| argument.role == RoleKind::Content)
        .fold(Label::constant().readers, |readers: Readers, argument| {
            readers.meet(&argument.readers)
        });
    let recipients = seen.arguments.iter().filter(|a| a.role == RoleKind::Recipient);
    recipients
        .filter_map(|recipient| Some((recipient, recipient.at.get(&seen.bound.arguments)?)))
        .all(|(recipient, value)| {
            let Some(address) = value.as_str() else { return false };
            let ty = seen.contract.input.roles.get(&recipient.at).and_then(|role| role.ty.as_ref());
            let is_subject = inputs
                .session
                .subject
                .as_ref()
                .is_some_and(|subject| Some(&subject.ty) == ty && subject.id == address);
            sent.admits(address) || is_subject && sent.admits("subject")
        })
}

/// Nothing this action uses had a corrupt answer that was not read again since.
fn inputs_intact(inputs: &Inputs, seen: &Seen<'_>) -> bool {
    let resource = seen.bound.resource.as_ref().map(|(ty, id)| format!("{ty}/{id}"));
    !inputs.session.corrupted.values().any(|call| {
        let same_resource = call.resource.is_some() && call.resource == resource;
        let same_tool = seen.contract.facts.values().any(|fact| fact.tool == call.tool);
        same_resource || same_tool
    })
}

pub(super) fn check(
    bundle: &Bundle,
    inputs: &Inputs,
    seen: &Seen<'_>,
    guard: &Guard,
) -> CheckResult {
    let Some(policy) = bundle.policies.tools.get(&seen.contract.name) else {
        let reason = Reason::of(Check::Policy, ReasonCode::PolicyDenied);
        return CheckResult::refuse_for(Check::Policy, vec![reason]);
    };
    match policy.evaluate(&input(inputs, seen, guard)) {
        PolicyVerdict::Allow { permits } => {
            let mut result = CheckResult::pass(Check::Policy);
            result.rules = permits;
            result
        }
        PolicyVerdict::Needs { needs, rules } => {
            let mut result =
                CheckResult::new(Check::Policy, CheckVerdict::Needs, reasons(&rules, None));
            result.needs = needs;
            result.rules = rules.into_iter().map(|rule| rule.id).collect();
            result
        }
        PolicyVerdict::Deny { rules, error } => {
            let mut result =
                CheckResult::refuse_for(Check::Policy, reasons(&rules, error.as_deref()));
            result.rules = rules.into_iter().map(|rule| rule.id).collect();
            result
        }
    }
}

fn reasons(rules: &[RuleHit], error: Option<&str>) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = rules
        .iter()
        .map(|rule| Reason::of(Check::Policy, rule.reason).by(rule.id.clone()))
        .collect();
    if let Some(error) = error {
        reasons.push(Reason::of(Check::Policy, ReasonCode::PolicyError).saying(error));
    }
    if reasons.is_empty() {
        reasons.push(Reason::of(Check::Policy, ReasonCode::PolicyDenied));
    }
    reasons
}

fn input(inputs: &Inputs, seen: &Seen<'_>, guard: &Guard) -> PolicyInput {
    let principal = &inputs.session.principal;
    PolicyInput {
        principal: PrincipalFacts {
            tenant: inputs.session.tenant.to_string(),
            sub: principal.sub.clone(),
            kind: principal.kind.as_str().to_owned(),
            roles: principal.roles.clone(),
            channel: principal.channel.clone(),
        },
        resource: seen
            .bound
            .resource
            .as_ref()
            .map(|(ty, id)| ResourceFacts { ty: ty.clone(), id: id.clone() }),
        guard: guard.clone(),
        state: inputs.proposed_in.as_str().to_owned(),
        purpose: inputs.intent.purpose.clone(),
        args: seen.bound.arguments.clone(),
        roles: roles(seen.arguments),
        facts: inputs.facts.values(),
    }
}

/// The least over the arguments of each role.
fn roles(arguments: &[ArgumentProvenance]) -> BTreeMap<RoleKind, RoleFacts> {
    let mut roles: BTreeMap<RoleKind, RoleFacts> = BTreeMap::new();
    for argument in arguments {
        let named = argument.named_by.is_some();
        roles
            .entry(argument.role)
            .and_modify(|role| {
                role.integrity = role.integrity.min(argument.integrity.level());
                role.sources.extend(argument.sources.iter().cloned());
                role.named = role.named && named;
            })
            .or_insert_with(|| RoleFacts {
                integrity: argument.integrity.level(),
                sources: argument.sources.clone(),
                named,
            });
    }
    roles
}
