//! Owns: Cedar: compile, evaluate, annotations to needs or refusals; an evaluation error denies.
//! Must not know: sessions, storage, transport.
//! Start reading at: `mod.rs`.

mod compile;
mod evaluate;
mod schema;
mod source;
mod types;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

pub use self::{
    compile::{BASE_PREFIX, compile},
    source::PolicyFault,
    types::{Attribute, ContextType, WrongType},
};
use crate::domain::{
    contract_terms::{Assurance, Need, Risk, RoleKind},
    reason::ReasonCode,
};

/// One policy file.
#[derive(Debug, Clone, Copy)]
pub struct PolicySource<'a> {
    /// Its name in messages.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What every `@id` in it begins with, before the `/`: `base` or the bundle's name.
    pub prefix: &'a str,
}

/// What policies may know about one tool.
#[derive(Debug, Clone)]
pub struct ToolShape<'a> {
    /// The tool's name: its action.
    pub name: &'a str,
    /// The groups of its action.
    pub risks: &'a BTreeSet<Risk>,
    /// Type of the record it is about.
    pub resource: Option<&'a str>,
    /// JSON Schema of its arguments.
    pub args: &'a Value,
    /// Roles of its arguments, and whether a call always has an argument of each.
    pub roles: BTreeMap<RoleKind, bool>,
    /// JSON Schemas of its facts.
    pub facts: BTreeMap<String, &'a Value>,
    /// Whom the contract itself permits.
    pub permit: Permit,
    /// Whether every call needs an approval, whatever else holds (effect class `once`).
    pub always_approved: bool,
}

/// Whom a contract itself permits to use its tool; policies add to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// Everybody who reaches the decision (reads without `allow`).
    Everyone,
    /// Principals with one of these roles (`allow: {roles}`).
    Roles(BTreeSet<String>),
    /// Nobody.
    Nobody,
}

/// The compiled policies of a bundle.
#[derive(Debug)]
pub struct Policies {
    /// The policies of each tool.
    pub tools: BTreeMap<String, ToolPolicy>,
    /// The policies of each risk's probe, for the matrix.
    pub probes: BTreeMap<Risk, ToolPolicy>,
    /// Every rule in force, sorted by id.
    pub rules: Vec<RuleInfo>,
    /// The generated schema, in Cedar's own notation.
    pub schema_text: String,
    /// Tools that nothing permits.
    pub unpermitted: Vec<String>,
}

/// One rule in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its `@id`.
    pub id: String,
    /// The file it stands in; empty for a generated one.
    pub file: String,
    /// Its reason, if it forbids.
    pub reason: Option<ReasonCode>,
    /// What it asks for; empty for a permit or a refusal.
    pub needs: BTreeSet<Need>,
}

/// The policies of one tool: two sets, because a request that nothing permits would otherwise answer with its question.
pub struct ToolPolicy {
    action: cedar_policy::EntityUid,
    types: schema::ActionTypes,
    schema: std::sync::Arc<cedar_policy::Schema>,
    hard: cedar_policy::PolicySet,
    asks: cedar_policy::PolicySet,
    rules: BTreeMap<String, RuleHit>,
}

impl ToolPolicy {
    /// Decides one request. Any diagnostic of either set, and any value of another type than its schema says, denies.
    #[must_use]
    pub fn evaluate(&self, input: &PolicyInput) -> PolicyVerdict {
        evaluate::evaluate(self, input)
    }

    /// Whether a rule stands in one of the two sets.
    #[must_use]
    pub fn can_apply(&self, id: &str) -> bool {
        let id = cedar_policy::PolicyId::new(id);
        self.hard.policy(&id).is_some() || self.asks.policy(&id).is_some()
    }

    /// The same policies without one rule.
    #[cfg(test)]
    pub(crate) fn without(&self, id: &str) -> Self {
        let id = cedar_policy::PolicyId::new(id);
        let keep = |set: &cedar_policy::PolicySet| {
            let mut set = set.clone();
            let _ = set.remove_static(id.clone());
            set
        };
        Self {
            action: self.action.clone(),
            types: self.types.clone(),
            schema: std::sync::Arc::clone(&self.schema),
            hard: keep(&self.hard),
            asks: keep(&self.asks),
            rules: self.rules.clone(),
        }
    }

