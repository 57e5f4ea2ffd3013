//! JSON to CEL and back. Integers become `int` (the crate's own conversion makes them `uint`, which does not compute
//! with literals), and objects come back with sorted members.

use std::{collections::HashMap, sync::Arc};

use cel::objects::{Key, Map};
use chrono::DateTime;
use serde_json::Value;

use super::error::EvalError;

/// Why a value cannot be computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    IntegerTooLarge,
    NumberNotFinite,
    TimeOutOfRange,
}

impl Fault {
    pub(super) fn in_root(self, root: &str) -> EvalError {
        let what = match self {
            Self::IntegerTooLarge => "an integer above the i64 range",
            Self::NumberNotFinite => "a number that is not finite",
            Self::TimeOutOfRange => "a time outside the calendar",
        };
        EvalError::Unusable { root: root.to_owned(), what }
    }
}

pub(super) fn to_cel(json: &Value) -> Result<cel::Value, Fault> {
    Ok(match json {
        Value::Null => cel::Value::Null,
        Value::Bool(answer) => cel::Value::Bool(*answer),
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => cel::Value::Int(integer),
            None if number.is_u64() => return Err(Fault::IntegerTooLarge),
            None => cel::Value::Float(number.as_f64().ok_or(Fault::NumberNotFinite)?),
        },
        Value::Array(items) => {
            cel::Value::List(Arc::new(items.iter().map(to_cel).collect::<Result<_, _>>()?))
        }
        Value::Object(members) => {
            let map = members
                .iter()
                .map(|(name, value)| Ok((Key::String(Arc::new(name.clone())), to_cel(value)?)))
                .collect::<Result<HashMap<_, _>, Fault>>()?;
            cel::Value::Map(Map { map: Arc::new(map) })
        }
    })
}

pub(super) fn timestamp(micros: i64) -> Result<cel::Value, Fault> {
    let time = DateTime::from_timestamp_micros(micros).ok_or(Fault::TimeOutOfRange)?;
    Ok(cel::Value::Timestamp(time.fixed_offset()))
}

pub(super) fn to_json(value: &cel::Value) -> Result<Value, EvalError> {
    Ok(match value {
        cel::Value::Null => Value::Null,
        cel::Value::Bool(answer) => Value::Bool(*answer),
        cel::Value::Int(integer) => Value::from(*integer),
        cel::Value::String(text) => Value::String(text.as_ref().clone()),
        cel::Value::Float(number) => serde_json::Number::from_f64(*number)
            .map(Value::Number)
            .ok_or(EvalError::NotJson { what: "a number that is not finite" })?,
        cel::Value::Timestamp(time) => Value::String(time.to_rfc3339()),
        cel::Value::List(items) => {
            Value::Array(items.iter().map(to_json).collect::<Result<_, _>>()?)
        }
        cel::Value::Map(map) => object(map)?,
        cel::Value::UInt(_) => return Err(EvalError::NotJson { what: "an unsigned integer" }),
        cel::Value::Bytes(_) => return Err(EvalError::NotJson { what: "bytes" }),
        cel::Value::Duration(_) => return Err(EvalError::NotJson { what: "a duration" }),
        cel::Value::Function(..) | cel::Value::Opaque(_) | cel::Value::Struct(_) => {
            return Err(EvalError::NotJson { what: "of a kind of its own" });
        }
    })
}

fn object(map: &Map) -> Result<Value, EvalError> {
    let mut members = Vec::with_capacity(map.map.len());
    for (key, value) in map.map.iter() {
        match key {
            Key::String(name) => members.push((name.as_ref().clone(), to_json(value)?)),
            Key::Int(_) | Key::Uint(_) | Key::Bool(_) => {
                return Err(EvalError::NotJson { what: "a record whose names are not texts" });
            }
        }
    }
    members.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Value::Object(members.into_iter().collect()))
}

/// The number of entries of the widest list or object inside, at least 1.
pub(super) fn widest(json: &Value) -> u64 {
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    match json {
        Value::Array(items) => {
            items.iter().map(widest).max().unwrap_or(1).max(count(items.len())).max(1)
        }
        Value::Object(members) => {
            members.values().map(widest).max().unwrap_or(1).max(count(members.len())).max(1)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
