//! What a model proposes.

use serde::{Deserialize, Serialize};

use super::pointer::Pointer;

/// A proposal. Nothing in it is believed; everything is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// One of the workflow's purposes.
    pub purpose: String,
    /// The contract's name.
    pub tool: String,
    /// JSON text of the arguments, as it came.
    pub arguments_json: String,
    /// Where arguments are said to come from.
    pub citations: Vec<Citation>,
    /// Handles shown to whoever decides.
    pub evidence: Vec<String>,
    /// The model's words.
    pub reason: String,
    /// What the model thinks will happen.
    pub expects_json: String,
}

/// "This argument comes from that datum": a claim that is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The argument.
    pub argument: Pointer,
    /// The datum's handle, as it came.
    pub datum: String,
    /// Where in the datum.
    pub place: CitedPlace,
}

/// Where in a datum a value is said to stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitedPlace {
    /// At this pointer stands exactly the value.
    Pointer(Pointer),
    /// In the text at this pointer the value stands exactly once.
    Text {
        /// The text's place.
        pointer: Pointer,
        /// The value as it stands there.
        exact: String,
    },
}
