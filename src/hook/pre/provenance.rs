//! Step 4: where every argument came from, whether somebody entitled named it, and whether its
//! value reaches what its role needs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Inputs, facts::FactsSeen, role_places};
use crate::{
    bundle::contract::{ArgumentRole, Contract, Endorsement},
    domain::{
        action_record::Bound,
        contract_terms::{Check, RoleKind},
        datum,
        decision::{ArgumentProvenance, CheckResult, CheckVerdict, Reason},
        label::{Integrity, Label, LabelMap},
        pointer::Pointer,
        reason::ReasonCode,
    },
    provenance::{
        cite::{self, Cited},
        detect,
        naming::Statements,
    },
};

pub(super) struct Origins {
    pub(super) result: CheckResult,
    pub(super) arguments: Vec<ArgumentProvenance>,
    /// Cited data give one argument different values.
    pub(super) conflict: bool,
}

pub(super) fn assess(
    inputs: &Inputs,
    contract: &Contract,
    bound: &Bound,
    references: &BTreeMap<Pointer, Label>,
) -> Origins {
    if let Some(frozen) = &inputs.frozen {
        return Origins {
            result: CheckResult::pass(Check::Provenance),
            arguments: frozen.arguments.clone(),
            conflict: false,
        };
    }
    let mut reasons = Vec::new();
    let mut conflict = false;
    let words: Vec<String> = inputs.statements.iter().flat_map(datum::typed_words).collect();
    let mut statements = Statements::new(&words);
    reasons.extend(stray_citations(inputs, contract, &bound.arguments));
    reasons.extend(unknown_evidence(inputs, contract, &bound.arguments));
    let mut arguments = Vec::new();
    for at in role_places(contract, &bound.arguments) {
        let (Some(role), Some(value)) = (contract.input.roles.get(&at), at.get(&bound.arguments))
        else {
            continue;
        };
        if role.kind == RoleKind::Credential {
            reasons.push(why(ReasonCode::CredentialFromIntent, &at));
        }
        let label = match cited_label(inputs, &at, value) {
            Ok(Some(label)) => label,
            Ok(None) => by_parts(&at, value, references, inputs),
            Err(CitationFault::Conflict(label)) => {
                conflict = true;
                label
            }
            Err(CitationFault::Broken(code)) => {
                reasons.push(why(code, &at));
                inputs.session.exposure.label()
            }
        };
        let named_by = named_by(inputs, role, value, &mut statements);
        let mut argument = ArgumentProvenance {
            role: role.kind,
            integrity: label.integrity,
            sources: label.sources,
            readers: label.readers,
            named_by,
            endorsed_by: None,
            clean: false,
            detected: detect::sources(value, &inputs.data),
            at,
        };
        enumerate(&mut argument, role, contract, value);
        argument.clean = is_clean(&argument);
        arguments.push(argument);
    }
    Origins { result: verdict(reasons, &arguments, conflict), arguments, conflict }
}

fn why(code: ReasonCode, at: &Pointer) -> Reason {
    Reason::of(Check::Provenance, code).saying(format!("argument `{at}`"))
}

fn verdict(reasons: Vec<Reason>, arguments: &[ArgumentProvenance], conflict: bool) -> CheckResult {
    if !reasons.is_empty() {
        return CheckResult::refuse_for(Check::Provenance, reasons);
    }
    let unclean = arguments.iter().any(|a| a.role.has_authority() && !a.clean);
    if conflict {
        let reason = Reason::of(Check::Provenance, ReasonCode::EvidenceConflict);
        CheckResult::new(Check::Provenance, CheckVerdict::Note, vec![reason])
    } else if unclean {
        CheckResult::new(Check::Provenance, CheckVerdict::Note, Vec::new())
    } else {
        CheckResult::pass(Check::Provenance)
    }
}

enum CitationFault {
    Conflict(Label),
    Broken(ReasonCode),
}

/// The label that the citations of this argument earn: the strongest of those that hold. None when
/// there is no citation.
fn cited_label(
    inputs: &Inputs,
    at: &Pointer,
    value: &Value,
) -> Result<Option<Label>, CitationFault> {
    let mut best: Option<Label> = None;
    let (mut differs, mut fails) = (false, false);
    for citation in inputs.intent.citations.iter().filter(|citation| citation.argument == *at) {
        match cite::check(citation, value, &inputs.data) {
            Cited::Holds(label) => {
                if best.as_ref().is_none_or(|held| held.integrity < label.integrity) {
                    best = Some(label);
                }
            }
            Cited::Differs => differs = true,
            Cited::Fails => fails = true,
            Cited::UnknownDatum => {
                return Err(CitationFault::Broken(ReasonCode::CitationUnknown));
            }
        }
    }
    match best {
        _ if fails => Err(CitationFault::Broken(ReasonCode::CitationMismatch)),
        Some(label) if differs => Err(CitationFault::Conflict(label)),
        Some(label) => Ok(Some(label)),
        None if differs => Err(CitationFault::Broken(ReasonCode::CitationMismatch)),
        None => Ok(None),
    }
}

