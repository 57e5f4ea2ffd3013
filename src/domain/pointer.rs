//! JSON Pointers (RFC 6901): the places that labels and citations name.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A JSON Pointer; the empty text is the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer(String);

/// Why a text is not a JSON Pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a JSON Pointer: it must be empty or begin with `/`, and `~` must be `~0` or `~1`"
)]
pub struct NotAPointer(pub String);

impl Pointer {
    /// The place of the whole document.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Reads a pointer.
    ///
    /// # Errors
    /// When the text is not of RFC 6901.
    pub fn parse(text: &str) -> Result<Self, NotAPointer> {
        let well_formed = (text.is_empty() || text.starts_with('/'))
            && text.len() <= 1_024
            && !text.replace("~0", "").replace("~1", "").contains('~');
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPointer(text.chars().take(64).collect()))
        }
    }

    /// The pointer to a member or element below this one.
    #[must_use]
    pub fn child(&self, token: &str) -> Self {
        Self(format!("{}/{}", self.0, token.replace('~', "~0").replace('/', "~1")))
    }

    /// The pointer one step up; `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(head, _)| Self(head.to_owned()))
    }

    /// Whether `other` is this place or lies below it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        other.0 == self.0 || other.0.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The reference tokens, unescaped.
    pub fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }

    /// The value at this place.
    #[must_use]
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.0)
    }

    /// The pointer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The places of all leaves of `value` (scalars and empty containers), in document order.
    #[must_use]
    pub fn leaves(value: &Value) -> Vec<Pointer> {
        let mut found = Vec::new();
        collect(&Pointer::root(), value, &mut found);
        found
    }
}

fn collect(at: &Pointer, value: &Value, found: &mut Vec<Pointer>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                collect(&at.child(name), member, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                collect(&at.child(&index.to_string()), item, found);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => found.push(at.clone()),
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Pointer {
    type Error = NotAPointer;
    fn try_from(text: String) -> Result<Self, NotAPointer> {
        Self::parse(&text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> String {
        pointer.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_are_read_as_rfc_6901_says() {
        assert!(Pointer::parse("a").is_err());
        assert!(Pointer::parse("/a~2").is_err());
        let at = Pointer::parse("/a~1b/0").unwrap();
        assert_eq!(at.get(&json!({"a/b": [5]})), Some(&json!(5)));
        assert_eq!(at.tokens().collect::<Vec<_>>(), ["a/b", "0"]);
        assert_eq!(Pointer::root().child("a/b").child("0"), at);
    }

    #[test]
    fn a_place_holds_what_lies_below_it_and_not_its_neighbours() {
        let at = Pointer::parse("/a").unwrap();
        assert!(at.holds(&Pointer::parse("/a/b").unwrap()));
        assert!(!at.holds(&Pointer::parse("/ab").unwrap()));
        assert!(Pointer::root().holds(&at));
    }
}
