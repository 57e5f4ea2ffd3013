//! Who may approve what, compiled.

use std::{collections::BTreeSet, time::Duration};

use crate::domain::{contract_terms::Risk, pointer::Pointer};

/// The approval rules of a bundle; the first match wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    /// Their name.
    pub name: String,
    /// The author's version.
    pub version: u32,
    /// The rules, in order.
    pub rules: Vec<ApprovalRule>,
}

impl Approvals {
    /// The first rule for a tool with these risks.
    #[must_use]
    pub fn rule_for(&self, tool: &str, risks: &BTreeSet<Risk>) -> Option<&ApprovalRule> {
        self.rules.iter().find(|rule| rule.applies.matches(tool, risks))
    }
}

/// One rule. Requester, principal and the delegation chain are excluded in code, for every rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRule {
    /// Name, unique in the file.
    pub id: String,
    /// What it is for.
    pub applies: ApprovalScope,
    /// All must be met; one person counts once.
    pub factors: Vec<Factor>,
    /// Refusals that end the question.
    pub deny_threshold: u32,
    /// How long a question waits; expiry denies.
    pub expires_after: Duration,
    /// How long a granted approval may wait for its dispatch.
    pub dispatch_within: Duration,
    /// Arguments shown first; all are always shown.
    pub show: Vec<Pointer>,
}

/// What an approval rule is for; empty sets match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalScope {
    /// Tools.
    pub tools: BTreeSet<String>,
    /// Risks.
    pub risks: BTreeSet<Risk>,
}

impl ApprovalScope {
    /// Whether a tool with these risks is meant.
    #[must_use]
    pub fn matches(&self, tool: &str, risks: &BTreeSet<Risk>) -> bool {
        (self.tools.is_empty() || self.tools.contains(tool))
            && (self.risks.is_empty() || !self.risks.is_disjoint(risks))
    }
}

/// A group of approvers of which some must agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Name, unique in the rule.
    pub name: String,
    /// Roles that count.
    pub roles: BTreeSet<String>,
    /// How many people must approve.
    pub approvals: u32,
}
