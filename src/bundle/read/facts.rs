//! Facts and look-ups: which read answers them, with which arguments, in which order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{File, Wanted, contract, optional, roots::ContractRoots};
use crate::{
    bundle::{
        contract::FactUse,
        outline::{Outline, Outlines},
        yaml::{Node, NodeKind},
    },
    expr::{Expr, Roots, Shape},
};

/// Oldest fact a contract may accept.
const MAX_AGE: Duration = Duration::from_secs(24 * 3_600);
/// Longest argument that an intent may hand to a fact tool, in bytes.
const MAX_INTENT_BYTES: usize = 64;

/// The facts of a contract.
pub(super) struct Facts {
    pub(super) uses: BTreeMap<String, FactUse>,
    pub(super) waves: Vec<Vec<String>>,
}

/// A read with its arguments.
pub(super) struct LookUp {
    pub(super) tool: String,
    pub(super) args: BTreeMap<String, Expr>,
}

/// The shapes of a contract's facts, from the outlines of the tools that answer them.
pub(super) fn shapes(node: &Node, outlines: &Outlines) -> BTreeMap<String, Arc<Shape>> {
    let members = optional(node, "facts").and_then(Node::members).unwrap_or_default();
    members
        .iter()
        .map(|member| {
            let tool = member.value.get("tool").and_then(Node::text);
            let outline = tool.and_then(|tool| outlines.get(tool));
            let shape = outline.map_or(Shape::Any, |outline| Shape::from_schema(&outline.response));
            (member.name.clone(), Arc::new(shape))
        })
        .collect()
}

pub(super) fn read(
    file: &File<'_>,
    node: &Node,
    outlines: &Outlines,
    roots: &ContractRoots,
) -> Option<Facts> {
    let nothing = Facts { uses: BTreeMap::new(), waves: Vec::new() };
    let Some(facts) = optional(node, "facts") else { return Some(nothing) };
    if let NodeKind::Bool(serves) = facts.kind {
        let is_read = optional(node, "effect").is_none();
        if serves && !is_read {
            file.error(
                facts.at,
                "only answers of a read can serve as facts",
                "remove `facts: true`",
            );
            return None;
        }
        return Some(nothing);
    }
    let Some(members) = facts.members() else {
        file.error(
            facts.at,
            "`facts` is a map of facts, or `true`",
            "write `facts: true`, or `facts: { NAME: { tool: …, args: {…} } }`",
        );
        return None;
    };
    let mut uses = BTreeMap::new();
    let mut sound = true;
    for member in members {
        if !super::is_name(&member.name) {
            file.error(
                member.at,
                format!("`{}` is not a name", member.name),
                "use lower-case letters, digits and `_`",
            );
            sound = false;
        }
        match fact(file, &member.name, &member.value, outlines, roots) {
            Some(fact) => drop(uses.insert(member.name.clone(), fact)),
            None => sound = false,
        }
    }
    let waves = if sound { waves(file, facts, &uses) } else { None };
    Some(Facts { uses, waves: waves? })
}

fn fact(
    file: &File<'_>,
    name: &str,
    node: &Node,
    outlines: &Outlines,
    roots: &ContractRoots,
) -> Option<FactUse> {
    if !file.map(node, "a fact", &["tool", "args", "relation", "agree", "max_age"]) {
        return None;
    }
    let roots = roots.facts();
    let look_up = look_up(file, node, outlines, &roots);
    if let (Some(look_up), Some(tool)) = (&look_up, node.get("tool"))
        && outlines.get(&look_up.tool).is_some_and(|outline| !outline.serves_facts)
    {
        file.error(
            tool.at,
            format!("answers of `{}` do not serve as facts", look_up.tool),
            format!("write `facts: true` in the contract of `{}`", look_up.tool),
        );
    }
    let relation = match optional(node, "relation") {
        Some(n) => Some(file.expr(n, &roots, Wanted::Condition)?),
        None => None,
    };
    let agree =
        optional(node, "agree").map(|n| contract::rules(file, n, &roots)).unwrap_or_default();
    let max_age = optional(node, "max_age")
        .map_or(Some(Duration::from_secs(30)), |n| file.duration(n, MAX_AGE));
    let look_up = look_up?;
    Some(FactUse {
        name: name.to_owned(),
        tool: look_up.tool,
        args: look_up.args,
        relation,
        agree,
        max_age: max_age?,
    })
}

/// `{tool, args}`: a read of this bundle, given exactly the arguments it takes.
pub(super) fn look_up(
    file: &File<'_>,
    node: &Node,
    outlines: &Outlines,
    roots: &Roots,
) -> Option<LookUp> {
    let tool_node = file.required(node, "tool", "a look-up")?;
    let tool = file.text(tool_node)?.to_owned();
    let Some(outline) = outlines.get(&tool) else {
        let known: Vec<&str> = outlines.keys().map(String::as_str).collect();
        file.error(
            tool_node.at,
            format!("`{tool}` is not a contract of this bundle"),
            super::suggestion(&tool, &known),
        );
        return None;
    };
    if !outline.is_read {
        file.error(
            tool_node.at,
            format!("`{tool}` is not of class `read`"),
            "facts, look-ups and verification use reads only",
        );
        return None;
    }
    let args = args(file, node, &tool, outline, roots)?;
    Some(LookUp { tool, args })
}