    /// The ids of the rules that can apply to this tool, sorted.
    pub fn rule_ids(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }
}

impl fmt::Debug for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPolicy").field("rules", &self.rules.keys()).finish_non_exhaustive()
    }
}

/// What a decision is asked about.
#[derive(Debug, Clone)]
pub struct PolicyInput {
    /// The session's principal.
    pub principal: PrincipalFacts,
    /// The record the call is about; `None` where the contract names none.
    pub resource: Option<ResourceFacts>,
    /// What earlier checks computed.
    pub guard: Guard,
    /// The session's state, as written in workflows.
    pub state: String,
    /// The intent's purpose.
    pub purpose: String,
    /// The arguments after defaults.
    pub args: Value,
    /// What is known of each role's arguments.
    pub roles: BTreeMap<RoleKind, RoleFacts>,
    /// The facts, by name.
    pub facts: Value,
}

/// The principal, as policies see him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalFacts {
    /// Tenant.
    pub tenant: String,
    /// Subject claim.
    pub sub: String,
    /// `person` or `service`.
    pub kind: String,
    /// Roles.
    pub roles: BTreeSet<String>,
    /// Channel.
    pub channel: String,
}

/// The record, as policies see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFacts {
    /// Type.
    pub ty: String,
    /// Id.
    pub id: String,
}

/// What earlier checks computed; all that the base rules read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// How sure we are of the principal.
    pub assurance: Assurance,
    /// The sign-in is not older than its channel allows; true where the channel sets no age.
    pub authentication_fresh: bool,
    /// Every authority argument reaches its least integrity; `reconciled` counts only for a named target.
    pub authority_clean: bool,
    /// Targets, recipients, amounts and selectors are named.
    pub authority_named: bool,
    /// The act was asked for, or needs no asking: reads, and reversible writes on the principal's own data.
    pub act_asked: bool,
    /// Confirmed, or the target stands in a statement of the principal.
    pub stated_by_principal: bool,
    /// Inside the session's scope.
    pub in_scope: bool,
    /// Every `agree` rule holds and no cited evidence conflicts.
    pub facts_agree: bool,
    /// A sum of the workflow reached its threshold.
    pub above_threshold: bool,
    /// The declared relation holds, or none is declared for this point of the road.
    pub own_data: bool,
    /// All recipients may read all that is sent; true where nothing is sent.
    pub recipients_within_readers: bool,
    /// False after a corrupted answer, until the same thing was read again.
    pub inputs_intact: bool,
    /// Sensitive actions done before in this session.
    pub sensitive_before: i64,
}

impl Guard {
    /// The column "clean, named, asked for, facts agree, in scope" of the matrix.
    #[must_use]
    pub const fn clean() -> Self {
        Self {
            assurance: Assurance::Authenticated,
            authentication_fresh: true,
            authority_clean: true,
            authority_named: true,
            act_asked: true,
            stated_by_principal: true,
            in_scope: true,
            facts_agree: true,
            above_threshold: false,
            own_data: true,
            recipients_within_readers: true,
            inputs_intact: true,
            sensitive_before: 0,
        }
    }
}

/// What is known of the arguments of one role: the least over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleFacts {
    /// 0 (untrusted) to 4 (system).
    pub integrity: i64,
    /// Handles of the data they came from.
    pub sources: BTreeSet<String>,
    /// Whether all of them are named.
    pub named: bool,
}

/// What the policies say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// Permitted, and nothing is asked.
    Allow {
        /// The permits that applied, sorted.
        permits: Vec<String>,
    },
    /// Permitted once these answers are there.
    Needs {
        /// The union of all needs.
        needs: BTreeSet<Need>,
        /// The rules that ask, sorted by id.
        rules: Vec<RuleHit>,
    },
    /// Refused.
    Deny {
        /// The rules that refuse, sorted by id; never empty.
        rules: Vec<RuleHit>,
        /// What failed, if an evaluation did.
        error: Option<String>,
    },
}

/// One rule that applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleHit {
    /// Its `@id`.
    pub id: String,
    /// Its `@reason`.
    pub reason: ReasonCode,
    /// Its `@needs`; empty for a refusal.
    pub needs: BTreeSet<Need>,
}

#[cfg(test)]
mod tests;
