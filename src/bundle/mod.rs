//! Owns: the trusted channel: parse, check all or nothing, compile once, version by digest.
//! Must not know: sessions, data, network.
//! Start reading at: `load.rs`.

pub mod approvals;
mod check;
pub mod contract;
pub mod fixtures;
mod kept;
mod load;
pub mod matrix;
mod outline;
mod policies;
mod problem;
mod read;
pub mod render;
pub mod schema;
pub mod start;
pub mod template;
pub mod workflow;
mod yaml;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;

pub use self::{
    kept::{NotKept, from_kept, to_kept},
    load::BASE_FILE,
    problem::{LoadErrors, LoadProblem, Place},
};
use crate::{
    domain::{
        canonical::Digest,
        contract_terms::{Assurance, Risk},
    },
    expr::Expr,
    policy::Policies,
};

/// Contracts, workflow, policies, approval rules and fixtures: loaded, checked and compiled as one.
#[derive(Debug)]
pub struct Bundle {
    /// Its name.
    pub name: String,
    /// The author's version, three numbers.
    pub version: String,
    /// Digest over the names and contents of all its files, the base rules included.
    pub digest: Digest,
    /// The tools, by name.
    pub contracts: BTreeMap<String, Arc<Contract>>,
    /// What moves a session.
    pub workflow: Workflow,
    /// Who may approve what.
    pub approvals: Approvals,
    /// How the subject follows from the principal's token.
    pub subject: Option<SubjectBinding>,
    /// Assurance by channel; a channel that is not listed gives `claimed`.
    pub channels: BTreeMap<String, Channel>,
    /// Risks for which a statement's own words can ask for an act.
    pub words_may_ask: BTreeSet<Risk>,
    /// Base rules that are not in force here, with the reasons.
    pub replace: Vec<Replacement>,
    /// The compiled policies: per tool, per probe, and the list of rules.
    pub policies: Policies,
    /// The fixture files, in the order of the manifest.
    pub fixtures: Vec<String>,
    /// Every file by its path relative to the bundle's folder, `base.cedar` included.
    pub sources: BTreeMap<String, Vec<u8>>,
    /// What is allowed and looks wrong.
    pub warnings: Vec<LoadProblem>,
}

pub use self::{approvals::Approvals, contract::Contract, workflow::Workflow};

/// How the subject follows from the principal's token.
#[derive(Debug)]
pub struct SubjectBinding {
    /// The record type, such as `Customer`.
    pub ty: String,
    /// The id, over `token`.
    pub id: Expr,
}

/// What assurance a principal of a channel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// How sure we are of him.
    pub assurance: Assurance,
    /// How old his sign-in may be before it counts as stale.
    pub max_auth_age: Option<Duration>,
}

/// A base rule that a bundle drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The rule's `@id`.
    pub policy: String,
    /// Why.
    pub because: String,
}

/// The JSON Schema of what `parse: mail` makes of a message.
#[must_use]
pub fn mail_schema() -> Value {
    outline::mail_schema()
}

#[cfg(test)]
mod tests;
