//! The approvals file, and the rule that stands in for it.

use std::{collections::BTreeSet, time::Duration};

use super::{File, optional};
use crate::{
    bundle::{
        approvals::{ApprovalRule, ApprovalScope, Approvals, Factor},
        outline::Outlines,
        yaml::Node,
    },
    domain::{contract_terms::Risk, pointer::Pointer},
};

/// Longest wait for an approval.
const MAX_WAIT: Duration = Duration::from_secs(7 * 24 * 3_600);
const KEYS: &[&str] =
    &["id", "for", "factors", "deny_threshold", "expires_after", "dispatch_within", "show"];

/// One approver of the role `approver`, 60 minutes: what holds without a file.
pub(crate) fn default_rules(bundle: &str) -> Approvals {
    let factor = Factor {
        name: "approvers".to_owned(),
        roles: BTreeSet::from(["approver".to_owned()]),
        approvals: 1,
    };
    let rule = ApprovalRule {
        id: "one_approver".to_owned(),
        applies: ApprovalScope::default(),
        factors: vec![factor],
        deny_threshold: 1,
        expires_after: Duration::from_secs(3_600),
        dispatch_within: Duration::from_secs(900),
        show: Vec::new(),
    };
    Approvals { name: bundle.to_owned(), version: 1, rules: vec![rule] }
}

pub(crate) fn read(file: &File<'_>, node: &Node, outlines: &Outlines) -> Option<Approvals> {
    if !file.map(node, "approvals", &["approvals", "version", "rules"]) {
        return None;
    }
    let name = file.required(node, "approvals", "an approvals file").and_then(|n| file.word(n));
    let version =
        file.required(node, "version", "an approvals file").and_then(|n| file.count(n, 1));
    let rules_node = file.required(node, "rules", "an approvals file")?;
    let items = file.list(rules_node);
    let mut seen = BTreeSet::new();
    let mut rules = Vec::new();
    for item in items {
        if let Some(rule) = rule(file, item, outlines) {
            if !seen.insert(rule.id.clone()) {
                file.error(
                    item.at,
                    format!("the rule `{}` stands here twice", rule.id),
                    "give it another id",
                );
            }
            rules.push(rule);
        }
    }
    if items.is_empty() {
        file.error(
            rules_node.at,
            "no rule is given",
            "add one, or remove the file: then one approver decides",
        );
    }
    (rules.len() == items.len() && !rules.is_empty()).then_some(Approvals {
        name: name?,
        version: version?,
        rules,
    })
}

fn rule(file: &File<'_>, node: &Node, outlines: &Outlines) -> Option<ApprovalRule> {
    if !file.map(node, "an approval rule", KEYS) {
        return None;
    }
    let id = file.required(node, "id", "an approval rule").and_then(|n| file.name(n));
    let applies = match optional(node, "for") {
        Some(n) => scope(file, n, outlines),
        None => Some(ApprovalScope::default()),
    };
    let factors = file.required(node, "factors", "an approval rule").and_then(|n| factors(file, n));
    let deny_threshold = optional(node, "deny_threshold").map_or(Some(1), |n| file.count(n, 1));
    let span = |name: &str, default: u64| {
        optional(node, name)
            .map_or(Some(Duration::from_secs(default)), |n| file.duration(n, MAX_WAIT))
    };
    let (expires_after, dispatch_within) =
        (span("expires_after", 3_600), span("dispatch_within", 900));
    let mut show: Option<Vec<Pointer>> = Some(Vec::new());
    for item in optional(node, "show").map(|n| file.list(n)).unwrap_or_default() {
        show = show.and_then(|mut show| {
            show.push(file.pointer(item)?);
            Some(show)
        });
    }
    Some(ApprovalRule {
        id: id?,
        applies: applies?,
        factors: factors?,
        deny_threshold: deny_threshold?,
        expires_after: expires_after?,
        dispatch_within: dispatch_within?,
        show: show?,
    })
}

fn scope(file: &File<'_>, node: &Node, outlines: &Outlines) -> Option<ApprovalScope> {
    if !file.map(node, "`for`", &["tools", "risks"]) {
        return None;
    }
    let mut tools = BTreeSet::new();
    for item in optional(node, "tools").map(|n| file.list(n)).unwrap_or_default() {
        let tool = file.text(item)?;
        if !outlines.contains_key(tool) {
            let known: Vec<&str> = outlines.keys().map(String::as_str).collect();
            file.error(
                item.at,
                format!("`{tool}` is not a contract of this bundle"),
                super::suggestion(tool, &known),
            );
            return None;
        }
        tools.insert(tool.to_owned());
    }
    let mut risks = BTreeSet::new();
    for item in optional(node, "risks").map(|n| file.list(n)).unwrap_or_default() {
        risks.insert(file.member(item, Risk::ALL, Risk::as_str)?);
    }
    Some(ApprovalScope { tools, risks })
}

fn factors(file: &File<'_>, node: &Node) -> Option<Vec<Factor>> {
    let mut seen = BTreeSet::new();
    let mut factors = Vec::new();
    for item in file.list(node) {
        if !file.map(item, "a factor", &["name", "roles", "approvals"]) {
            return None;
        }
        let name = file.required(item, "name", "a factor").and_then(|n| file.name(n));
        let roles_node = file.required(item, "roles", "a factor");
        let roles = roles_node.map(|n| file.words(n));
        let approvals = optional(item, "approvals").map_or(Some(1), |n| file.count(n, 1));
        let (name, roles, approvals) = (name?, roles?, approvals?);
        if roles.is_empty() {
            file.error(item.at, "no role is given", "name the roles whose people may approve");
            return None;
        }
        if !seen.insert(name.clone()) {
            file.error(
                item.at,
                format!("the factor `{name}` stands here twice"),
                "give it another name",
            );
        }
        factors.push(Factor { name, roles, approvals });
    }
    if factors.is_empty() {
        file.error(node.at, "no factor is given", "add `{ name: …, roles: […], approvals: 1 }`");
    }
    (!factors.is_empty()).then_some(factors)
}
