//! JSON Schemas, compiled: draft 2020-12, offline, formats asserted, patterns in linear time.

use std::{fmt, sync::Arc};

use jsonschema::{Draft, PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

use crate::domain::pointer::Pointer;

/// Faults reported for one value at most.
const MAX_FAULTS: usize = 32;

/// A schema and its validator.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Inner>,
}

struct Inner {
    source: Value,
    validator: Validator,
}

/// Why a schema does not compile, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SchemaError {
    /// What is wrong.
    pub text: String,
    /// Where in the schema.
    pub at: Pointer,
}

/// One way in which a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaFault {
    /// Where in the value; for a missing or an extra member, the member's own place.
    pub pointer: Pointer,
    /// The schema keyword that failed, such as `required`, `type`, `enum`, `additionalProperties`, `format`.
    pub keyword: String,
    /// Whether the value there is null.
    pub is_null: bool,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When it is not a schema, refers to another document, or uses a pattern that needs backtracking or a format
    /// that is not known.
    pub fn compile(source: Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            .build(&source)
            .map_err(|error| SchemaError {
                text: error.to_string(),
                at: Pointer::parse(error.instance_path().as_str()).unwrap_or_default(),
            })?;
        Ok(Self { inner: Arc::new(Inner { source, validator }) })
    }

    /// Every way in which `value` does not fit, sorted; empty when it fits.
    #[must_use]
    pub fn validate(&self, value: &Value) -> Vec<SchemaFault> {
        let mut faults: Vec<SchemaFault> = self
            .inner
            .validator
            .iter_errors(value)
            .take(MAX_FAULTS)
            .flat_map(|e| faults_of(&e))
            .collect();
        faults.sort();
        faults.dedup();
        faults
    }

    /// The schema as written.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.inner.source
    }
}

fn faults_of(error: &ValidationError<'_>) -> Vec<SchemaFault> {
    let at = Pointer::parse(error.instance_path().as_str()).unwrap_or_default();
    let keyword = error.kind().keyword().to_owned();
    let fault = |pointer| SchemaFault {
        pointer,
        keyword: keyword.clone(),
        is_null: error.instance().is_null(),
    };
    if let ValidationErrorKind::Required { property } = error.kind() {
        return vec![fault(property.as_str().map_or_else(|| at.clone(), |name| at.child(name)))];
    }
    if let ValidationErrorKind::AdditionalProperties { unexpected }
    | ValidationErrorKind::UnevaluatedProperties { unexpected } = error.kind()
    {
        return unexpected.iter().map(|name| fault(at.child(name))).collect();
    }
    vec![fault(at)]
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.inner.source).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::compile(json!({
            "type": "object", "additionalProperties": false, "required": ["id"],
            "properties": {
                "id": {"type": "string", "pattern": "^b_[0-9]{1,4}$"},
                "on": {"type": "string", "format": "date"},
                "kind": {"type": "string", "enum": ["a", "b"]}
            }
        }))
        .unwrap()
    }

    #[test]
    fn a_fitting_value_has_no_faults() {
        assert_eq!(schema().validate(&json!({"id": "b_1", "on": "2026-01-05", "kind": "a"})), []);
    }

    #[test]
    fn faults_name_the_member_and_the_keyword() {
        let faults = schema().validate(&json!({"on": "31/12/26", "kind": null, "more": 1}));
        let found: Vec<(&str, &str, bool)> =
            faults.iter().map(|f| (f.pointer.as_str(), f.keyword.as_str(), f.is_null)).collect();
        assert_eq!(
            found,
            [
                ("/id", "required", false),
                ("/kind", "enum", true),
                ("/kind", "type", true),
                ("/more", "additionalProperties", false),
                ("/on", "format", false),
            ]
        );
    }

    #[test]
    fn remote_references_backtracking_patterns_and_unknown_formats_do_not_compile() {
        for bad in [
            json!({"$ref": "https://example.org/schema.json"}),
            json!({"type": "string", "pattern": "^(?=a)a$"}),
            json!({"type": "string", "format": "moonphase"}),
            json!({"type": "strin"}),
        ] {
            assert!(Schema::compile(bad.clone()).is_err(), "{bad}");
        }
    }
}
