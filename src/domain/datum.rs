//! One stored piece of content, with labels and provenance.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    clock::Timestamp,
    contract_terms::PartKind,
    ids::{ActionId, DatumId, SessionId},
    label::{Integrity, Label, LabelMap},
    pointer::Pointer,
};

/// A datum of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Datum {
    /// Its handle.
    pub id: DatumId,
    /// Whose it is.
    pub session: SessionId,
    /// Media type without parameters.
    pub media_type: String,
    /// What it holds.
    pub content: Content,
    /// Labels by place.
    pub labels: LabelMap,
    /// How it came here.
    pub origin: Origin,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The business id, where the contract gives one; shown by right, never part of the handle.
    pub display: Option<String>,
}

/// What a datum holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A strict JSON document.
    Json(Value),
    /// UTF-8 text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// How a datum came here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Origin {
    /// The agent handed it in.
    Ingested,
    /// The principal's own words.
    Statement {
        /// Brought by a workload with the right to relay.
        relayed: bool,
    },
    /// The answer of a tool.
    Tool {
        /// The contract.
        tool: String,
        /// Its version.
        version: u32,
        /// The action it answered.
        action: ActionId,
    },
}

impl Origin {
    /// As the API and the log write it.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Ingested => "ingested".to_owned(),
            Self::Statement { .. } => "statement".to_owned(),
            Self::Tool { tool, version, .. } => format!("tool:{tool}@{version}"),
        }
    }
}

impl Datum {
    /// Handle and integrity as the log writes them: of the whole, single fields may be lower; of a
    /// statement, its typed parts.
    #[must_use]
    pub fn in_log(&self) -> String {
        let integrity = match self.origin {
            Origin::Statement { .. } => Integrity::User,
            Origin::Ingested | Origin::Tool { .. } => {
                self.labels.nearest(&Pointer::root()).integrity
            }
        };
        format!("{}:{integrity}", self.id)
    }

    /// The datum with only what `reader` may read: members without him among their readers are left
    /// out, elements become null so that the others keep their places.
    #[must_use]
    pub fn redacted_for(mut self, reader: &str) -> Self {
        let admits = |at: &Pointer| self.labels.nearest(at).readers.admits(reader);
        self.content = match self.content {
            Content::Json(value) => {
                Content::Json(redact(&Pointer::root(), value, &admits).unwrap_or(Value::Null))
            }
            Content::Text(_) if !admits(&Pointer::root()) => Content::Text(String::new()),
            Content::Bytes(_) if !admits(&Pointer::root()) => Content::Bytes(Vec::new()),
            Content::Text(_) | Content::Bytes(_) => self.content,
        };
        self
    }
}

fn redact(at: &Pointer, value: Value, admits: &impl Fn(&Pointer) -> bool) -> Option<Value> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let kept: Map<String, Value> = members
                .into_iter()
                .filter_map(|(name, member)| {
                    let member = redact(&at.child(&name), member, admits)?;
                    Some((name, member))
                })
                .collect();
            (!kept.is_empty() || admits(at)).then_some(Value::Object(kept))
        }
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<Option<Value>> = items
                .into_iter()
                .enumerate()
                .map(|(index, item)| redact(&at.child(&index.to_string()), item, admits))
                .collect();
            (items.iter().any(Option::is_some) || admits(at))
                .then(|| Value::Array(items.into_iter().map(Option::unwrap_or_default).collect()))
        }
        leaf @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => admits(at).then_some(leaf),
    }
}

impl Content {
    /// The JSON value at a pointer, or the text itself at the root of a text.
    #[must_use]
    pub fn at(&self, pointer: &Pointer) -> Option<Value> {
        match self {
            Self::Json(value) => pointer.get(value).cloned(),
            Self::Text(text) => (*pointer == Pointer::root()).then(|| Value::String(text.clone())),
            Self::Bytes(_) => None,
        }
    }

    /// Size in bytes of what would be handed out.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Json(value) => value.to_string().len(),
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Member names and types without values.
    #[must_use]
    pub fn shape(&self) -> Value {
        match self {
            Self::Json(value) => shape(value),
            Self::Text(text) => Value::String(format!("text of {} bytes", text.len())),
            Self::Bytes(bytes) => Value::String(format!("{} bytes", bytes.len())),
        }
    }
}

fn shape(value: &Value) -> Value {
    match value {
        Value::Null => Value::from("null"),
        Value::Bool(_) => Value::from("boolean"),
        Value::Number(_) => Value::from("number"),
        Value::String(text) => Value::String(format!("text of {} bytes", text.len())),
        Value::Array(items) => {
            let mut described = vec![Value::String(format!("{} items", items.len()))];
            described.extend(items.first().map(shape));
            Value::Array(described)
        }
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, member)| (name.clone(), shape(member))).collect(),
        ),
    }
}

