//! The sources of a bundle as one document: what a store keeps, and what a decision is made again from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Bundle;
use crate::domain::{
    canonical,
    json::{self, JsonLimits},
};

/// Why kept sources are not a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kept sources: {0}")]
pub struct NotKept(pub String);

/// The sources as canonical JSON: path → text.
///
/// # Errors
/// When a file is not UTF-8; such a bundle does not load.
pub fn to_kept(bundle: &Bundle) -> Result<Vec<u8>, NotKept> {
    let mut files = Map::new();
    for (path, bytes) in &bundle.sources {
        let text = String::from_utf8(bytes.clone()).map_err(|_| NotKept(path.clone()))?;
        files.insert(path.clone(), Value::String(text));
    }
    canonical::to_bytes(&Value::Object(files)).map_err(|error| NotKept(error.to_string()))
}

/// The bundle of kept sources, compiled again.
///
/// # Errors
/// When the document has another form, or the bundle does not load.
pub fn from_kept(kept: &[u8]) -> Result<Bundle, NotKept> {
    let document =
        json::parse(kept, &JsonLimits::RESPONSE).map_err(|fault| NotKept(fault.to_string()))?;
    let Value::Object(files) = document else { return Err(NotKept("not an object".to_owned())) };
    let sources: BTreeMap<String, Vec<u8>> = files
        .into_iter()
        .map(|(path, text)| match text {
            Value::String(text) => Ok((path, text.into_bytes())),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Err(NotKept(path)),
        })
        .collect::<Result<_, _>>()?;
    Bundle::from_sources(sources).map_err(|errors| NotKept(errors.to_string()))
}