/// An argument without a citation of its own: the join over its leaves of what each was referred
/// to, cited from, or else the model's own label.
fn by_parts(
    at: &Pointer,
    value: &Value,
    references: &BTreeMap<Pointer, Label>,
    inputs: &Inputs,
) -> Label {
    if let Some((_, label)) = references.iter().find(|(place, _)| place.holds(at)) {
        return label.clone();
    }
    let model = inputs.session.exposure.label();
    let below = references.iter().filter(|(place, _)| at.holds(place));
    let parts: Vec<(&Pointer, &Label)> = below.collect();
    if parts.is_empty() {
        return model;
    }
    let all_referred = Pointer::leaves(value).iter().all(|leaf| {
        let leaf = leaf.tokens().fold(at.clone(), |place, token| place.child(&token));
        parts.iter().any(|(place, _)| place.holds(&leaf))
    });
    let joined = parts.iter().fold(Label::constant(), |label, (_, part)| label.join(part));
    if all_referred { joined } else { joined.join(&model) }
}

/// Citations of arguments that no role covers or that are not there.
fn stray_citations(inputs: &Inputs, contract: &Contract, arguments: &Value) -> Vec<Reason> {
    let places: BTreeSet<Pointer> = role_places(contract, arguments).into_iter().collect();
    inputs
        .intent
        .citations
        .iter()
        .filter(|citation| !places.contains(&citation.argument))
        .map(|citation| why(ReasonCode::CitationUnknown, &citation.argument))
        .collect()
}

/// Evidence that is not a datum of this session.
fn unknown_evidence(inputs: &Inputs, contract: &Contract, arguments: &Value) -> Vec<Reason> {
    let known = |handle: &str| inputs.data.iter().any(|datum| datum.id.as_str() == handle);
    let in_arguments = contract
        .input
        .roles
        .iter()
        .filter(|(_, role)| role.kind == RoleKind::Evidence)
        .filter_map(|(at, _)| at.get(arguments).map(|value| (at, value)))
        .flat_map(|(at, value)| {
            let leaves = Pointer::leaves(value);
            leaves.into_iter().map(move |leaf| (at.clone(), leaf.get(value).cloned()))
        })
        .filter(|(_, leaf)| !leaf.as_ref().and_then(Value::as_str).is_some_and(known))
        .map(|(at, _)| why(ReasonCode::EvidenceUnknown, &at));
    let beside = inputs
        .intent
        .evidence
        .iter()
        .filter(|handle| !known(handle))
        .map(|_| Reason::of(Check::Provenance, ReasonCode::EvidenceUnknown));
    in_arguments.chain(beside).collect()
}

fn named_by(
    inputs: &Inputs,
    role: &ArgumentRole,
    value: &Value,
    statements: &mut Statements,
) -> Option<String> {
    if !role.kind.must_be_named() {
        return None;
    }
    let text = value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|n| n.to_string()));
    let in_scope = role
        .ty
        .as_deref()
        .zip(text.as_deref())
        .is_some_and(|(ty, id)| inputs.session.scope.names(ty, id));
    if in_scope {
        return Some("scope".to_owned());
    }
    // An amount without a declared unit cannot be stated; it is computed or confirmed.
    let can_be_stated = role.kind != RoleKind::Amount;
    (can_be_stated && statements.name(role.ty.as_deref(), value)).then(|| "statement".to_owned())
}

/// `enumerated`: a member of a closed set whose every member was declared harmless, or the default.
fn enumerate(
    argument: &mut ArgumentProvenance,
    role: &ArgumentRole,
    contract: &Contract,
    value: &Value,
) {
    let at_default =
        contract.input.defaults.iter().any(|(at, default)| *at == argument.at && default == value);
    let listed = role.endorse.contains(&Endorsement::Enumerated) && role.harmless;
    let chooses = matches!(role.kind, RoleKind::Control | RoleKind::Selector);
    if chooses && (listed || at_default) {
        raise(argument, Endorsement::Enumerated);
        if argument.role.must_be_named() {
            argument.named_by.get_or_insert_with(|| "contract".to_owned());
        }
    }
}

fn raise(argument: &mut ArgumentProvenance, rule: Endorsement) {
    if argument.integrity < Integrity::Endorsed {
        argument.integrity = Integrity::Endorsed;
        argument.endorsed_by = Some(rule.versioned().to_owned());
    }
}

fn is_clean(argument: &ArgumentProvenance) -> bool {
    if !argument.role.has_authority() {
        return true;
    }
    let reconciled = argument.endorsed_by.as_deref() == Some(Endorsement::Reconciled.versioned());
    // Existence and entitlement are not meaning: a reconciled target is clean only once named.
    argument.integrity >= Integrity::User && (!reconciled || argument.named_by.is_some())
}

/// What facts add: `reconciled`. Answers add nothing here: labels stay those of the proposal, and an
/// answer counts for the rules that it names.
pub(super) fn finish(arguments: &mut [ArgumentProvenance], contract: &Contract, facts: &FactsSeen) {
    for argument in arguments {
        let Some(role) = contract.input.roles.get(&argument.at) else { continue };
        if role.endorse.contains(&Endorsement::Reconciled)
            && facts.reconciles(contract, &argument.at)
        {
            raise(argument, Endorsement::Reconciled);
        }
        argument.clean = is_clean(argument);
    }
}

/// The labels of the arguments by place, as they are kept with the action.
pub(super) fn labels(arguments: &[ArgumentProvenance]) -> LabelMap {
    let mut labels = LabelMap::default();
    for argument in arguments {
        let label = Label {
            integrity: argument.integrity,
            sources: argument.sources.clone(),
            readers: argument.readers.clone(),
        };
        labels.set(argument.at.clone(), label);
    }
    labels
}
