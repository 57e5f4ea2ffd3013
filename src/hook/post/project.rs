//! What may leave the post-hook: the contract's projection, its labels by place, the display.
//!
//! A token `*` in a pointer of a contract stands for every element of a list.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Reader;
use crate::{
    bundle::contract::{DatumSpec, FieldLabel, Projection},
    domain::{
        label::{Label, LabelMap},
        pointer::Pointer,
    },
    expr::Bindings,
};

/// The longest display of a handle, in characters.
const DISPLAY_MAX_CHARS: usize = 128;

/// The part of an answer that this reader gets.
#[must_use]
pub fn project(projection: &Projection, result: &Value, reader: Reader) -> Value {
    let chosen = match reader {
        Reader::Daemon => return result.clone(),
        Reader::Agent { claimed: false } => match &projection.full {
            None => return result.clone(),
            Some(places) => places.as_slice(),
        },
        Reader::Agent { claimed: true } => projection.claimed.as_deref().unwrap_or_default(),
    };
    let paths: Vec<Vec<String>> = chosen.iter().map(|place| place.tokens().collect()).collect();
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    keep(result, &paths).unwrap_or_else(|| empty(result))
}

/// What the paths reach of a value; nothing when they reach nothing.
fn keep(value: &Value, paths: &[&[String]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value.clone());
    }
    let below = |token: &str| -> Vec<&[String]> {
        let fits = |first: &String| first == token || (first == "*" && value.is_array());
        let rests = paths.iter().filter_map(|path| path.split_first());
        rests.filter(|(first, _)| fits(first)).map(|(_, rest)| rest).collect()
    };
    match value {
        Value::Object(members) => {
            let kept: Map<String, Value> = members
                .iter()
                .filter_map(|(name, member)| Some((name.clone(), keep(member, &below(name))?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        // A list keeps the places of its elements, so that pointers into it keep their meaning.
        Value::Array(items) => {
            let each = items.iter().enumerate();
            let kept: Vec<Option<Value>> =
                each.map(|(index, item)| keep(item, &below(&index.to_string()))).collect();
            let reached = kept.iter().any(Option::is_some);
            let filled = kept.into_iter().zip(items).map(|(k, i)| k.unwrap_or_else(|| empty(i)));
            reached.then(|| Value::Array(filled.collect()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn empty(like: &Value) -> Value {
    match like {
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::Null,
    }
}

/// The labels of a value, by place; the root is untrusted and read by nobody unless the contract
/// labels it.
#[must_use]
pub fn labels(declared: &BTreeMap<Pointer, FieldLabel>, value: &Value) -> LabelMap {
    let mut labels = LabelMap::whole(Label::unlabelled());
    for (place, field) in declared {
        let label = Label {
            integrity: field.integrity,
            sources: std::collections::BTreeSet::new(),
            readers: field.readers.clone(),
        };
        let tokens: Vec<String> = place.tokens().collect();
        for at in places(&Pointer::root(), value, &tokens) {
            labels.set(at, label.clone());
        }
    }
    labels
}

/// The places that a pointer with `*` reaches in a value.
fn places(at: &Pointer, value: &Value, tokens: &[String]) -> Vec<Pointer> {
    let Some((first, rest)) = tokens.split_first() else { return vec![at.clone()] };
    let into = |token: &str, member: &Value| places(&at.child(token), member, rest);
    match value {
        Value::Array(items) => {
            let each = items.iter().enumerate().map(|(index, item)| (index.to_string(), item));
            let chosen = each.filter(|(index, _)| first == "*" || first == index);
            chosen.flat_map(|(index, item)| into(&index, item)).collect()
        }
        Value::Object(members) => {
            members.get(first).map(|member| into(first, member)).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// The business id shown for the handle: a text or an integer.
#[must_use]
pub fn display(datum: &DatumSpec, bindings: &Bindings) -> Option<String> {
    let shown = match datum.display.as_ref()?.eval(bindings).ok()? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(shown.chars().filter(|c| !c.is_control()).take(DISPLAY_MAX_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::label::{Integrity, Readers};

    fn at(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    fn full(places: &[&str]) -> Projection {
        Projection { full: Some(places.iter().map(|p| at(p)).collect()), claimed: None }
    }

    const AGENT: Reader = Reader::Agent { claimed: false };

    #[test]
    fn only_the_named_places_leave() {
        let result = json!({"id": "b1", "note": "secret", "at": {"shelf": 3, "room": 1}});
        assert_eq!(
            project(&full(&["/id", "/at/shelf"]), &result, AGENT),
            json!({"id": "b1", "at": {"shelf": 3}})
        );
        assert_eq!(project(&full(&["/none"]), &result, AGENT), json!({}));
        assert_eq!(project(&Projection::default(), &result, AGENT), result);
        assert_eq!(project(&full(&["/id"]), &result, Reader::Daemon), result);
    }

    #[test]
    fn a_claimed_subject_sees_its_own_projection_or_nothing() {
        let result = json!({"id": "b1", "state": "lent"});
        let claimed = Projection { full: None, claimed: Some(vec![at("/state")]) };
        let reader = Reader::Agent { claimed: true };
        assert_eq!(project(&claimed, &result, reader), json!({"state": "lent"}));
        assert_eq!(project(&Projection::default(), &result, reader), json!({}));
    }

    #[test]
    fn lists_keep_the_places_of_their_elements() {
        let result = json!({"items": [{"id": 1, "note": "x"}, {"note": "y"}, {"id": 3}]});
        assert_eq!(
            project(&full(&["/items/*/id"]), &result, AGENT),
            json!({"items": [{"id": 1}, {}, {"id": 3}]})
        );
        assert_eq!(project(&full(&["/items"]), &json!({"items": []}), AGENT), json!({"items": []}));
    }

    #[test]
    fn labels_go_to_every_place_that_they_reach() {
        let staff = Readers::Only(["staff".to_owned()].into());
        let declared = BTreeMap::from([
            (at(""), FieldLabel { integrity: Integrity::Internal, readers: Readers::Public }),
            (
                at("/items/*/note"),
                FieldLabel { integrity: Integrity::Untrusted, readers: staff.clone() },
            ),
        ]);
        let value = json!({"items": [{"id": 1, "note": "x"}, {"id": 2, "note": "y"}]});
        let map = labels(&declared, &value);
        assert_eq!(map.at(&at("/items/1/note")).readers, staff);
        assert_eq!(map.at(&at("/items/1/note")).integrity, Integrity::Untrusted);
        assert_eq!(map.at(&at("/items/1/id")).integrity, Integrity::Internal);
        assert_eq!(labels(&BTreeMap::new(), &value).joined(), Label::unlabelled());
    }
}