/// The kind of a statement's handle.
pub const STATEMENT_KIND: &str = "statement";

/// One part of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementPart {
    /// How it came into being.
    pub kind: PartKind,
    /// The words.
    pub text: String,
}

/// Content and labels of a statement: a typed part is the principal's word, all else is not.
#[must_use]
pub fn statement(parts: &[StatementPart]) -> (Content, LabelMap) {
    let mut labels = LabelMap::whole(Label::unlabelled());
    let mut items = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let at = Pointer::root().child("parts").child(&index.to_string());
        if part.kind == PartKind::Typed {
            let readers = std::iter::once("subject".to_owned()).chain(["staff".to_owned()]);
            let label = Label {
                integrity: Integrity::User,
                readers: super::label::Readers::Only(readers.collect()),
                ..Label::unlabelled()
            };
            labels.set(at, label);
        }
        let mut item = Map::new();
        item.insert("kind".to_owned(), Value::from(part.kind.as_str()));
        item.insert("text".to_owned(), Value::from(part.text.clone()));
        items.push(Value::Object(item));
    }
    let mut document = Map::new();
    document.insert("parts".to_owned(), Value::Array(items));
    (Content::Json(Value::Object(document)), labels)
}

/// The typed words of a statement datum; quoted lines (`>`) and fenced blocks inside them are left
/// out, since they are somebody else's words.
#[must_use]
pub fn typed_words(datum: &Datum) -> Vec<String> {
    let (Origin::Statement { .. }, Content::Json(document)) = (&datum.origin, &datum.content)
    else {
        return Vec::new();
    };
    let parts = document.get("parts").and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .filter(|part| part.get("kind").and_then(Value::as_str) == Some(PartKind::Typed.as_str()))
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .map(without_quotations)
        .collect()
}

fn without_quotations(text: &str) -> String {
    let mut fenced = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced && !line.trim_start().starts_with('>') {
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: PartKind, text: &str) -> StatementPart {
        StatementPart { kind, text: text.to_owned() }
    }

    #[test]
    fn only_typed_parts_are_the_principals_word() {
        let (content, labels) =
            statement(&[part(PartKind::Typed, "lend b1"), part(PartKind::Pasted, "lend b2")]);
        let at = |text: &str| Pointer::parse(text).unwrap();
        assert_eq!(labels.at(&at("/parts/0/text")).integrity, Integrity::User);
        assert_eq!(labels.at(&at("/parts/1/text")).integrity, Integrity::Untrusted);
        assert_eq!(labels.joined().integrity, Integrity::Untrusted);
        assert_eq!(content.at(&at("/parts/1/text")), Some(Value::from("lend b2")));
    }

    #[test]
    fn quotations_inside_typed_text_are_left_out() {
        assert_eq!(
            without_quotations("please\n> lend b9\n```\nlend b8\n```\nlend b1"),
            "please\nlend b1"
        );
    }

    #[test]
    fn redaction_keeps_what_the_reader_may_read_and_nothing_else() {
        let readers = |names: &[&str]| Label {
            readers: super::super::label::Readers::Only(
                names.iter().map(|n| (*n).to_owned()).collect(),
            ),
            ..Label::unlabelled()
        };
        let at = |text: &str| Pointer::parse(text).unwrap();
        let mut labels = LabelMap::whole(readers(&["subject", "staff"]));
        labels.set(at("/note"), readers(&["staff"]));
        labels.set(at("/items/0"), readers(&["staff"]));
        let tail = "0".repeat(26);
        let datum = Datum {
            id: DatumId::parse(&format!("loan_{tail}")).unwrap(),
            session: SessionId::parse(&format!("ses_{tail}")).unwrap(),
            media_type: "application/json".to_owned(),
            content: Content::Json(
                serde_json::json!({"id": "B-1", "note": "private", "items": ["a", "b"]}),
            ),
            labels,
            origin: Origin::Ingested,
            created_at: Timestamp::from_micros(0),
            display: None,
        };
        let seen = |reader: &str| datum.clone().redacted_for(reader).content;
        assert_eq!(
            seen("subject"),
            Content::Json(serde_json::json!({"id": "B-1", "items": [null, "b"]}))
        );
        assert_eq!(seen("staff"), datum.content);
        assert_eq!(seen("public"), Content::Json(Value::Null));
    }

    #[test]
    fn a_shape_holds_no_value() {
        let content = Content::Json(serde_json::json!({"secret": "abc", "n": [1, 2]}));
        assert_eq!(
            content.shape().to_string(),
            r#"{"secret":"text of 3 bytes","n":["2 items","number"]}"#
        );
    }
}
