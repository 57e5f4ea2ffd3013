//! YAML as a tree in which every node knows its place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use super::problem::Place;

/// Deepest nesting of a file.
const MAX_DEPTH: usize = 48;
/// Stack of the thread that parses, in bytes; the deserialiser recurses, and a worker's stack is too small for it.
const PARSER_STACK_BYTES: usize = 64 << 20;
/// Largest file, in bytes.
pub(super) const MAX_FILE_BYTES: usize = 1 << 20;

/// One node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Place,
    pub(super) kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// One member of a map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) at: Place,
    pub(super) value: Node,
}

impl Node {
    /// What it is, in words.
    pub(super) fn describe(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Bool(_) => "true or false",
            NodeKind::Int(_) => "an integer",
            NodeKind::Float(_) => "a number with a fraction",
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::List(_)
            | NodeKind::Map(_) => None,
        }
    }

    /// The items, if it is a list.
    pub(super) fn items(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text(_)
            | NodeKind::Map(_) => None,
        }
    }

    /// The members, if it is a map.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            NodeKind::Map(members) => Some(members),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text(_)
            | NodeKind::List(_) => None,
        }
    }

    /// The member of this name, if it is a map that has one.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.members()?.iter().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The node at a JSON Pointer, or the nearest one above it.
    pub(super) fn nearest(&self, pointer: &str) -> &Node {
        let mut node = self;
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            let item = || node.items()?.get(name.parse::<usize>().ok()?);
            match node.get(&name).or_else(item) {
                Some(below) => node = below,
                None => break,
            }
        }
        node
    }

    /// The node as JSON.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(answer) => Value::Bool(*answer),
            NodeKind::Int(integer) => Value::from(*integer),
            NodeKind::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeKind::Map(members) => Value::Object(
                members.iter().map(|m| (m.name.clone(), m.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Reads one document.
///
/// # Errors
/// The first place that is not YAML of this kind: repeated names, several documents, too deep, too large.
pub(super) fn parse(bytes: &[u8]) -> Result<Node, (Place, String)> {
    let nowhere = Place::default();
    if bytes.len() > MAX_FILE_BYTES {
        return Err((nowhere, format!("the file is larger than {MAX_FILE_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        (
            Place::of_offset(&String::from_utf8_lossy(bytes), error.valid_up_to()),
            "not UTF-8".to_owned(),
        )
    })?;
    let owned = text.to_owned();
    std::thread::Builder::new()
        .stack_size(PARSER_STACK_BYTES)
        .spawn(move || parse_here(&owned))
        .map_err(|_| (nowhere, "no thread could be started to read it".to_owned()))?
        .join()
        .map_err(|_| (nowhere, "not readable".to_owned()))?
}

fn parse_here(text: &str) -> Result<Node, (Place, String)> {
    let nowhere = Place::default();
    let mut budget = serde_saphyr::budget::Budget::default();
    budget.max_depth = MAX_DEPTH;
    let mut options = serde_saphyr::options::Options::default();
    options.budget = Some(budget);
    options.with_snippet = false;
    options.strict_booleans = true;
    let raw: Spanned<Raw> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let place = error
                .location()
                .map_or(nowhere, |at| Place { line: small(at.line()), column: small(at.column()) });
            (place, in_words(&error.to_string()))
        })?;
    Ok(node(raw))
}

/// What the parser said, without the place (which is told apart) and without advice for programmers.
fn in_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    match line.strip_prefix("duplicate mapping key: ") {
        Some(rest) => {
            let name = rest.split(',').next().unwrap_or(rest);
            format!("the name `{name}` stands here twice")
        }
        None => line.to_owned(),
    }
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A node as serde delivers it, before the places are unwrapped.
enum Raw {
    Leaf(NodeKind),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    Place { line: small(spanned.referenced.line()), column: small(spanned.referenced.column()) }
}

fn node(spanned: Spanned<Raw>) -> Node {
    let at = place(&spanned);
    let kind = match spanned.value {
        Raw::Leaf(kind) => kind,
        Raw::List(items) => NodeKind::List(items.into_iter().map(node).collect()),
        Raw::Map(members) => NodeKind::Map(members.into_iter().map(member).collect()),
    };
    Node { at, kind }
}

fn member((name, value): (Spanned<String>, Spanned<Raw>)) -> Member {
    Member { at: place(&name), name: name.value, value: node(value) }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Null))
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, answer: bool) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Bool(answer)))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Int(integer)))
    }

    fn visit_u64<E: serde::de::Error>(self, integer: u64) -> Result<Raw, E> {
        let integer =
            i64::try_from(integer).map_err(|_| E::custom("an integer above the i64 range"))?;
        Ok(Raw::Leaf(NodeKind::Int(integer)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Text(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Leaf(NodeKind::Text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut members = Vec::new();
        while let Some(entry) = access.next_entry()? {
            members.push(entry);
        }
        Ok(Raw::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_node_knows_its_place() {
        let root = parse(b"# head\na: 1\nlist:\n  - x\n  - {b: 'two words', c: [3, 4.5]}\nnone:\n")
            .unwrap();
        let at = |pointer: &str| {
            let at = root.nearest(pointer).at;
            (at.line, at.column)
        };
        assert_eq!(at("/a"), (2, 4));
        assert_eq!(at("/list/0"), (4, 5));
        assert_eq!(at("/list/1/b"), (5, 9));
        assert_eq!(at("/list/1/c/1"), (5, 29));
        assert_eq!(root.members().unwrap()[1].at, Place { line: 3, column: 1 });
        assert_eq!(
            root.to_json(),
            json!({"a": 1, "list": ["x", {"b": "two words", "c": [3, 4.5]}], "none": null})
        );
    }

    #[test]
    fn anchors_and_merge_keys_are_expanded() {
        let root = parse(b"a: &base {x: 1, y: 2}\nb: {<<: *base, y: 3}\n").unwrap();
        assert_eq!(root.to_json()["b"], json!({"x": 1, "y": 3}));
    }

    #[test]
    fn repeated_names_two_documents_and_bad_syntax_are_refused_with_their_place() {
        assert_eq!(parse(b"a: 1\na: 2\n").unwrap_err().0, Place { line: 2, column: 1 });
        assert!(parse(b"a: 1\n---\nb: 2\n").is_err());
        assert_eq!(parse(b"a: {b: 1\n").unwrap_err().0.line, 1);
        assert!(parse(b"a: 18446744073709551615\n").is_err());
        assert!(parse(b"a: \xff\n").is_err());
        let deep = format!("{}1{}", "[".repeat(80), "]".repeat(80));
        assert!(parse(deep.as_bytes()).is_err());
    }

    #[test]
    fn words_that_look_like_something_else_stay_texts() {
        let root =
            parse(b"a: yes\nb: NO\nc: 2026-01-05T09:00:00Z\nd: '12'\ne: 1.0.0\nf: true\n").unwrap();
        assert_eq!(
            root.to_json(),
            json!({"a": "yes", "b": "NO", "c": "2026-01-05T09:00:00Z", "d": "12", "e": "1.0.0", "f": true})
        );
    }
}
