//! What is known before any value exists: the shape of every root, from JSON Schemas.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

/// The shape of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Nothing is known; any use is allowed and checked when it is evaluated.
    Any,
    /// `true` or `false`.
    Bool,
    /// An integer of the i64 range.
    Int,
    /// A number that may have a fraction.
    Number,
    /// A text, possibly of a closed list.
    Text {
        /// The closed list.
        members: Option<Vec<String>>,
    },
    /// A point in time.
    Timestamp,
    /// A list of one shape.
    List(Arc<Shape>),
    /// Named fields.
    Record {
        /// The fields.
        fields: BTreeMap<String, Field>,
        /// Whether other fields may occur; they are optional and of any shape.
        open: bool,
    },
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Whether it is always there.
    pub required: bool,
    /// Its shape.
    pub shape: Arc<Shape>,
}

/// Deepest chain of `$ref`s and nested schemas that is followed; what is deeper is `Any`.
const MAX_SCHEMA_DEPTH: usize = 32;

impl Shape {
    /// A text of any kind.
    #[must_use]
    pub fn text() -> Self {
        Self::Text { members: None }
    }

    /// A closed record whose fields are all required.
    #[must_use]
    pub fn record<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        let fields = fields
            .into_iter()
            .map(|(name, shape)| (name.into(), Field { required: true, shape: Arc::new(shape) }))
            .collect();
        Self::Record { fields, open: false }
    }

    /// A closed record whose fields are all optional.
    #[must_use]
    pub fn optional_record<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        let fields = fields
            .into_iter()
            .map(|(name, shape)| (name.into(), Field { required: false, shape: Arc::new(shape) }))
            .collect();
        Self::Record { fields, open: false }
    }

    /// The shape a JSON Schema promises. Parts with combinators or several types are `Any`.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Self {
        from_schema(schema, schema, 0)
    }

    /// The kind of values of this shape.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Any => Kind::Any,
            Self::Bool => Kind::Bool,
            Self::Int => Kind::Int,
            Self::Number => Kind::Number,
            Self::Text { .. } => Kind::Text,
            Self::Timestamp => Kind::Timestamp,
            Self::List(_) => Kind::List,
            Self::Record { .. } => Kind::Map,
        }
    }
}

fn from_schema(schema: &Value, document: &Value, depth: usize) -> Shape {
    if depth > MAX_SCHEMA_DEPTH {
        return Shape::Any;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        return found.map_or(Shape::Any, |found| from_schema(found, document, depth + 1));
    }
    if let Some(members) = schema.get("enum").and_then(Value::as_array) {
        return of_members(members);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => Shape::Bool,
        Some("integer") => Shape::Int,
        Some("number") => Shape::Number,
        Some("string") => match schema.get("const").and_then(Value::as_str) {
            Some(only) => Shape::Text { members: Some(vec![only.to_owned()]) },
            None => Shape::text(),
        },
        Some("array") => {
            let items =
                schema.get("items").map_or(Shape::Any, |i| from_schema(i, document, depth + 1));
            Shape::List(Arc::new(items))
        }
        Some("object") => record(schema, document, depth),
        _ => Shape::Any,
    }
}

fn of_members(members: &[Value]) -> Shape {
    let texts: Option<Vec<String>> =
        members.iter().map(|m| m.as_str().map(str::to_owned)).collect();
    match texts {
        Some(texts) => Shape::Text { members: Some(texts) },
        None if members.iter().all(Value::is_i64) => Shape::Int,
        None => Shape::Any,
    }
}

fn record(schema: &Value, document: &Value, depth: usize) -> Shape {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut fields = BTreeMap::new();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            let shape = Arc::new(from_schema(property, document, depth + 1));
            fields
                .insert(name.clone(), Field { required: required.contains(&name.as_str()), shape });
        }
    }
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    Shape::Record { fields, open: !closed }
}

/// The kinds of values, as far as they are known before evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unknown.
    Any,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// An integer.
    Int,
    /// A number with a fraction.
    Number,
    /// A text.
    Text,
    /// A point in time.
    Timestamp,
    /// A span of time.
    Duration,
    /// A list.
    List,
    /// A record.
    Map,
}

impl Kind {
    /// The kind in words: `a text`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "something unknown",
            Self::Null => "null",
            Self::Bool => "true or false",
            Self::Int => "an integer",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Timestamp => "a time",
            Self::Duration => "a duration",
            Self::List => "a list",
            Self::Map => "a record",
        }
    }

    /// Whether values of the two kinds can be equal.
    #[must_use]
    pub fn can_equal(self, other: Self) -> bool {
        let unknown = |kind| matches!(kind, Self::Any | Self::Null);
        let number = |kind| matches!(kind, Self::Int | Self::Number);
        self == other || unknown(self) || unknown(other) || (number(self) && number(other))
    }
}

/// The roots that exist at one place, with their shapes.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    shapes: BTreeMap<String, Arc<Shape>>,
}

impl Roots {
    /// No root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These roots and one more.
    #[must_use]
    pub fn with(mut self, name: &str, shape: impl Into<Arc<Shape>>) -> Self {
        self.shapes.insert(name.to_owned(), shape.into());
        self
    }

    /// These roots without one.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.shapes.remove(name);
        self
    }

    /// The shape of a root.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&Arc<Shape>> {
        self.shapes.get(name)
    }

    /// The names, separated by commas.
    #[must_use]
    pub fn names(&self) -> String {
        self.shapes.keys().cloned().collect::<Vec<_>>().join(", ")
    }
}
