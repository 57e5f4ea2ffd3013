//! From policy files and tool shapes to two sets per tool.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use cedar_policy::{
    ActionConstraint, Effect, EntityId, EntityTypeName, EntityUid, Policy, PolicyId, PolicySet,
    Schema, SchemaFragment, ValidationMode, Validator,
};

use super::{
    Permit, Policies, PolicyFault, PolicySource, RuleHit, RuleInfo, ToolPolicy, ToolShape,
    schema::{self, ActionTypes},
    source::{self, Rule},
};
use crate::domain::{
    contract_terms::{Need, Risk},
    reason::ReasonCode,
};

/// What every `@id` of the base rules begins with.
pub const BASE_PREFIX: &str = "base";
/// The permit that stands beside the asks: without one they could not be told apart from a request that nothing permits.
const ASKS_PERMIT: &str = "policy/asks";

/// Compiles the policies of a bundle, or says everything that is wrong with them.
///
/// # Errors
/// Every fault found: syntax, annotations, repeated ids, unknown replacements, and all that Cedar's strict validation
/// reports, warnings included.
pub fn compile(
    tools: &[ToolShape<'_>],
    sources: &[PolicySource<'_>],
    replaced: &BTreeSet<String>,
) -> Result<Policies, Vec<PolicyFault>> {
    let mut faults = Vec::new();
    let types: BTreeMap<String, ActionTypes> =
        tools.iter().map(|tool| (tool.name.to_owned(), ActionTypes::of(tool))).collect();
    let json = schema::generate(tools, &types);
    let schema = match Schema::from_json_value(json.clone()) {
        Ok(schema) => Arc::new(schema),
        Err(error) => {
            return Err(vec![nowhere(format!("no Cedar schema fits the contracts: {error}"))]);
        }
    };
    let mut rules: Vec<Rule> =
        sources.iter().flat_map(|source| source::read(source, &mut faults)).collect();
    replace(&mut rules, replaced, &mut faults);
    for tool in tools {
        rules.extend(generated_for(tool, &mut faults));
    }
    rules.extend(generated(&probe_permit(), "probe/permit", &mut faults));
    refuse_repeated(&mut rules, &mut faults);
    validate(&rules, sources, &schema, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    assemble(tools, types, rules, &schema, &json).map_err(|fault| vec![fault])
}

fn nowhere(text: String) -> PolicyFault {
    PolicyFault {
        file: String::new(),
        offset: None,
        text,
        remedy: "change the contract it names".to_owned(),
    }
}

/// Drops the base rules that the bundle replaces.
fn replace(rules: &mut Vec<Rule>, replaced: &BTreeSet<String>, faults: &mut Vec<PolicyFault>) {
    let prefix = format!("{BASE_PREFIX}/");
    for id in replaced {
        if !id.starts_with(&prefix) || !rules.iter().any(|rule| rule.id == *id) {
            let known = rules.iter().filter(|rule| rule.id.starts_with(&prefix));
            let known: Vec<&str> = known.map(|rule| rule.id.as_str()).collect();
            faults.push(PolicyFault {
                file: String::new(),
                offset: None,
                text: format!("`replace` names `{id}`, which is no base rule"),
                remedy: format!("name one of {}", known.join(", ")),
            });
        }
    }
    rules.retain(|rule| !replaced.contains(&rule.id));
}

/// The rules that follow from a contract alone.
fn generated_for(tool: &ToolShape<'_>, faults: &mut Vec<PolicyFault>) -> Vec<Rule> {
    let action = format!("action == Action::\"{}\"", tool.name.escape_debug());
    let condition = match &tool.permit {
        Permit::Everyone => Some(String::new()),
        Permit::Nobody => None,
        Permit::Roles(roles) => {
            let roles: Vec<String> =
                roles.iter().map(|r| format!("\"{}\"", r.escape_debug())).collect();
            Some(format!(" when {{ principal.roles.containsAny([{}]) }}", roles.join(", ")))
        }
    };
    let mut rules = Vec::new();
    if let Some(condition) = condition {
        let id = format!("{}/allow", tool.name);
        let text = format!("permit (principal, {action}, resource){condition};");
        rules.extend(generated(&text, &id, faults));
    }
    if tool.always_approved {
        let id = format!("{}/once", tool.name);
        let text = format!("forbid (principal, {action}, resource);");
        rules.extend(generated(&text, &id, faults).map(|rule| Rule {
            reason: Some(ReasonCode::ApprovalAlways),
            needs: BTreeSet::from([Need::Approval]),
            ..rule
        }));
    }
    rules
}

fn probe_permit() -> String {
    format!("permit (principal, action in Action::\"{}\", resource);", schema::PROBE)
}

fn generated(text: &str, id: &str, faults: &mut Vec<PolicyFault>) -> Option<Rule> {
    match Policy::parse(Some(PolicyId::new(id)), text) {
        Ok(policy) => Some(Rule {
            id: id.to_owned(),
            file: String::new(),
            offset: None,
            policy,
            reason: None,
            needs: BTreeSet::new(),
        }),
        Err(error) => {
            faults.push(nowhere(format!("the generated rule `{id}` is not Cedar: {error}")));
            None
        }
    }
}

fn refuse_repeated(rules: &mut Vec<Rule>, faults: &mut Vec<PolicyFault>) {
    let mut seen = BTreeSet::new();
    rules.retain(|rule| {
        let fresh = seen.insert(rule.id.clone());
        if !fresh {
            faults.push(PolicyFault {
                file: rule.file.clone(),
                offset: rule.offset,
                text: format!("the id `{}` is used twice", rule.id),
                remedy: "give one of the two policies another @id".to_owned(),
            });
        }
        fresh
    });
}

/// Strict validation; a warning is an error, because it means a rule that never applies or a name that misleads.
fn validate(
    rules: &[Rule],
    sources: &[PolicySource<'_>],
    schema: &Schema,
    faults: &mut Vec<PolicyFault>,
) {
    let mut set = PolicySet::new();
    for rule in rules {
        if let Err(error) = set.add(rule.policy.clone()) {
            faults.push(nowhere(error.to_string()));
        }
    }
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    let errors =
        result.validation_errors().map(|e| (e.policy_id(), source::place(e), e.to_string()));
    let warnings =
        result.validation_warnings().map(|w| (w.policy_id(), source::place(w), w.to_string()));
    let mut found: Vec<PolicyFault> = errors
        .chain(warnings)
        .map(|(id, offset, text)| {
            let rule = rules.iter().find(|rule| rule.id == AsRef::<str>::as_ref(id));
            let file = rule.map(|rule| rule.file.clone()).unwrap_or_default();
            let known = sources.iter().any(|source| source.file == file);
            PolicyFault {
                file,
                offset: offset.filter(|_| known).or_else(|| rule.and_then(|rule| rule.offset)),
                text,
                remedy: "compare the policy with the schema that `policy schema` prints".to_owned(),
            }
        })
        .collect();
    found.sort_by(|a, b| (&a.file, a.offset, &a.text).cmp(&(&b.file, b.offset, &b.text)));
    found.dedup();
    faults.extend(found);
}

fn assemble(
    tools: &[ToolShape<'_>],
    types: BTreeMap<String, ActionTypes>,
    rules: Vec<Rule>,
    schema: &Arc<Schema>,
    json: &serde_json::Value,
) -> Result<Policies, PolicyFault> {
    let mut compiled = BTreeMap::new();
    let mut unpermitted = Vec::new();
    for tool in tools {
        let Some(types) = types.get(tool.name) else { continue };
        let groups = tool.risks.iter().map(|risk| risk.to_string()).collect();
        let policy = slice(tool.name, &groups, types.clone(), &rules, schema)?;
        if policy.hard.policies().all(|p| p.effect() == Effect::Forbid) {
            unpermitted.push(tool.name.to_owned());
        }
        compiled.insert(tool.name.to_owned(), policy);
    }
    let mut probes = BTreeMap::new();
    for &risk in Risk::ALL {
        let groups = BTreeSet::from([risk.to_string(), schema::PROBE.to_owned()]);
        let name = schema::probe_action(risk);
        probes.insert(risk, slice(&name, &groups, ActionTypes::of_probe(), &rules, schema)?);
    }
    let schema_text = SchemaFragment::from_json_value(json.clone())
        .map_err(|error| nowhere(error.to_string()))?
        .to_cedarschema()
        .map_err(|error| nowhere(error.to_string()))?;
    let mut rules: Vec<RuleInfo> = rules
        .into_iter()
        .map(|rule| RuleInfo {
            id: rule.id,
            file: rule.file,
            reason: rule.reason,
            needs: rule.needs,
        })
        .collect();
    rules.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Policies { tools: compiled, probes, rules, schema_text, unpermitted })
}

/// The rules that can apply to one action, in two sets.
fn slice(
    action: &str,
    groups: &BTreeSet<String>,
    types: ActionTypes,
    rules: &[Rule],
    schema: &Arc<Schema>,
) -> Result<ToolPolicy, PolicyFault> {
    let failed = |error: String| nowhere(error);
    let ty: EntityTypeName =
        "Action".parse().map_err(|_| failed("`Action` is no type".to_owned()))?;
    let uid = EntityUid::from_type_name_and_id(ty, EntityId::new(action));
    let (mut hard, mut asks) = (PolicySet::new(), PolicySet::new());
    let mut known = BTreeMap::new();
    for rule in rules {
        if !applies(&rule.policy, &uid, groups) {
            continue;
        }
        let set = if rule.needs.is_empty() { &mut hard } else { &mut asks };
        set.add(rule.policy.clone()).map_err(|error| failed(error.to_string()))?;
        if let Some(reason) = rule.reason {
            let hit = RuleHit { id: rule.id.clone(), reason, needs: rule.needs.clone() };
            known.insert(rule.id.clone(), hit);
        }
    }
    let permit =
        Policy::parse(Some(PolicyId::new(ASKS_PERMIT)), "permit (principal, action, resource);")
            .map_err(|error| failed(error.to_string()))?;
    asks.add(permit).map_err(|error| failed(error.to_string()))?;
    Ok(ToolPolicy { action: uid, types, schema: Arc::clone(schema), hard, asks, rules: known })
}

fn applies(policy: &Policy, action: &EntityUid, groups: &BTreeSet<String>) -> bool {
    let meant = |uid: &EntityUid| uid == action || groups.contains(uid.id().unescaped());
    match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(uid) => uid == *action,
        ActionConstraint::In(uids) => uids.iter().any(meant),
    }
}
