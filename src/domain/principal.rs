//! Who acts, for whom, and within what: principal, agent, subject, scope.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    clock::Timestamp,
    contract_terms::{Assurance, PrincipalKind, ScopeSource},
};

/// The person or service for whom a session acts, as the session token named it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Principal {
    /// Who issued the token.
    pub issuer: String,
    /// The issuer's name for the principal.
    pub sub: String,
    /// Person or service.
    pub kind: PrincipalKind,
    /// Roles in the tenant.
    pub roles: BTreeSet<String>,
    /// The channel that vouches, such as `portal`.
    pub channel: String,
    /// When the principal signed in; none where nobody did.
    pub auth_time: Option<Timestamp>,
    /// How, such as `pwd` or `webauthn`.
    pub amr: Vec<String>,
    /// What the principal agreed to.
    pub consents: BTreeSet<String>,
    /// All claims of the token, for the subject mapping.
    pub claims: Value,
    /// How sure we are, from issuer and channel.
    pub assurance: Assurance,
    /// How old the sign-in may be, in seconds, where the channel says so.
    pub max_auth_age_s: Option<u64>,
}

impl Principal {
    /// Whether the sign-in is recent enough at `now`; a channel without a bound is always fresh,
    /// a principal who never signed in never is where a bound exists.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        match (self.max_auth_age_s, self.auth_time) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(age), Some(at)) => now.since(at).as_secs() <= age,
        }
    }
}

/// The workload that drives a session, and the agent it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentIdentity {
    /// The workload's subject.
    pub workload: String,
    /// The agent's name.
    pub agent: String,
    /// This instance of it.
    pub instance: String,
}

/// The business record on whose behalf a session acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its type, such as `Member`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its id.
    pub id: String,
}

/// What a session may do at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The strongest source that contributed.
    pub source: ScopeSource,
    /// Tools that may be proposed.
    pub tools: BTreeSet<String>,
    /// Acts that a principal or a job asked for.
    pub acts: BTreeSet<String>,
    /// Targets that a principal or a job named, by type.
    pub targets: BTreeMap<String, BTreeSet<String>>,
    /// Caps by name; `writes` counts dispatched writes.
    pub limits: BTreeMap<String, i64>,
}

impl Scope {
    /// Whether a principal or job named this target.
    #[must_use]
    pub fn names(&self, ty: &str, id: &str) -> bool {
        self.source != ScopeSource::Workflow
            && self.targets.get(ty).is_some_and(|ids| ids.contains(id))
    }

    /// Whether a principal or job asked for one of these acts.
    #[must_use]
    pub fn asks_for<'a>(&self, acts: impl IntoIterator<Item = &'a String>) -> bool {
        self.source != ScopeSource::Workflow && acts.into_iter().any(|act| self.acts.contains(act))
    }

    /// Whether this target lies inside: of its type none is listed, or this one is.
    #[must_use]
    pub fn admits_target(&self, ty: &str, id: &str) -> bool {
        self.targets.get(ty).is_none_or(|ids| ids.contains(id))
    }

    /// The scope cut down to what `narrower` also allows. An empty list in `narrower` leaves that
    /// part as it is; nothing is ever added.
    #[must_use]
    pub fn narrowed(mut self, narrower: &Narrower) -> Self {
        if !narrower.tools.is_empty() {
            self.tools.retain(|tool| narrower.tools.contains(tool));
        }
        if !narrower.acts.is_empty() {
            self.acts.retain(|act| narrower.acts.contains(act));
        }
        for (ty, ids) in &narrower.targets {
            match self.targets.get_mut(ty) {
                Some(named) => named.retain(|id| ids.contains(id)),
                // Nothing named a target of this type; a restriction names nothing either.
                None => {
                    self.targets.insert(ty.clone(), BTreeSet::new());
                }
            }
        }
        for (limit, cap) in &narrower.limits {
            let kept = self.limits.entry(limit.clone()).or_insert(*cap);
            *kept = (*kept).min(*cap);
        }
        self
    }
}

/// What an agent asks to be cut down to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Narrower {
    /// Tools to keep; empty keeps all.
    pub tools: BTreeSet<String>,
    /// Acts to keep; empty keeps all.
    pub acts: BTreeSet<String>,
    /// Targets to keep by type.
    pub targets: BTreeMap<String, BTreeSet<String>>,
    /// Lower caps.
    pub limits: BTreeMap<String, i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope {
            source: ScopeSource::Principal,
            tools: ["lend_book", "get_book"].map(String::from).into(),
            acts: ["lend".to_owned()].into(),
            targets: BTreeMap::from([("Book".to_owned(), ["b1".to_owned()].into())]),
            limits: BTreeMap::from([("writes".to_owned(), 4)]),
        }
    }

    #[test]
    fn narrowing_never_adds() {
        let narrower = Narrower {
            tools: ["get_book", "burn_book"].map(String::from).into(),
            acts: ["burn".to_owned()].into(),
            targets: BTreeMap::from([
                ("Book".to_owned(), ["b1".to_owned(), "b2".to_owned()].into()),
                ("Shelf".to_owned(), ["s1".to_owned()].into()),
            ]),
            limits: BTreeMap::from([("writes".to_owned(), 9)]),
        };
        let narrowed = scope().narrowed(&narrower);
        assert_eq!(narrowed.tools, ["get_book".to_owned()].into());
        assert!(narrowed.acts.is_empty());
        assert!(narrowed.names("Book", "b1") && !narrowed.names("Book", "b2"));
        assert!(!narrowed.names("Shelf", "s1"), "the agent names nothing");
        assert_eq!(narrowed.limits.get("writes"), Some(&4));
    }

    #[test]
    fn a_workflow_scope_asks_for_nothing_and_names_nothing() {
        let workflow = Scope { source: ScopeSource::Workflow, ..scope() };
        assert!(!workflow.names("Book", "b1"));
        assert!(!workflow.asks_for(&["lend".to_owned()]));
        assert!(scope().asks_for(&["lend".to_owned()]));
        assert!(workflow.admits_target("Shelf", "anything"));
        assert!(!workflow.admits_target("Book", "b2"));
    }
}
