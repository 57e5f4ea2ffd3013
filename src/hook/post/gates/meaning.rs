//! What the answer says: no error under a success, the schema, the outcome, the echo of the
//! request, the invariants, and for reads whose record it is.

use serde_json::Value;

use super::wire;
use crate::{
    bundle::{
        contract::{Contract, Response},
        schema::SchemaFault,
    },
    domain::reason::ReasonCode,
    expr::{Bindings, EvalError},
    hook::post::{StopKind, Stopped},
};

/// Refuses an answer that reports success and holds an error.
///
/// A member that the contract's schema declares means what the schema says; only undeclared ones
/// are taken for an error. Empty errors (`null`, `[]`, `false`, `""`) are none.
pub(super) fn check_error_in_success(
    expected: &Response,
    status: u16,
    value: &Value,
) -> Result<(), Stopped> {
    if let Some(known) = wire::known_error(expected, status, Some(value)) {
        return Err(known);
    }
    let declared = expected.schema.source().get("properties");
    let undeclared = |name: &str| {
        let is_declared = declared.and_then(|p| p.get(name)).is_some();
        if is_declared { None } else { value.get(name) }
    };
    let holds = ["error", "errors"].into_iter().any(|name| undeclared(name).is_some_and(is_filled));
    let denies = ["success", "ok"].into_iter().any(|n| undeclared(n) == Some(&Value::Bool(false)));
    let flagged = undeclared("isError") == Some(&Value::Bool(true));
    if holds || denies || flagged {
        return Err(Stopped::corrupt(ReasonCode::ErrorInSuccess, "the body reports an error"));
    }
    Ok(())
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Checks the schema; the first fault by place names the reason.
pub(in crate::hook::post) fn check_schema(
    expected: &Response,
    value: &Value,
) -> Result<(), Stopped> {
    let faults = expected.schema.validate(value);
    let Some(first) = faults.first() else { return Ok(()) };
    let detail = format!("`{}` at `{}`, {} in all", first.keyword, first.pointer, faults.len());
    Err(Stopped::corrupt(schema_code(first), detail))
}

fn schema_code(fault: &SchemaFault) -> ReasonCode {
    match fault.keyword.as_str() {
        "required" | "dependentRequired" => ReasonCode::SchemaMissingField,
        "type" | "enum" | "const" if fault.is_null => ReasonCode::SchemaNull,
        "type" => ReasonCode::SchemaTypeChanged,
        "enum" | "const" => ReasonCode::SchemaEnumUnknown,
        "additionalProperties" | "unevaluatedProperties" => ReasonCode::SchemaExtraField,
        "format" | "pattern" => ReasonCode::SchemaFormat,
        _ => ReasonCode::SchemaViolated,
    }
}

/// Whether the tool has finished what was asked: the contract's `outcome` says `done` or `pending`.
pub(in crate::hook::post) fn is_finished(
    expected: &Response,
    bindings: &Bindings,
) -> Result<bool, Stopped> {
    let Some(outcome) = &expected.outcome else { return Ok(true) };
    let found = outcome.eval(bindings).map_err(|error| broken("outcome", &error))?;
    match found.as_str() {
        Some("done") => Ok(true),
        Some("pending") => Ok(false),
        Some(_) | None => {
            let detail = "`outcome` is neither `done` nor `pending`";
            Err(Stopped::corrupt(ReasonCode::InvariantViolated, detail).by_rule("outcome"))
        }
    }
}

/// Checks that the members of `echo` equal the arguments at the same places.
pub(in crate::hook::post) fn check_echo(
    expected: &Response,
    bindings: &Bindings,
) -> Result<(), Stopped> {
    let at = |root| bindings.value(root).unwrap_or(&Value::Null);
    for place in &expected.echo {
        // An optional argument that was not given has nothing to come back.
        let Some(asked) = place.get(at("args")) else { continue };
        if place.get(at("result")) != Some(asked) {
            let stop = Stopped::corrupt(ReasonCode::EchoMismatch, format!("at `{place}`"));
            return Err(stop.by_rule(place.as_str()));
        }
    }
    Ok(())
}

/// Checks every invariant; an error counts as violated.
pub(in crate::hook::post) fn check_invariants(
    expected: &Response,
    bindings: &Bindings,
) -> Result<(), Stopped> {
    for invariant in &expected.invariants {
        match invariant.rule.eval_true(bindings) {
            Ok(true) => {}
            Ok(false) => {
                let stop = Stopped::corrupt(ReasonCode::InvariantViolated, "it does not hold");
                return Err(stop.by_rule(&invariant.id));
            }
            Err(error) => return Err(broken(&invariant.id, &error)),
        }
    }
    Ok(())
}

fn broken(rule: &str, error: &EvalError) -> Stopped {
    let code = if matches!(error, EvalError::TooCostly) {
        ReasonCode::CheckOverBudget
    } else {
        ReasonCode::InvariantViolated
    };
    Stopped::corrupt(code, format!("it cannot be evaluated: {error}")).by_rule(rule)
}

/// For reads: whether the record is the subject's; an error counts as not.
pub(in crate::hook::post) fn check_relation(
    contract: &Contract,
    bindings: &Bindings,
) -> Result<(), Stopped> {
    let Some(relation) = &contract.relation else { return Ok(()) };
    let detail = match relation.eval_true(bindings) {
        Ok(true) => return Ok(()),
        Ok(false) => "the relation does not hold".to_owned(),
        Err(error) => format!("the relation cannot be evaluated: {error}"),
    };
    Err(Stopped {
        kind: StopKind::NotRelated,
        code: ReasonCode::IdentityMismatch,
        rule: Some(format!("{}.relation", contract.name)),
        detail,
    })
}
