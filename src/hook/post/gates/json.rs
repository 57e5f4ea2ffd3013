//! The text as JSON: one strict document, storable characters, names that are what they look like.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::lookalike::fold;
use crate::{
    domain::{
        json::{self, JsonFaultKind, JsonLimits},
        pointer::Pointer,
        reason::ReasonCode,
    },
    hook::post::Stopped,
};

/// Names that some consumers of JSON treat as instructions.
const DANGEROUS_NAMES: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// The schema keyword that lets a field hold any character, NUL included.
const ANY_CHARACTER: &str = "x-any-character";

/// Reads the one document.
pub(super) fn read(bytes: &[u8]) -> Result<Value, Stopped> {
    json::parse(bytes, &JsonLimits::RESPONSE)
        .map_err(|fault| Stopped::corrupt(code(fault.kind), format!("at byte {}", fault.at)))
}

fn code(kind: JsonFaultKind) -> ReasonCode {
    match kind {
        JsonFaultKind::Incomplete => ReasonCode::JsonIncomplete,
        JsonFaultKind::Syntax => ReasonCode::JsonSyntax,
        JsonFaultKind::DuplicateKey => ReasonCode::JsonDuplicateKey,
        JsonFaultKind::MultipleDocuments => ReasonCode::JsonMultipleDocuments,
        JsonFaultKind::ByteOrderMark => ReasonCode::JsonBom,
        JsonFaultKind::InvalidUtf8 => ReasonCode::JsonInvalidUtf8,
        JsonFaultKind::LoneSurrogate => ReasonCode::JsonLoneSurrogate,
        JsonFaultKind::DepthExceeded => ReasonCode::JsonDepthExceeded,
        JsonFaultKind::NodesExceeded => ReasonCode::JsonNodesExceeded,
        JsonFaultKind::NumberRange => ReasonCode::JsonNumberRange,
        JsonFaultKind::NumberLossy => ReasonCode::JsonNumberLossy,
        JsonFaultKind::KeyTooLong => ReasonCode::JsonKeyTooLong,
        JsonFaultKind::ReservedKey => ReasonCode::JsonReservedKey,
        JsonFaultKind::TooLarge => ReasonCode::BodyTooLarge,
    }
}

/// Refuses NUL and non-characters, except in fields whose schema says `x-any-character: true`.
pub(super) fn check_characters(value: &Value, schema: &Value) -> Result<(), Stopped> {
    match unstorable(&Pointer::root(), value, Some(schema)) {
        None => Ok(()),
        Some(at) => Err(Stopped::corrupt(ReasonCode::TextNotStorable, format!("at `{at}`"))),
    }
}

fn unstorable(at: &Pointer, value: &Value, schema: Option<&Value>) -> Option<Pointer> {
    match value {
        Value::String(_) => {
            let allowed = schema.and_then(|s| s.get(ANY_CHARACTER)) == Some(&Value::Bool(true));
            if allowed { None } else { json::find_unstorable(value).map(|_| at.clone()) }
        }
        Value::Array(items) => {
            let of_items = schema.and_then(|s| s.get("items"));
            items
                .iter()
                .enumerate()
                .find_map(|(index, item)| unstorable(&at.child(&index.to_string()), item, of_items))
        }
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let place = at.child(name);
            let bad_name = json::find_unstorable(&Value::from(name.as_str())).is_some();
            let of_member = schema.and_then(|s| s.get("properties")).and_then(|p| p.get(name));
            if bad_name { Some(place) } else { unstorable(&place, member, of_member) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Refuses names that look like another name of the same object or of the schema there, and names
/// that are dangerous anywhere.
pub(super) fn check_names(value: &Value, schema: &Value) -> Result<(), Stopped> {
    names(&Pointer::root(), value, Some(schema))
}

fn names(at: &Pointer, value: &Value, schema: Option<&Value>) -> Result<(), Stopped> {
    match value {
        Value::Object(members) => {
            let properties = schema.and_then(|s| s.get("properties")).and_then(Value::as_object);
            names_of_one(at, members, properties)?;
            members.iter().try_for_each(|(name, member)| {
                names(&at.child(name), member, properties.and_then(|p| p.get(name)))
            })
        }
        Value::Array(items) => {
            let of_items = schema.and_then(|s| s.get("items"));
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| names(&at.child(&index.to_string()), item, of_items))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn names_of_one(
    at: &Pointer,
    members: &Map<String, Value>,
    properties: Option<&Map<String, Value>>,
) -> Result<(), Stopped> {
    let declared: BTreeMap<String, &String> =
        properties.into_iter().flat_map(Map::keys).map(|name| (fold(name), name)).collect();
    let mut seen = BTreeSet::new();
    for name in members.keys() {
        let folded = fold(name);
        let imitates = declared.get(&folded).is_some_and(|plain| *plain != name)
            && !properties.is_some_and(|p| p.contains_key(name));
        if imitates || !seen.insert(folded) {
            let detail = format!("a name below `{at}` looks like another");
            return Err(Stopped::corrupt(ReasonCode::JsonConfusableKey, detail));
        }
        if DANGEROUS_NAMES.contains(&name.as_str()) {
            let detail = format!("a dangerous name below `{at}`");
            return Err(Stopped::corrupt(ReasonCode::SchemaExtraField, detail));
        }
    }
    Ok(())
}
