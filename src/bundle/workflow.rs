//! A session's states, case, budgets and closing, compiled.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    domain::{contract_terms::vocabulary, reason::ReasonCode, session::SessionState},
    expr::Expr,
};

/// What moves a session of this bundle.
#[derive(Debug)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// The author's version.
    pub version: u32,
    /// Purposes an intent may name.
    pub purposes: BTreeSet<String>,
    /// Life of a session, at most 24 h.
    pub expires_after: Duration,
    /// What a session may do at most by default.
    pub scope: WorkflowScope,
    /// The records a session is tied to.
    pub case: Case,
    /// Tools by state; a tool runs where its contract and this table allow it.
    pub states: BTreeMap<SessionState, BTreeSet<String>>,
    /// When a session is tied to its case, over `case`.
    pub resolve: Option<Expr>,
    /// When a session may close.
    pub close: Option<Close>,
    /// Several steps that are one sensitive action on one resource.
    pub chain: Vec<String>,
    /// Combinations of tools in one session that escalate.
    pub unusual: Vec<Vec<String>>,
    /// Limits on steps, calls and sums.
    pub budgets: Budgets,
    /// When asking stops.
    pub questions: Questions,
}

/// The default scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowScope {
    /// Tools.
    pub tools: BTreeSet<String>,
    /// Acts asked for by default.
    pub acts: BTreeSet<String>,
    /// How many writes may be dispatched.
    pub writes: Option<u32>,
}

/// The records a session is tied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Case {
    /// No case: the session starts in `RESOLVING`.
    None,
    /// Records by name under `case.`.
    Records(BTreeMap<String, CaseRecord>),
}

/// One record of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRecord {
    /// The record type.
    pub ty: String,
    /// The read that binds it; its contract's `resource` must have this type.
    pub tool: String,
    /// Whose reads may bind it.
    pub from: CaseSource,
}

vocabulary! {
    /// Whose reads may bind a case record.
    CaseSource {
        /// Any settled read of the session.
        Any = "any",
        /// Only a read whose target was named.
        Named = "named",
    }
}

/// When a session may close.
#[derive(Debug)]
pub struct Close {
    /// The condition, over `verified`, `case` and `session`.
    pub when: Expr,
    /// The outcome it closes with.
    pub outcome: String,
}

/// Limits of one session.
#[derive(Debug)]
pub struct Budgets {
    /// Intents of any kind.
    pub steps: u32,
    /// Calls of one tool with the same arguments, refused and failed ones counted.
    pub identical_calls: u32,
    /// Calls by tool.
    pub calls: BTreeMap<String, u32>,
    /// Sums over effects.
    pub sums: Vec<SumBudget>,
}

/// A sum over effects in a window.
#[derive(Debug)]
pub struct SumBudget {
    /// Name, unique in the workflow.
    pub id: String,
    /// The tools whose effects count.
    pub of: BTreeSet<String>,
    /// The integer that is summed, over `effect`, `args` and `facts`, compiled for each tool of `of`.
    pub value: BTreeMap<String, Expr>,
    /// Whose sum it is.
    pub per: BudgetScope,
    /// How far back it looks.
    pub window: Duration,
    /// The sum, this action included, from which `then` applies (inclusive).
    pub at_least: i64,
    /// What applies then.
    pub then: BudgetAnswer,
    /// The reason code given.
    pub reason: ReasonCode,
}

vocabulary! {
    /// Whose sum a budget is.
    BudgetScope {
        /// The session's.
        Session = "session",
        /// The principal's.
        Principal = "principal",
        /// The subject's.
        Subject = "subject",
        /// The tenant's.
        Tenant = "tenant",
    }
}

vocabulary! {
    /// What a reached budget does.
    BudgetAnswer {
        /// The matrix column "above threshold": an approval.
        Approval = "approval",
        /// A refusal.
        Deny = "deny",
    }
}

/// When asking stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Questions {
    /// Refusals of one (tool, act, reason) after which it is not asked again.
    pub refused_before_silence: u32,
    /// Unbacked questions after which the session is quiet.
    pub unbacked_before_quiet: u32,
}
