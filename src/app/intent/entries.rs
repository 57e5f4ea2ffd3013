//! What the log says of decisions and outcomes: digests, handles and codes; nothing personal.

use serde_json::{Map, Value, json};

use super::decide::Road;
use crate::{
    app::{App, Refused, journal::Said, vault::purpose},
    domain::{
        action_record::Action,
        canonical,
        datum::Datum,
        decision::{CheckResult, Decision},
        fact::{Fact, FactState},
        session_record::Session,
    },
    hook::pre::Decided,
};

impl App {
    /// The entry of a decision (EXAMPLES 9).
    pub(super) fn decision_said(
        &self,
        road: &Road,
        decided: &Decided,
        action: &Action,
    ) -> Result<Said, Refused> {
        let session = &road.session;
        let decision = &decided.decision;
        let mut members = object(json!({
            "purpose": purpose_of(road),
            "decision": decision.verdict.as_str(),
            "needs": decision.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>(),
            "matrix": {"row": decision.matrix_row, "column": decision.matrix_column},
            "reasons": decision.code_texts(),
            "checks": decision.checks.iter().map(check).collect::<Vec<_>>(),
            "inputs": inputs(road),
            "arguments": arguments(decision),
            "facts": self.facts_said(session, action)?,
            "arguments_commitment": self.committed(session, purpose::ARGUMENTS, &action.arguments())?,
            "inputs_ref": action.inputs.as_str(),
            "latency_us": micros(self.now().since(road.started_at)),
        }));
        members.insert("bundle".to_owned(), json!({
            "name": decision.bundle, "version": decision.bundle_version, "digest": decision.bundle_digest,
        }));
        members.insert("tool".to_owned(), match &decided.contract {
            Some(contract) => json!({
                "name": contract.name, "version": contract.version, "digest": contract.digest.as_str(),
            }),
            None => json!({"name": safe_name(&road.inputs.intent.tool)}),
        });
        if let Some(effect) = &action.effect {
            let (key, _) = self.effect_keys(&session.tenant, &effect.key, &effect.same)?;
            members.insert("effect_key".to_owned(), Value::from(key));
        }
        members.insert("identity".to_owned(), self.identity_said(session));
        Ok(Said { action: Some(action.id.clone()), members, ..Said::default() })
    }

    /// Who acted, for whom: names of workloads, keyed digests of people.
    pub(in crate::app) fn identity_said(&self, session: &Session) -> Value {
        json!({
            "workload": session.agent.workload,
            "agent": session.agent.agent,
            "agent_instance": session.agent.instance,
            "principal": self.principal_key(session),
            "assurance": session.principal.assurance.as_str(),
            "channel": session.principal.channel,
            "delegation": [],
        })
    }

    fn facts_said(&self, session: &Session, action: &Action) -> Result<Vec<Value>, Refused> {
        action.facts.0.values().map(|fact| self.fact_said(session, action, fact)).collect()
    }

    fn fact_said(&self, session: &Session, action: &Action, fact: &Fact) -> Result<Value, Refused> {
        let age = action.decision.decided_at.since(fact.read_at);
        let mut said = object(json!({
            "name": fact.name,
            "tool": format!("{}@{}", fact.tool, fact.tool_version),
            "state": fact.state.as_str(),
            "age_us": micros(age),
        }));
        match &fact.state {
            FactState::Present { value, version, .. } => {
                said.insert(
                    "commitment".to_owned(),
                    Value::from(self.committed(session, purpose::FACT, value)?),
                );
                if let Some(version) = version {
                    said.insert("version".to_owned(), Value::from(version.clone()));
                }
            }
            FactState::Unavailable { code } => {
                said.insert("code".to_owned(), Value::from(code.as_str()));
            }
            FactState::Absent | FactState::Unresolved => {}
        }
        Ok(Value::Object(said))
    }

    fn committed(
        &self,
        session: &Session,
        purpose: &str,
        value: &Value,
    ) -> Result<String, Refused> {
        let bytes = canonical::to_bytes(value).map_err(Refused::internal)?;
        Ok(self.keyed(&session.tenant, purpose, &bytes))
    }
}

fn check(result: &CheckResult) -> Value {
    let mut said = object(json!({
        "check": result.check.as_str(),
        "verdict": result.verdict.as_str(),
        "us": result.us,
    }));
    if !result.rules.is_empty() {
        said.insert("rules".to_owned(), json!(result.rules));
    }
    Value::Object(said)
}

/// The data an intent named, and the principal's statements.
fn inputs(road: &Road) -> Vec<String> {
    let data = road.inputs.data.iter().chain(&road.inputs.statements);
    let mut said: Vec<String> = data.map(Datum::in_log).collect();
    said.sort();
    said
}

fn arguments(decision: &Decision) -> Vec<Value> {
    decision
        .arguments
        .iter()
        .map(|argument| {
            json!({
                "at": argument.at.as_str(),
                "role": argument.role.as_str(),
                "integrity": argument.integrity.as_str(),
                "sources": argument.sources,
                "named_by": argument.named_by.clone().unwrap_or_default(),
                "endorsed_by": argument.endorsed_by.clone().unwrap_or_default(),
            })
        })
        .collect()
}

/// The purpose, where it is one of the workflow's; an agent's own words stay out of the log.
fn purpose_of(road: &Road) -> &str {
    let purpose = &road.inputs.intent.purpose;
    if road.bundle.workflow.purposes.contains(purpose) { purpose } else { "" }
}

/// A tool name as an agent made it up: only what a name may hold, so that nothing else enters the log.
fn safe_name(name: &str) -> String {
    let fits = name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits { name.to_owned() } else { "?".to_owned() }
}

pub(in crate::app) fn micros(span: std::time::Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

pub(in crate::app) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
