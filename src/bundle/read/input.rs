//! What a tool may be given: schema, roles, defaults.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{File, optional};
use crate::{
    bundle::{
        contract::{ArgumentRole, Endorsement, Input},
        schema::Schema,
        yaml::Node,
    },
    domain::{contract_terms::RoleKind, pointer::Pointer},
};

/// Keywords under which a `default` would depend on what matches.
const COMBINATORS: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "patternProperties",
    "additionalProperties",
    "items",
    "prefixItems",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$defs",
];

pub(super) fn read(file: &File<'_>, node: &Node, is_read: bool) -> Option<Input> {
    if !file.map(node, "an input", &["schema", "roles"]) {
        return None;
    }
    let schema_node = file.required(node, "schema", "an input")?;
    let schema = compile(file, schema_node)?;
    check_closed(file, schema_node);
    let roles = roles(file, node, &schema, is_read);
    let defaults = defaults(file, schema_node, &schema);
    Some(Input { schema, roles: roles?, defaults: defaults? })
}

/// Compiles a schema, with its errors at the node they are about.
pub(super) fn compile(file: &File<'_>, node: &Node) -> Option<Schema> {
    let found = Schema::compile(node.to_json());
    match found {
        Ok(schema) => Some(schema),
        Err(error) => {
            let at = node.nearest(error.at.as_str()).at;
            file.error(
                at,
                format!("not a usable JSON Schema: {error}"),
                "use draft 2020-12 without remote references, look-around or unknown formats",
            );
            None
        }
    }
}

fn check_closed(file: &File<'_>, schema: &Node) {
    if schema.get("type").and_then(Node::text) != Some("object") {
        file.error(schema.at, "arguments are an object", "write `type: object`");
    }
    let closed =
        schema.get("additionalProperties").map(|n| n.to_json()) == Some(Value::Bool(false));
    if !closed {
        file.error(
            schema.at,
            "unknown arguments would be accepted",
            "write `additionalProperties: false`",
        );
    }
    for member in schema.get("properties").and_then(Node::members).unwrap_or_default() {
        if member.name.starts_with("__") || member.name.starts_with('$') {
            file.error(
                member.at,
                format!("`{}` is a reserved name", member.name),
                "rename the argument",
            );
        }
    }
}

fn roles(
    file: &File<'_>,
    node: &Node,
    schema: &Schema,
    is_read: bool,
) -> Option<BTreeMap<Pointer, ArgumentRole>> {
    let arguments = arguments(schema.source());
    let mut roles = BTreeMap::new();
    let mut sound = true;
    let roles_node = optional(node, "roles");
    if let Some(roles_node) = roles_node {
        let Some(members) = roles_node.members() else {
            file.map(roles_node, "roles", &[]);
            return None;
        };
        for member in members {
            let Some(pointer) = file.pointer_text(member.at, &member.name) else { continue };
            let Some(property) = property(schema.source(), &pointer) else {
                let known: Vec<&str> = arguments.iter().map(Pointer::as_str).collect();
                file.error(
                    member.at,
                    format!("there is no argument `{pointer}`"),
                    super::suggestion(pointer.as_str(), &known),
                );
                sound = false;
                continue;
            };
            match role(file, &member.value, property) {
                Some(role) => drop(roles.insert(pointer, role)),
                None => sound = false,
            }
        }
    }
    for argument in &arguments {
        if roles.keys().any(|at: &Pointer| at.holds(argument)) {
            continue;
        }
        if is_read && roles_node.is_none() {
            roles.insert(argument.clone(), selector());
            continue;
        }
        if sound {
            file.error(
                roles_node.unwrap_or(node).at,
                format!("the argument `{argument}` has no role"),
                format!("add `{argument}: {{ role: … }}` with target, recipient, amount, selector, control, evidence or content"),
            );
        }
        sound = false;
    }
    sound.then_some(roles)
}

