//! Escalation, outbound, and the ballot.

use super::{FieldError, action, bounded, time};
use crate::{
    app::{
        answer::seen_reasons,
        approval::{Ballot, Escalation},
    },
    domain::limits,
    pb::v1,
};

impl TryFrom<v1::VoteRequest> for Ballot {
    type Error = FieldError;

    fn try_from(message: v1::VoteRequest) -> Result<Self, FieldError> {
        let v1::VoteRequest { name, digest, approve, reason } = message;
        let reason = bounded("reason", reason, limits::MODEL_TEXT_MAX_BYTES)?;
        Ok(Self { escalation: name, digest, approve, reason })
    }
}

impl From<Escalation> for v1::Escalation {
    fn from(escalation: Escalation) -> Self {
        let Escalation { question, view, action: record } = escalation;
        let amount = view.effect.as_ref().and_then(|effect| effect.amount.clone());
        let (resource_type, resource_id) = view.resource.clone().unwrap_or_default();
        let facts: serde_json::Map<String, serde_json::Value> =
            view.facts.clone().into_iter().collect();
        Self {
            name: format!("escalations/{}", question.question),
            action: format!("sessions/{}/actions/{}", view.session, view.action),
            state: question.state.as_str().to_owned(),
            digest: question.digest.to_string(),
            asked_at: Some(time(question.asked_at)),
            expires_at: Some(time(question.expires_at)),
            tool: view.tool,
            description: view.description,
            risks: view.risks,
            purpose: view.purpose,
            arguments_json: view.arguments.to_string(),
            resource_type,
            resource_id,
            amount_minor: amount.as_ref().map_or(0, |amount| amount.minor),
            currency: amount.map(|amount| amount.currency).unwrap_or_default(),
            reasons: seen_reasons(&record.decision.reasons, true)
                .iter()
                .map(action::reason)
                .collect(),
            arguments: record.decision.arguments.iter().map(action::argument).collect(),
            facts_json: serde_json::Value::Object(facts).to_string(),
            principal: view.principal,
            agent: view.agent,
            assurance: view.assurance,
            roles: view.roles,
            agent_reason: record.intent.reason.clone(),
        }
    }
}
