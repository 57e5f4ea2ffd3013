//! One decision of one tool's two policy sets.

use std::{collections::HashMap, str::FromStr};

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, Request, Response, RestrictedExpression,
};
use serde_json::{Map, Value, json};

use super::{Guard, PolicyInput, PolicyVerdict, RuleHit, ToolPolicy, schema};
use crate::domain::{contract_terms::RoleKind, reason::ReasonCode};

/// The id under which a request that nothing permits is recorded.
const NOTHING_PERMITS: &str = "policy/nothing-permits";
/// The id under which a failed evaluation is recorded.
const FAILED: &str = "policy/error";

pub(super) fn evaluate(policy: &ToolPolicy, input: &PolicyInput) -> PolicyVerdict {
    match decide(policy, input) {
        Ok(verdict) => verdict,
        Err(error) => {
            let rule = RuleHit {
                id: FAILED.to_owned(),
                reason: ReasonCode::PolicyError,
                needs: [].into(),
            };
            PolicyVerdict::Deny { rules: vec![rule], error: Some(error) }
        }
    }
}

fn decide(policy: &ToolPolicy, input: &PolicyInput) -> Result<PolicyVerdict, String> {
    let (request, entities) = request(policy, input)?;
    // INVARIANT: Cedar skips a policy whose condition fails, so a diagnostic of either set must deny, also when the
    // answer is Allow.
    let hard = answer(&request, &policy.hard, &entities)?;
    let asks = answer(&request, &policy.asks, &entities)?;
    let determining = hits(policy, &hard);
    if hard.decision() == Decision::Deny {
        let rules = if determining.is_empty() { vec![nothing_permits()] } else { determining };
        return Ok(PolicyVerdict::Deny { rules, error: None });
    }
    if asks.decision() == Decision::Allow {
        let mut permits: Vec<String> =
            hard.diagnostics().reason().map(|id| AsRef::<str>::as_ref(id).to_owned()).collect();
        permits.sort();
        return Ok(PolicyVerdict::Allow { permits });
    }
    let rules = hits(policy, &asks);
    let needs = rules.iter().flat_map(|rule| rule.needs.iter().copied()).collect();
    Ok(PolicyVerdict::Needs { needs, rules })
}

fn answer(
    request: &Request,
    policies: &PolicySet,
    entities: &Entities,
) -> Result<Response, String> {
    let response = Authorizer::new().is_authorized(request, policies, entities);
    let mut errors: Vec<String> =
        response.diagnostics().errors().map(|error| error.to_string()).collect();
    if errors.is_empty() {
        return Ok(response);
    }
    errors.sort();
    Err(errors.join("; "))
}

/// The forbids that determined a Deny.
fn hits(policy: &ToolPolicy, response: &Response) -> Vec<RuleHit> {
    let mut rules: Vec<RuleHit> = response
        .diagnostics()
        .reason()
        .filter_map(|id| policy.rules.get(AsRef::<str>::as_ref(id)).cloned())
        .collect();
    rules.sort();
    rules
}

fn nothing_permits() -> RuleHit {
    RuleHit { id: NOTHING_PERMITS.to_owned(), reason: ReasonCode::PolicyDenied, needs: [].into() }
}

fn request(policy: &ToolPolicy, input: &PolicyInput) -> Result<(Request, Entities), String> {
    let who = &input.principal;
    let principal = uid(schema::PRINCIPAL, &format!("{}/{}", who.tenant, who.sub))?;
    let (ty, id) = match &input.resource {
        Some(resource) => (resource.ty.as_str(), format!("{}/{}", who.tenant, resource.id)),
        None => (schema::TOOL, format!("{}/{}", who.tenant, policy.action.id().unescaped())),
    };
    if ty != policy.types.resource {
        return Err(format!("the resource is a `{ty}`, not a `{}`", policy.types.resource));
    }
    let resource = uid(ty, &id)?;
    let text = |value: &str| RestrictedExpression::new_string(value.to_owned());
    let tenant = || ("tenant".to_owned(), text(&who.tenant));
    let attributes = HashMap::from([
        tenant(),
        ("kind".to_owned(), text(&who.kind)),
        ("channel".to_owned(), text(&who.channel)),
        (
            "roles".to_owned(),
            RestrictedExpression::new_set(who.roles.iter().map(|role| text(role))),
        ),
    ]);
    let entities = [
        Entity::new(principal.clone(), attributes, [].into()).map_err(|e| e.to_string())?,
        Entity::new(resource.clone(), HashMap::from([tenant()]), [].into())
            .map_err(|e| e.to_string())?,
    ];
    let entities =
        Entities::from_entities(entities, Some(&policy.schema)).map_err(|e| e.to_string())?;
    let schema = (policy.schema.as_ref(), &policy.action);
    let context = Context::from_json_value(context(policy, input)?, Some(schema))
        .map_err(|e| e.to_string())?;
    let request =
        Request::new(principal, policy.action.clone(), resource, context, Some(&policy.schema))
            .map_err(|e| e.to_string())?;
    Ok((request, entities))
}

fn uid(ty: &str, id: &str) -> Result<EntityUid, String> {
    let ty = EntityTypeName::from_str(ty).map_err(|e| e.to_string())?;
    Ok(EntityUid::from_type_name_and_id(ty, EntityId::new(id)))
}

fn context(policy: &ToolPolicy, input: &PolicyInput) -> Result<Value, String> {
    let types = &policy.types;
    let args = types.args.project(&input.args).map_err(|e| format!("args: {e}"))?;
    let mut facts = Map::new();
    for (name, ty) in &types.facts {
        let fact = input.facts.get(name).ok_or_else(|| format!("facts: `/{name}` is not there"))?;
        let fact = ty.project(fact).map_err(|e| format!("facts.{name}: {e}"))?;
        facts.insert(name.clone(), fact);
    }
    let roles: Map<String, Value> = types
        .roles
        .keys()
        .filter_map(|role| Some((role.to_string(), role_json(input, *role)?)))
        .collect();
    Ok(json!({
        "guard": guard_json(&input.guard),
        "state": input.state,
        "purpose": input.purpose,
        "args": args,
        "role": roles,
        "facts": facts,
    }))
}

fn role_json(input: &PolicyInput, role: RoleKind) -> Option<Value> {
    let facts = input.roles.get(&role)?;
    Some(json!({"integrity": facts.integrity, "sources": facts.sources, "named": facts.named}))
}

fn guard_json(guard: &Guard) -> Value {
    // Destructured so that a new field cannot be forgotten here.
    let Guard {
        assurance,
        authentication_fresh,
        authority_clean,
        authority_named,
        act_asked,
        stated_by_principal,
        in_scope,
        facts_agree,
        above_threshold,
        own_data,
        recipients_within_readers,
        inputs_intact,
        sensitive_before,
    } = guard;
    json!({
        "assurance": assurance.as_str(),
        "authentication_fresh": authentication_fresh,
        "authority_clean": authority_clean,
        "authority_named": authority_named,
        "act_asked": act_asked,
        "stated_by_principal": stated_by_principal,
        "in_scope": in_scope,
        "facts_agree": facts_agree,
        "above_threshold": above_threshold,
        "own_data": own_data,
        "recipients_within_readers": recipients_within_readers,
        "inputs_intact": inputs_intact,
        "sensitive_before": sensitive_before,
    })
}