/// The role of a read's arguments when none is written.
fn selector() -> ArgumentRole {
    ArgumentRole {
        kind: RoleKind::Selector,
        ty: None,
        endorse: Vec::new(),
        harmless: false,
        because: None,
    }
}

fn role(file: &File<'_>, node: &Node, property: &Value) -> Option<ArgumentRole> {
    if let Some(text) = node.text() {
        let kind = file.member(node, RoleKind::ALL, RoleKind::as_str)?;
        if kind == RoleKind::Target {
            file.error(
                node.at,
                format!("`{text}` needs the type of its record"),
                "write `{ role: target, type: … }`",
            );
            return None;
        }
        return checked(file, node, ArgumentRole { kind, ..selector() }, property);
    }
    if !file.map(node, "a role", &["role", "type", "endorse", "harmless", "because"]) {
        return None;
    }
    let kind = file
        .required(node, "role", "an argument")
        .and_then(|n| file.member(n, RoleKind::ALL, RoleKind::as_str))?;
    let ty = match optional(node, "type") {
        Some(n) => Some(file.type_name(n)?),
        None => None,
    };
    if kind == RoleKind::Target && ty.is_none() {
        file.error(
            node.at,
            "a target needs the type of its record",
            "add `type: …`, such as `type: Loan`",
        );
        return None;
    }
    let endorse_nodes = optional(node, "endorse").map(|n| file.one_or_more(n)).unwrap_or_default();
    let mut endorse = Vec::new();
    for item in endorse_nodes {
        endorse.push(file.member(item, Endorsement::ALL, Endorsement::as_str)?);
    }
    let harmless = optional(node, "harmless").map_or(Some(false), |n| file.boolean(n))?;
    let because = match optional(node, "because") {
        Some(n) => Some(file.text(n)?.to_owned()),
        None => None,
    };
    checked(file, node, ArgumentRole { kind, ty, endorse, harmless, because }, property)
}

fn checked(
    file: &File<'_>,
    node: &Node,
    role: ArgumentRole,
    property: &Value,
) -> Option<ArgumentRole> {
    let mut sound = true;
    let mut fault = |text: &str, remedy: &str| {
        file.error(node.at, text, remedy);
        sound = false;
    };
    let enumerated = role.endorse.contains(&Endorsement::Enumerated);
    if enumerated && !is_closed(property) {
        fault(
            "`enumerated` needs a closed list or a bounded range",
            "give the argument an `enum`, or `minimum` and `maximum`",
        );
    }
    if role.harmless && !enumerated {
        fault(
            "`harmless` is said of the members of a closed list",
            "add `endorse: [enumerated]`, or remove `harmless`",
        );
    }
    if role.harmless && role.because.as_deref().is_none_or(|text| text.trim().is_empty()) {
        fault(
            "`harmless` needs a reason",
            "add `because: '…'`: why no member of the list can do harm",
        );
    }
    if !role.harmless && role.because.is_some() {
        fault("`because` explains `harmless`", "add `harmless: true`, or remove `because`");
    }
    if !role.kind.has_authority() && !role.endorse.is_empty() {
        fault(
            "only an argument that carries authority can be endorsed",
            "remove `endorse`, or choose another role",
        );
    }
    let is_text_list =
        property.get("items").and_then(|items| items.get("type")).and_then(Value::as_str)
            == Some("string");
    if role.kind == RoleKind::Evidence && !is_text_list {
        fault("evidence is a list of handles", "write `type: array, items: { type: string }`");
    }
    sound.then_some(role)
}

/// Whether a schema allows a closed list or a bounded range only.
fn is_closed(property: &Value) -> bool {
    let bounded = property.get("minimum").is_some() && property.get("maximum").is_some();
    property.get("enum").is_some()
        || property.get("const").is_some()
        || property.get("type").and_then(Value::as_str) == Some("boolean")
        || (bounded && property.get("type").and_then(Value::as_str) == Some("integer"))
        || property.get("items").is_some_and(is_closed)
}

