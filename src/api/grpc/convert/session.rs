//! Session messages.

use std::collections::{BTreeMap, BTreeSet};

use super::{FieldError, action::session_state, bounded, time};
use crate::{
    app::session::Opening,
    domain::{
        limits,
        principal::{Narrower, Scope},
        session_record::Session,
    },
    pb::v1,
};

impl TryFrom<v1::OpenSessionRequest> for Opening {
    type Error = FieldError;

    fn try_from(message: v1::OpenSessionRequest) -> Result<Self, FieldError> {
        let v1::OpenSessionRequest { workflow, purpose, principal_token, scope_token, narrower } =
            message;
        if principal_token.is_empty() {
            return Err(FieldError::new("principal_token", "missing"));
        }
        Ok(Self {
            workflow: bounded("workflow", workflow, limits::NAME_MAX_BYTES)?,
            purpose: bounded("purpose", purpose, limits::NAME_MAX_BYTES)?,
            principal_token,
            scope_token,
            narrower: narrower.map(narrower_of).transpose()?,
        })
    }
}

fn narrower_of(message: v1::Scope) -> Result<Narrower, FieldError> {
    let v1::Scope { tools, acts, targets, limits: caps, source: _ } = message;
    let names = |field: &str, list: Vec<String>| -> Result<BTreeSet<String>, FieldError> {
        list.into_iter().map(|name| bounded(field, name, limits::NAME_MAX_BYTES)).collect()
    };
    let mut by_type: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for v1::TypedTargets { r#type, ids } in targets {
        by_type.entry(r#type).or_default().extend(names("narrower.targets", ids)?);
    }
    Ok(Narrower {
        tools: names("narrower.tools", tools)?,
        acts: names("narrower.acts", acts)?,
        targets: by_type,
        limits: caps.into_iter().collect(),
    })
}

fn scope(scope: &Scope) -> v1::Scope {
    v1::Scope {
        tools: scope.tools.iter().cloned().collect(),
        acts: scope.acts.iter().cloned().collect(),
        targets: scope
            .targets
            .iter()
            .map(|(ty, ids)| v1::TypedTargets {
                r#type: ty.clone(),
                ids: ids.iter().cloned().collect(),
            })
            .collect(),
        limits: scope.limits.clone().into_iter().collect(),
        source: scope.source.as_str().to_owned(),
    }
}

impl From<Session> for v1::Session {
    fn from(session: Session) -> Self {
        Self {
            name: format!("sessions/{}", session.id),
            state: session_state(session.state) as i32,
            workflow: session.workflow.clone(),
            purpose: session.purpose.clone(),
            bundle: session.bundle_name.clone(),
            bundle_digest: session.bundle_digest.clone(),
            assurance: session.principal.assurance.as_str().to_owned(),
            scope: Some(scope(&session.scope)),
            case_records: session
                .case
                .iter()
                .map(|(name, record)| v1::CaseRecord {
                    name: name.clone(),
                    r#type: record.ty.clone(),
                    id: record.id.clone(),
                    datum: record.datum.to_string(),
                })
                .collect(),
            version: session.version,
            opened_at: Some(time(session.opened_at)),
            expires_at: Some(time(session.expires_at)),
            outcome: session.outcome.clone().unwrap_or_default(),
            agent: session.agent.agent.clone(),
        }
    }
}
