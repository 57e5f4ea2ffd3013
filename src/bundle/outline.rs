//! The first, silent look at every contract: what the others need to know to be checked against it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    contract::BodyFormat,
    yaml::{Node, NodeKind},
};

/// What other contracts and the workflow need to know of one.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    /// The arguments as an intent gives them.
    pub(crate) input: Value,
    pub(crate) response: Value,
    pub(crate) is_read: bool,
    pub(crate) serves_facts: bool,
    pub(crate) has_amount: bool,
    pub(crate) resource_type: Option<String>,
}

/// Outlines by tool.
pub(crate) type Outlines = BTreeMap<String, Outline>;

impl Outline {
    pub(super) fn of(node: &Node) -> Self {
        let effect = node.get("effect").filter(|effect| effect.kind != NodeKind::Null);
        let response = node.get("response");
        let is_mail = response.and_then(|r| r.get("parse")).and_then(Node::text)
            == Some(BodyFormat::Mail.as_str());
        let written = response.and_then(|r| r.get("schema")).map(Node::to_json);
        let resource_type = node.get("resource").and_then(|r| r.get("type")).and_then(Node::text);
        Self {
            input: schema_of(node.get("input")),
            response: match written {
                Some(schema) => schema,
                None if is_mail => mail_schema(),
                None => Value::Null,
            },
            is_read: effect.is_none(),
            serves_facts: node.get("facts").is_some_and(|facts| facts.kind == NodeKind::Bool(true)),
            has_amount: effect.is_some_and(|effect| effect.get("amount").is_some()),
            resource_type: resource_type.map(str::to_owned),
        }
    }
}

/// The schema of arguments after defaults: whatever has a default is always there.
pub(super) fn defaulted(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    let mut required: Vec<Value> =
        object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            if property.get("default").is_some() {
                required.push(Value::String(name.clone()));
            }
            *property = defaulted(property);
        }
    }
    if !required.is_empty() {
        object.insert("required".to_owned(), Value::Array(required));
    }
    schema
}

fn schema_of(input: Option<&Node>) -> Value {
    input.and_then(|input| input.get("schema")).map_or(Value::Null, Node::to_json)
}

/// What a mail is read into; a contract with `parse: mail` needs no schema of its own.
pub(super) fn mail_schema() -> Value {
    let text = |max: u64| json!({"type": "string", "maxLength": max});
    let addresses = json!({"type": "array", "items": text(320), "maxItems": 1000});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["from", "to", "subject", "date", "body", "quoted", "attachments"],
        "properties": {
            "from": text(320),
            "to": addresses,
            "subject": text(998),
            "date": text(64),
            "body": text(1_048_576),
            "quoted": text(1_048_576),
            "attachments": {"type": "array", "maxItems": 100, "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name", "media_type", "bytes", "text"],
                "properties": {
                    "name": text(255),
                    "media_type": text(127),
                    "bytes": {"type": "integer", "minimum": 0},
                    "text": text(1_048_576),
                },
            }},
        },
    })
}
