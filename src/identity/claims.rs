//! Taking claims out of a verified set, each with its form; what is left over stays with the caller.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::error::IdentityError;
use crate::domain::clock::Timestamp;

/// The longest text of one claim, in bytes.
const MAX_TEXT_BYTES: usize = 256;
/// The most members of one list.
const MAX_MEMBERS: usize = 256;
/// 9999-12-31T23:59:59Z: what lies beyond is not a date but an overflow.
const LAST_SECOND: i64 = 253_402_300_799;

/// The claims of a token, taken out one by one.
pub(crate) struct Claims(pub(crate) Map<String, Value>);

impl Claims {
    /// A text of 1 to 256 bytes without control characters.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<String, IdentityError> {
        self.optional_text(name)?.ok_or(IdentityError::Incomplete(name))
    }

    pub(crate) fn optional_text(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, IdentityError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Err(IdentityError::Incomplete(name)),
            Some(Value::String(text)) if is_plain(&text) => Ok(Some(text)),
            Some(_) => Err(IdentityError::Malformed("a claim that should be a short text is not")),
        }
    }

    /// A list of distinct texts; absent is `None`.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, IdentityError> {
        self.0.remove(name).map(|value| text_list(&value)).transpose()
    }

    /// A set of texts; absent is empty.
    pub(crate) fn set(&mut self, name: &str) -> Result<BTreeSet<String>, IdentityError> {
        Ok(self.texts(name)?.unwrap_or_default().into_iter().collect())
    }

    /// A date in whole seconds.
    pub(crate) fn optional_time(&mut self, name: &str) -> Result<Option<Timestamp>, IdentityError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(seconds @ 0..=LAST_SECOND) => Ok(Some(Timestamp::from_seconds(seconds))),
                Some(_) | None => {
                    Err(IdentityError::Malformed("a date is not a whole number of seconds"))
                }
            },
        }
    }

    pub(crate) fn time(&mut self, name: &'static str) -> Result<Timestamp, IdentityError> {
        self.optional_time(name)?.ok_or(IdentityError::Incomplete(name))
    }

    /// `aud` as its only member; `None` when there are none or several.
    pub(crate) fn audience(&mut self) -> Option<String> {
        match self.0.remove("aud")? {
            Value::String(one) => Some(one),
            Value::Array(list) => match list.as_slice() {
                [Value::String(one)] => Some(one.clone()),
                _ => None,
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        }
    }

    /// `{Type: [id, …]}`; absent is empty.
    pub(crate) fn text_map(
        &mut self,
        name: &str,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, IdentityError> {
        self.object(name)?
            .into_iter()
            .map(|(key, value)| Ok((key, text_list(&value)?.into_iter().collect())))
            .collect()
    }

    /// `{name: integer}`, none negative; absent is empty.
    pub(crate) fn integer_map(
        &mut self,
        name: &str,
    ) -> Result<BTreeMap<String, i64>, IdentityError> {
        self.object(name)?
            .into_iter()
            .map(|(key, value)| match value.as_i64() {
                Some(number) if number >= 0 => Ok((key, number)),
                Some(_) | None => {
                    Err(IdentityError::Malformed("a limit is not a whole number from 0 on"))
                }
            })
            .collect()
    }

    fn object(&mut self, name: &str) -> Result<Map<String, Value>, IdentityError> {
        match self.0.remove(name) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) if map.len() <= MAX_MEMBERS => Ok(map),
            Some(_) => Err(IdentityError::Malformed("a claim that should be an object is not")),
        }
    }
}

fn text_list(value: &Value) -> Result<Vec<String>, IdentityError> {
    let malformed = IdentityError::Malformed("a claim that should be a list of texts is not");
    let Value::Array(list) = value else { return Err(malformed) };
    if list.len() > MAX_MEMBERS {
        return Err(malformed);
    }
    list.iter()
        .map(|item| match item.as_str() {
            Some(text) if !text.is_empty() && is_plain(text) => Ok(text.to_owned()),
            Some(_) | None => Err(malformed),
        })
        .collect()
}

fn is_plain(text: &str) -> bool {
    text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control)
}
