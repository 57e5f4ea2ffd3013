//! What a policy can be told about arguments and facts: the part of a JSON Schema that Cedar's types can hold.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A Cedar type of context data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextType {
    /// `Bool`
    Bool,
    /// `Long`
    Long,
    /// `String`
    Text,
    /// `Set<…>`; order and repetition are lost, so sums belong to CEL.
    Set(Box<ContextType>),
    /// A closed record.
    Record(BTreeMap<String, Attribute>),
}

/// One attribute of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Whether it is always there; otherwise a policy must guard it with `has`.
    pub required: bool,
    /// Its type.
    pub ty: ContextType,
}

/// A value that does not have its declared type, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` is not {wanted}")]
pub struct WrongType {
    /// Where, as a JSON Pointer.
    pub at: String,
    /// The type that was declared.
    pub wanted: &'static str,
}

/// Deepest nesting of schemas and chains of references that is followed.
const MAX_DEPTH: usize = 16;

impl ContextType {
    /// The type of a schema's values, or `None` where Cedar has none: fractions, unions, free-form records. Such parts
    /// are left out of a policy's sight; a policy that names one does not validate.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Option<Self> {
        from_schema(schema, schema, 0)
    }

    /// The record type of an object schema; an empty record where it has no properties.
    #[must_use]
    pub fn record_from_schema(schema: &Value) -> Self {
        Self::from_schema(schema).unwrap_or_else(|| Self::Record(BTreeMap::new()))
    }

    /// The type in Cedar's JSON schema format.
    #[must_use]
    pub fn to_schema_json(&self) -> Value {
        match self {
            Self::Bool => json!({"type": "Boolean"}),
            Self::Long => json!({"type": "Long"}),
            Self::Text => json!({"type": "String"}),
            Self::Set(element) => json!({"type": "Set", "element": element.to_schema_json()}),
            Self::Record(attributes) => {
                let attributes: Map<String, Value> = attributes
                    .iter()
                    .map(|(name, attribute)| {
                        let mut ty = attribute.ty.to_schema_json();
                        if let Some(object) = ty.as_object_mut() {
                            object.insert("required".to_owned(), Value::Bool(attribute.required));
                        }
                        (name.clone(), ty)
                    })
                    .collect();
                json!({"type": "Record", "attributes": attributes})
            }
        }
    }

    /// The part of `value` that policies see: declared attributes only, null as absent.
    ///
    /// # Errors
    /// A value of another type, or a required attribute that is absent.
    pub fn project(&self, value: &Value) -> Result<Value, WrongType> {
        self.project_at(value, "")
    }

    fn project_at(&self, value: &Value, at: &str) -> Result<Value, WrongType> {
        let wrong = |wanted| WrongType { at: at.to_owned(), wanted };
        match self {
            Self::Bool if value.is_boolean() => Ok(value.clone()),
            Self::Bool => Err(wrong("true or false")),
            Self::Long if value.is_i64() => Ok(value.clone()),
            Self::Long => Err(wrong("an integer")),
            Self::Text if value.is_string() => Ok(value.clone()),
            Self::Text => Err(wrong("a text")),
            Self::Set(element) => {
                let items = value.as_array().ok_or_else(|| wrong("a list"))?;
                let projected = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| element.project_at(item, &format!("{at}/{index}")))
                    .collect::<Result<_, _>>()?;
                Ok(Value::Array(projected))
            }
            Self::Record(attributes) => {
                let members = value.as_object().ok_or_else(|| wrong("a record"))?;
                let mut projected = Map::new();
                for (name, attribute) in attributes {
                    let at = format!("{at}/{name}");
                    match members.get(name).filter(|member| !member.is_null()) {
                        Some(member) => {
                            projected.insert(name.clone(), attribute.ty.project_at(member, &at)?);
                        }
                        None if attribute.required => {
                            return Err(WrongType { at, wanted: "there" });
                        }
                        None => {}
                    }
                }
                Ok(Value::Object(projected))
            }
        }
    }
}

fn from_schema(schema: &Value, document: &Value, depth: usize) -> Option<ContextType> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let found = document.pointer(target.strip_prefix('#')?)?;
        return from_schema(found, document, depth + 1);
    }
    if let Some(members) = schema.get("enum").and_then(Value::as_array) {
        let all = |test: fn(&Value) -> bool| members.iter().all(test);
        return match () {
            () if all(Value::is_string) => Some(ContextType::Text),
            () if all(Value::is_i64) => Some(ContextType::Long),
            () => None,
        };
    }
    match schema.get("type").and_then(Value::as_str)? {
        "boolean" => Some(ContextType::Bool),
        "integer" => Some(ContextType::Long),
        "string" => Some(ContextType::Text),
        "array" => {
            let element = from_schema(schema.get("items")?, document, depth + 1)?;
            Some(ContextType::Set(Box::new(element)))
        }
        "object" => Some(record(schema, document, depth)),
        _ => None,
    }
}

fn record(schema: &Value, document: &Value, depth: usize) -> ContextType {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let attributes = properties
        .into_iter()
        .flatten()
        // Names that begin with `__` would be read as Cedar's escapes.
        .filter(|(name, _)| !name.starts_with("__"))
        .filter_map(|(name, property)| {
            let ty = from_schema(property, document, depth + 1)?;
            Some((name.clone(), Attribute { required: required.contains(&name.as_str()), ty }))
        })
        .collect();
    ContextType::Record(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["id", "count", "items"],
            "properties": {
                "id": {"type": "string"},
                "count": {"type": "integer"},
                "note": {"type": "string"},
                "price": {"type": "number"},
                "maybe": {"type": ["string", "null"]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
                "__entity": {"type": "string"}
            },
            "$defs": {"item": {"type": "object", "properties": {"open": {"type": "boolean"}}, "required": ["open"]}}
        })
    }

    #[test]
    fn what_cedar_cannot_hold_is_left_out() {
        let ContextType::Record(attributes) = ContextType::record_from_schema(&schema()) else {
            panic!("a record")
        };
        assert_eq!(attributes.keys().collect::<Vec<_>>(), ["count", "id", "items", "note"]);
        assert!(attributes["id"].required && !attributes["note"].required);
    }

    #[test]
    fn undeclared_and_null_members_do_not_reach_a_policy() {
        let ty = ContextType::record_from_schema(&schema());
        let value = json!({
            "id": "b_1", "count": 2, "note": null, "price": 1.5, "more": {"__entity": 1},
            "items": [{"open": true, "x": 1}]
        });
        assert_eq!(
            ty.project(&value).unwrap(),
            json!({"id": "b_1", "count": 2, "items": [{"open": true}]})
        );
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_its_place() {
        let ty = ContextType::record_from_schema(&schema());
        let error =
            ty.project(&json!({"id": "b", "count": 1, "items": [{"open": 1}]})).unwrap_err();
        assert_eq!(error.to_string(), "`/items/0/open` is not true or false");
        let error = ty.project(&json!({"id": "b", "count": 1.5, "items": []})).unwrap_err();
        assert_eq!(error.to_string(), "`/count` is not an integer");
        let error = ty.project(&json!({"count": 1, "items": []})).unwrap_err();
        assert_eq!(error.to_string(), "`/id` is not there");
    }
}