/// The places of all arguments: properties, and properties of objects among them.
pub(crate) fn arguments(schema: &Value) -> Vec<Pointer> {
    let mut found = Vec::new();
    collect(schema, &Pointer::root(), 0, &mut found);
    found
}

fn collect(schema: &Value, at: &Pointer, depth: usize, found: &mut Vec<Pointer>) {
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let here = at.child(name);
        let nested = property.get("properties").and_then(Value::as_object);
        if nested.is_some_and(|nested| !nested.is_empty()) && depth < 8 {
            collect(property, &here, depth + 1, found);
        } else {
            found.push(here);
        }
    }
}

/// The schema of the argument at a pointer.
pub(crate) fn property<'s>(schema: &'s Value, at: &Pointer) -> Option<&'s Value> {
    at.tokens().try_fold(schema, |schema, token| schema.get("properties")?.get(&token))
}

fn defaults(file: &File<'_>, node: &Node, schema: &Schema) -> Option<Vec<(Pointer, Value)>> {
    let mut found = Vec::new();
    let sound = collect_defaults(file, node, &Pointer::root(), &mut found);
    refuse_hidden(file, node, false, &mut BTreeSet::new());
    for (at, value) in &found {
        let Some(property) = property(schema.source(), at) else { continue };
        let fits =
            Schema::compile(property.clone()).map(|schema| schema.validate(value).is_empty());
        if fits == Ok(false) {
            let root = Pointer::root();
            let place =
                at.tokens().fold(root, |place, token| place.child("properties").child(&token));
            let place = node.nearest(place.as_str()).at;
            file.error(
                place,
                format!("the default of `{at}` does not fit its own schema"),
                "change the default or the schema",
            );
            return None;
        }
    }
    sound.then_some(found)
}

fn collect_defaults(
    file: &File<'_>,
    schema: &Node,
    at: &Pointer,
    found: &mut Vec<(Pointer, Value)>,
) -> bool {
    let mut sound = true;
    for member in schema.get("properties").and_then(Node::members).unwrap_or_default() {
        let here = at.child(&member.name);
        if let Some(default) = member.value.get("default") {
            let required = schema
                .get("required")
                .and_then(Node::items)
                .unwrap_or_default()
                .iter()
                .any(|name| name.text() == Some(&member.name));
            if required {
                file.error(
                    default.at,
                    format!("`{here}` is required and has a default"),
                    "remove one of the two",
                );
                sound = false;
            }
            found.push((here.clone(), default.to_json()));
        }
        sound &= collect_defaults(file, &member.value, &here, found);
    }
    sound
}

/// A default that would depend on which branch of a combinator matches is an error.
fn refuse_hidden(file: &File<'_>, schema: &Node, hidden: bool, seen: &mut BTreeSet<(u32, u32)>) {
    if hidden
        && let Some(default) = schema.get("default")
        && seen.insert((default.at.line, default.at.column))
    {
        file.error(
            default.at,
            "a default under a combinator depends on what matches",
            "move it to the argument's own place under `properties`",
        );
    }
    for member in schema.members().unwrap_or_default() {
        let below = hidden || COMBINATORS.contains(&member.name.as_str());
        if member.name == "properties" {
            for property in member.value.members().unwrap_or_default() {
                refuse_hidden(file, &property.value, hidden, seen);
            }
        } else if COMBINATORS.contains(&member.name.as_str()) {
            refuse_hidden(file, &member.value, below, seen);
            for item in member.value.items().unwrap_or_default() {
                refuse_hidden(file, item, below, seen);
            }
            if member.name == "$defs"
                || member.name == "patternProperties"
                || member.name == "dependentSchemas"
            {
                for property in member.value.members().unwrap_or_default() {
                    refuse_hidden(file, &property.value, below, seen);
                }
            }
        }
    }
}
