//! Step 2: arguments as one strict, complete, canonical document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    bundle::contract::Contract,
    domain::{
        action_record::Bound,
        canonical::{self, Digest},
        contract_terms::Check,
        datum::Datum,
        decision::{CheckResult, Reason},
        json::{self, JsonLimits},
        label::{Label, LabelMap},
        limits,
        pointer::Pointer,
        reason::ReasonCode,
    },
    hook::pre::Inputs,
    provenance::cite,
};

/// What binding made of the arguments.
pub(super) struct Binding {
    pub(super) result: CheckResult,
    pub(super) bound: Option<Bound>,
    /// Labels of values that came by `$datum` reference, by place.
    pub(super) references: BTreeMap<Pointer, Label>,
}

/// Identity of a call: tool and canonical arguments.
#[must_use]
pub fn call_digest(tool: &str, arguments: &Value) -> Option<Digest> {
    canonical::digest(&json!([tool, arguments])).ok()
}

pub(super) fn bind(inputs: &Inputs, contract: &Contract) -> Binding {
    if let Some(frozen) = &inputs.frozen {
        return Binding {
            result: CheckResult::pass(Check::Binding),
            bound: Some(frozen.bound.clone()),
            references: BTreeMap::new(),
        };
    }
    let mut references = BTreeMap::new();
    match read(inputs, contract, &mut references) {
        Ok(arguments) => {
            let resource = resource(inputs, contract, &arguments);
            Binding {
                result: CheckResult::pass(Check::Binding),
                bound: Some(Bound { arguments, labels: LabelMap::default(), resource }),
                references,
            }
        }
        Err(reasons) => Binding {
            result: CheckResult::refuse_for(Check::Binding, reasons),
            bound: None,
            references,
        },
    }
}

fn reason(code: ReasonCode, detail: impl Into<String>) -> Vec<Reason> {
    vec![Reason::of(Check::Binding, code).saying(detail)]
}

fn read(
    inputs: &Inputs,
    contract: &Contract,
    references: &mut BTreeMap<Pointer, Label>,
) -> Result<Value, Vec<Reason>> {
    let text = inputs.intent.arguments_json.as_bytes();
    if text.len() > limits::ARGUMENTS_MAX_BYTES {
        let detail = format!("{} bytes; at most {}", text.len(), limits::ARGUMENTS_MAX_BYTES);
        return Err(reason(ReasonCode::ArgumentsTooLarge, detail));
    }
    let given = json::parse(text, &JsonLimits::ARGUMENTS)
        .map_err(|fault| reason(ReasonCode::ArgumentsMalformed, fault.to_string()))?;
    if !given.is_object() {
        return Err(reason(ReasonCode::ArgumentsMalformed, "not an object"));
    }
    if let Some(at) = json::find_unstorable(&given) {
        return Err(reason(ReasonCode::ArgumentsNotStorable, format!("at `{at}`")));
    }
    let mut arguments = replace(&Pointer::root(), given, &inputs.data, references)?;
    validate(contract, &arguments)?;
    for (at, default) in &contract.input.defaults {
        set_default(&mut arguments, at, default);
    }
    validate(contract, &arguments)?;
    canonical::to_bytes(&arguments)
        .map_err(|error| reason(ReasonCode::ArgumentsMalformed, error.to_string()))?;
    Ok(arguments)
}

/// Replaces `{"$datum": HANDLE, "pointer": POINTER}` by what stands there.
fn replace(
    at: &Pointer,
    value: Value,
    data: &[Datum],
    references: &mut BTreeMap<Pointer, Label>,
) -> Result<Value, Vec<Reason>> {
    match value {
        Value::Object(members) if members.contains_key("$datum") => {
            dereference(at, &members, data, references)
        }
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| {
                let place = at.child(&name);
                replace(&place, member, data, references).map(|member| (name, member))
            })
            .collect::<Result<Map<_, _>, _>>()
            .map(Value::Object),
        Value::Array(items) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| replace(&at.child(&index.to_string()), item, data, references))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value),
    }
}

fn dereference(
    at: &Pointer,
    members: &Map<String, Value>,
    data: &[Datum],
    references: &mut BTreeMap<Pointer, Label>,
) -> Result<Value, Vec<Reason>> {
    let unknown = || reason(ReasonCode::ReferenceUnknown, format!("at `{at}`"));
    let only_known = members.keys().all(|name| name == "$datum" || name == "pointer");
    let handle = members.get("$datum").and_then(Value::as_str).filter(|_| only_known);
    let pointer = match members.get("pointer") {
        None => Some(Pointer::root()),
        Some(text) => text.as_str().and_then(|text| Pointer::parse(text).ok()),
    };
    let (Some(handle), Some(pointer)) = (handle, pointer) else { return Err(unknown()) };
    let datum = data.iter().find(|datum| datum.id.as_str() == handle).ok_or_else(unknown)?;
    let value = datum.content.at(&pointer).ok_or_else(unknown)?;
    references.insert(at.clone(), cite::label_at(datum, &pointer));
    Ok(value)
}

fn validate(contract: &Contract, arguments: &Value) -> Result<(), Vec<Reason>> {
    let faults = contract.input.schema.validate(arguments);
    if faults.is_empty() {
        return Ok(());
    }
    let list = faults.iter().take(8).map(|f| format!("`{}`: {}", f.pointer, f.keyword));
    Err(reason(ReasonCode::ArgumentsInvalid, list.collect::<Vec<_>>().join("; ")))
}

fn set_default(arguments: &mut Value, at: &Pointer, default: &Value) {
    let Some(parent) = at.parent() else { return };
    let Some(name) = at.tokens().last() else { return };
    if let Some(Value::Object(members)) = arguments.pointer_mut(parent.as_str()) {
        members.entry(name).or_insert_with(|| default.clone());
    }
}

fn resource(inputs: &Inputs, contract: &Contract, arguments: &Value) -> Option<(String, String)> {
    let resource = contract.resource.as_ref()?;
    let id = resource.id.eval(&super::bindings(inputs, arguments)).ok()?;
    let id = match id {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some((resource.ty.clone(), id))
}
