//! Who calls and for whom: what a verified token says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::domain::{
    clock::Timestamp,
    contract_terms::{PrincipalKind, ScopeSource},
    ids::TenantId,
};

/// The key that signed a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// `iss` of the token, as configured.
    pub issuer: String,
    /// `kid` of the key.
    pub kid: String,
    /// SHA-256 of the public key: the same key has the same thumbprint under any `kid`.
    pub thumbprint: String,
}

/// The workload that drives an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// The workload itself, such as `svc-desk-agent`.
    pub sub: String,
    /// Its tenant.
    pub tenant: TenantId,
    /// The agent it drives.
    pub agent: String,
    /// This instance of the agent; never reused.
    pub agent_instance: String,
    /// What it may do, by the names in [`super::rights`].
    pub rights: BTreeSet<String>,
    /// End of the token.
    pub expires_at: Timestamp,
    /// Who signed.
    pub signer: Signer,
}

/// For whom a session acts. Names the principal; does not speak for him.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPrincipal {
    /// The principal.
    pub sub: String,
    /// Person or service.
    pub kind: PrincipalKind,
    /// His tenant.
    pub tenant: TenantId,
    /// Business roles, such as `customer`.
    pub roles: BTreeSet<String>,
    /// The channel he came by; the bundle says what assurance it gives.
    pub channel: String,
    /// When he authenticated; absent on channels without authentication.
    pub auth_time: Option<Timestamp>,
    /// How he authenticated.
    pub amr: Vec<String>,
    /// What he consented to.
    pub consents: BTreeSet<String>,
    /// All claims of the token as an object, for the subject mapping of the bundle.
    pub claims: Value,
    /// End of the token, and so of the session at the latest.
    pub expires_at: Timestamp,
    /// Unique id of the token.
    pub jti: String,
    /// Who signed.
    pub signer: Signer,
}

/// A call of the principal himself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalCall {
    /// The principal.
    pub sub: String,
    /// His tenant.
    pub tenant: TenantId,
    /// When he authenticated; a confirmation needs one later than its question.
    pub auth_time: Timestamp,
    /// How he authenticated.
    pub amr: Vec<String>,
    /// The client that carries his word; never the agent's workload.
    pub azp: String,
    /// In a confirmation: the digest of the action he was shown.
    pub digest: Option<String>,
    /// End of the token.
    pub expires_at: Timestamp,
    /// Unique id of the token.
    pub jti: String,
    /// Who signed.
    pub signer: Signer,
}

/// What a principal or a job allows one session to do, within the workflow's own scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeGrant {
    /// The principal it is for.
    pub sub: String,
    /// His tenant.
    pub tenant: TenantId,
    /// Principal or job; never the workflow, which grants by itself.
    pub source: ScopeSource,
    /// Tools it names; `None` leaves those of the workflow.
    pub tools: Option<BTreeSet<String>>,
    /// Kinds of doing that were asked for.
    pub acts: BTreeSet<String>,
    /// Typed identifiers that were meant, by type.
    pub targets: BTreeMap<String, BTreeSet<String>>,
    /// Upper limits, such as `writes`.
    pub limits: BTreeMap<String, i64>,
    /// End of the token: the session must be opened before.
    pub expires_at: Timestamp,
    /// Unique id of the token.
    pub jti: String,
    /// Who signed.
    pub signer: Signer,
}

/// An operator, approver or auditor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The person.
    pub sub: String,
    /// The tenant.
    pub tenant: TenantId,
    /// `operator`, `approver`, `auditor`, and the roles that approval rules name.
    pub roles: BTreeSet<String>,
    /// When the person authenticated.
    pub auth_time: Timestamp,
    /// How the person authenticated.
    pub amr: Vec<String>,
    /// End of the token.
    pub expires_at: Timestamp,
    /// Unique id of the token.
    pub jti: String,
    /// Who signed.
    pub signer: Signer,
}

/// Whoever makes one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An agent's workload, or a relay.
    Workload(Workload),
    /// The principal himself.
    Principal(PrincipalCall),
    /// An operator, approver or auditor.
    Person(Person),
}

impl Caller {
    /// The tenant of the caller; every call stays in it.
    pub fn tenant(&self) -> &TenantId {
        match self {
            Self::Workload(workload) => &workload.tenant,
            Self::Principal(principal) => &principal.tenant,
            Self::Person(person) => &person.tenant,
        }
    }

    /// The group that it counts as among the readers of a label.
    pub fn reader(&self) -> &'static str {
        match self {
            Self::Workload(_) | Self::Principal(_) => "subject",
            Self::Person(_) => "staff",
        }
    }

    /// The subject of the credential.
    pub fn sub(&self) -> &str {
        match self {
            Self::Workload(workload) => &workload.sub,
            Self::Principal(principal) => &principal.sub,
            Self::Person(person) => &person.sub,
        }
    }
}
