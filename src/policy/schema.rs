//! The Cedar schema, generated from the contracts: one action per tool in the groups of its risks, and one probe
//! action per risk, which keeps every base rule applicable and is what the matrix evaluates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ToolShape, types::ContextType};
use crate::domain::contract_terms::{Risk, RoleKind};

/// The entity type of principals.
pub(super) const PRINCIPAL: &str = "Principal";
/// The entity type of the resource of a tool that names no record; its id is the tool.
pub(super) const TOOL: &str = "Tool";
/// The group of all probe actions.
pub(super) const PROBE: &str = "probe";

/// The action name of a risk's probe.
pub(super) fn probe_action(risk: Risk) -> String {
    format!("{PROBE}/{risk}")
}

/// What the policies of one action see beside guard, state and purpose.
#[derive(Debug, Clone)]
pub(super) struct ActionTypes {
    /// Entity type of the resource.
    pub(super) resource: String,
    /// Arguments.
    pub(super) args: ContextType,
    /// Roles, and whether a call always has an argument of each.
    pub(super) roles: BTreeMap<RoleKind, bool>,
    /// Facts by name.
    pub(super) facts: BTreeMap<String, ContextType>,
}

impl ActionTypes {
    pub(super) fn of(tool: &ToolShape<'_>) -> Self {
        let facts = tool
            .facts
            .iter()
            .map(|(name, schema)| (name.clone(), ContextType::record_from_schema(schema)))
            .collect();
        Self {
            resource: tool.resource.unwrap_or(TOOL).to_owned(),
            args: ContextType::record_from_schema(tool.args),
            roles: tool.roles.clone(),
            facts,
        }
    }

    pub(super) fn of_probe() -> Self {
        Self {
            resource: TOOL.to_owned(),
            args: ContextType::Record(BTreeMap::new()),
            roles: BTreeMap::new(),
            facts: BTreeMap::new(),
        }
    }

    fn context(&self) -> Value {
        let roles: Map<String, Value> = self
            .roles
            .iter()
            .map(|(role, &required)| {
                (role.to_string(), json!({"type": "Role", "required": required}))
            })
            .collect();
        let facts: Map<String, Value> =
            self.facts.iter().map(|(name, ty)| (name.clone(), ty.to_schema_json())).collect();
        json!({"type": "Record", "attributes": {
            "guard": {"type": "Guard"},
            "state": {"type": "String"},
            "purpose": {"type": "String"},
            "args": self.args.to_schema_json(),
            "role": {"type": "Record", "attributes": roles},
            "facts": {"type": "Record", "attributes": facts},
        }})
    }
}

/// The whole schema in Cedar's JSON format.
pub(super) fn generate(tools: &[ToolShape<'_>], types: &BTreeMap<String, ActionTypes>) -> Value {
    let mut actions = Map::new();
    for risk in Risk::ALL {
        actions.insert(risk.to_string(), json!({}));
        let groups = BTreeSet::from([*risk]);
        let probe = action(&ActionTypes::of_probe(), &groups, &[PROBE]);
        actions.insert(probe_action(*risk), probe);
    }
    actions.insert(PROBE.to_owned(), json!({}));
    for tool in tools {
        if let Some(types) = types.get(tool.name) {
            actions.insert(tool.name.to_owned(), action(types, tool.risks, &[]));
        }
    }
    let resources: BTreeSet<&str> =
        types.values().map(|types| types.resource.as_str()).chain([TOOL]).collect();
    let mut entities: Map<String, Value> = resources
        .into_iter()
        .map(|ty| (ty.to_owned(), entity(&json!({"tenant": text()}))))
        .collect();
    let principal = json!({
        "tenant": text(), "kind": text(), "channel": text(),
        "roles": {"type": "Set", "element": text()},
    });
    entities.insert(PRINCIPAL.to_owned(), entity(&principal));
    json!({"": {
        "commonTypes": {"Guard": guard(), "Role": role()},
        "entityTypes": entities,
        "actions": actions,
    }})
}

fn action(types: &ActionTypes, risks: &BTreeSet<Risk>, more: &[&str]) -> Value {
    let groups: Vec<Value> = risks
        .iter()
        .map(|risk| json!({"id": risk.as_str()}))
        .chain(more.iter().map(|group| json!({"id": group})))
        .collect();
    json!({
        "memberOf": groups,
        "appliesTo": {
            "principalTypes": [PRINCIPAL],
            "resourceTypes": [types.resource],
            "context": types.context(),
        }
    })
}

fn text() -> Value {
    json!({"type": "String"})
}

fn entity(attributes: &Value) -> Value {
    json!({"shape": {"type": "Record", "attributes": attributes}})
}

fn guard() -> Value {
    let flag = || json!({"type": "Boolean"});
    json!({"type": "Record", "attributes": {
        "assurance": text(),
        "authentication_fresh": flag(),
        "authority_clean": flag(),
        "authority_named": flag(),
        "act_asked": flag(),
        "stated_by_principal": flag(),
        "in_scope": flag(),
        "facts_agree": flag(),
        "above_threshold": flag(),
        "own_data": flag(),
        "recipients_within_readers": flag(),
        "inputs_intact": flag(),
        "sensitive_before": {"type": "Long"},
    }})
}

fn role() -> Value {
    json!({"type": "Record", "attributes": {
        "integrity": {"type": "Long"},
        "sources": {"type": "Set", "element": text()},
        "named": {"type": "Boolean"},
    }})
}
