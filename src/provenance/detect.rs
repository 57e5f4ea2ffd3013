//! Where else a value occurs. Recorded and shown; it never changes a label.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cite::occurrences;
use crate::domain::{
    datum::{Content, Datum},
    pointer::Pointer,
};

/// Handles of the data in which the value occurs, exactly.
#[must_use]
pub fn sources(value: &Value, data: &[Datum]) -> BTreeSet<String> {
    let Some(wanted) = text(value) else { return BTreeSet::new() };
    if wanted.chars().count() < 3 {
        return BTreeSet::new();
    }
    data.iter()
        .filter(|datum| occurs(&wanted, &datum.content))
        .map(|datum| datum.id.to_string())
        .collect()
}

fn occurs(wanted: &str, content: &Content) -> bool {
    match content {
        Content::Text(held) => occurrences(held, wanted) > 0,
        Content::Json(document) => Pointer::leaves(document)
            .iter()
            .filter_map(|at| at.get(document).and_then(text))
            .any(|held| occurrences(&held, wanted) > 0),
        Content::Bytes(_) => false,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
