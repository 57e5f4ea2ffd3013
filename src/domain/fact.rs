//! Values the daemon itself read from a system of record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{clock::Timestamp, label::LabelMap, reason::ReasonCode};

/// One fact, with all that is known of how it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its name in the contract.
    pub name: String,
    /// The read contract.
    pub tool: String,
    /// That contract's version.
    pub tool_version: u32,
    /// What came of reading it.
    pub state: FactState,
    /// When it was asked for.
    pub read_at: Timestamp,
}

/// What came of reading a fact. Only `Present` can allow anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum FactState {
    /// It exists and passed every gate.
    Present {
        /// The whole answer.
        value: Value,
        /// Labels of its fields.
        labels: LabelMap,
        /// The record's own version, where it has a member `version`.
        version: Option<String>,
    },
    /// The system of record says that there is none.
    Absent,
    /// It could not be read, or what came was not to be believed.
    Unavailable {
        /// Why.
        code: ReasonCode,
    },
    /// Its arguments could not be computed, because another fact is missing.
    Unresolved,
}

impl FactState {
    /// One word for the log and the API.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Present { .. } => "present",
            Self::Absent => "absent",
            Self::Unavailable { .. } => "unavailable",
            Self::Unresolved => "unresolved",
        }
    }
}

/// The facts of one decision, by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facts(pub BTreeMap<String, Fact>);

impl Facts {
    /// The values of all present facts, as the root `facts` of an expression.
    #[must_use]
    pub fn values(&self) -> Value {
        let mut values = Map::new();
        for (name, fact) in &self.0 {
            if let FactState::Present { value, .. } = &fact.state {
                values.insert(name.clone(), value.clone());
            }
        }
        Value::Object(values)
    }

    /// One fact.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.0.get(name)
    }

    /// Adds a fact.
    pub fn insert(&mut self, fact: Fact) {
        self.0.insert(fact.name.clone(), fact);
    }
}