fn args(
    file: &File<'_>,
    node: &Node,
    tool: &str,
    outline: &Outline,
    roots: &Roots,
) -> Option<BTreeMap<String, Expr>> {
    let taken = outline.input.get("properties").and_then(|p| p.as_object());
    let known: Vec<&str> =
        taken.map(|p| p.keys().map(String::as_str).collect()).unwrap_or_default();
    let mut args = BTreeMap::new();
    let mut sound = true;
    let args_node = optional(node, "args");
    if let Some(args_node) = args_node {
        sound &= file.map(args_node, &format!("the arguments of `{tool}`"), &known);
        for member in args_node.members().unwrap_or_default() {
            let Some(expr) = file.expr(&member.value, roots, Wanted::Anything) else {
                sound = false;
                continue;
            };
            let property = taken.and_then(|p| p.get(&member.name));
            let from_intent =
                expr.reads().iter().any(|path| path == "args" || path.starts_with("args."));
            if from_intent && property.is_some_and(|property| !is_bounded(property)) {
                file.error(
                    member.value.at,
                    format!("`{}` of `{tool}` comes from an intent and is not bounded", member.name),
                    format!("give it an `enum`, or a `pattern` that admits at most {MAX_INTENT_BYTES} bytes, in the contract of `{tool}`"),
                );
                sound = false;
            }
            args.insert(member.name.clone(), expr);
        }
    }
    let required = outline.input.get("required").and_then(|r| r.as_array());
    for name in required.into_iter().flatten().filter_map(|name| name.as_str()) {
        if args_node.is_none_or(|args| args.get(name).is_none()) {
            file.error(
                args_node.unwrap_or(node).at,
                format!("`{tool}` needs the argument `{name}`"),
                format!("add `args: {{ {name}: '…' }}`"),
            );
            sound = false;
        }
    }
    sound.then_some(args)
}

/// Whether a schema admits only values of a few bytes: a closed list, an integer, or a text with a short pattern.
fn is_bounded(property: &serde_json::Value) -> bool {
    let text = |key: &str| property.get(key).and_then(serde_json::Value::as_str);
    if let Some(members) = property.get("enum").and_then(|e| e.as_array()) {
        return members.iter().all(|member| member.to_string().len() <= MAX_INTENT_BYTES + 2);
    }
    match text("type") {
        Some("integer" | "boolean") => true,
        Some("string") => text("pattern").is_some_and(|pattern| {
            let max_length = property.get("maxLength").and_then(serde_json::Value::as_u64);
            longest_match(pattern).is_some_and(|bytes| bytes <= MAX_INTENT_BYTES)
                // Four bytes a character at most.
                || max_length.is_some_and(|chars| chars <= 16 || (chars <= 64 && is_ascii(pattern)))
        }),
        _ => false,
    }
}

/// The longest text an anchored pattern admits, in bytes; `None` where there is no bound.
fn longest_match(pattern: &str) -> Option<usize> {
    use regex_syntax::hir::Look;
    let hir = regex_syntax::parse(pattern).ok()?;
    let properties = hir.properties();
    let anchored = properties.look_set_prefix().contains(Look::Start)
        && properties.look_set_suffix().contains(Look::End);
    if anchored { properties.maximum_len() } else { None }
}

/// Whether an anchored pattern admits ASCII only.
fn is_ascii(pattern: &str) -> bool {
    use regex_syntax::hir::{Class, Hir, HirKind, Look};
    fn only_ascii(hir: &Hir) -> bool {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => literal.0.is_ascii(),
            HirKind::Class(Class::Unicode(class)) => class.is_ascii(),
            HirKind::Class(Class::Bytes(class)) => class.is_ascii(),
            HirKind::Repetition(repetition) => only_ascii(&repetition.sub),
            HirKind::Capture(capture) => only_ascii(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(only_ascii),
        }
    }
    regex_syntax::parse(pattern).is_ok_and(|hir| {
        let properties = hir.properties();
        properties.look_set_prefix().contains(Look::Start)
            && properties.look_set_suffix().contains(Look::End)
            && only_ascii(&hir)
    })
}

/// Facts in the order in which they can be read; those of one wave do not depend on each other.
fn waves(
    file: &File<'_>,
    node: &Node,
    uses: &BTreeMap<String, FactUse>,
) -> Option<Vec<Vec<String>>> {
    let needs = |fact: &FactUse| -> BTreeSet<String> {
        let reads = fact.args.values().flat_map(|expr| expr.reads().iter());
        let facts = reads.filter_map(|path| path.strip_prefix("facts."));
        facts.map(|rest| rest.split('.').next().unwrap_or(rest).to_owned()).collect()
    };
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut waves = Vec::new();
    while done.len() < uses.len() {
        let wave: Vec<String> = uses
            .values()
            .filter(|fact| !done.contains(&fact.name) && needs(fact).is_subset(&done))
            .map(|fact| fact.name.clone())
            .collect();
        if wave.is_empty() {
            let stuck: Vec<&str> =
                uses.keys().map(String::as_str).filter(|name| !done.contains(*name)).collect();
            file.error(
                node.at,
                format!("facts depend on each other in a circle: {}", stuck.join(", ")),
                "let one of them depend on arguments only",
            );
            return None;
        }
        done.extend(wave.iter().cloned());
        waves.push(wave);
    }
    Some(waves)
}
