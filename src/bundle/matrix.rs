//! The decision matrix of a loaded bundle, found by asking the policies of each risk's probe.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Bundle;
pub use crate::domain::decision::MatrixColumn as Column;
use crate::{
    domain::contract_terms::{Assurance, Need, Risk},
    policy::{Guard, PolicyInput, PolicyVerdict, PrincipalFacts, ToolPolicy},
};

/// The columns that are printed: those of the design, then the further ones.
const COLUMNS: [Column; 9] = [
    Column::Clean,
    Column::UncleanOrUnnamed,
    Column::NotAskedFor,
    Column::AboveOrContradicted,
    Column::Claimed,
    Column::IdentityInvalid,
    Column::InputsCorrupted,
    Column::SecondSensitive,
    Column::StaleSignIn,
];

impl Column {
    /// The heading for people.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Clean => "clean, named, asked for",
            Self::UncleanOrUnnamed => "not clean or not named",
            Self::NotAskedFor => "not asked for, or outside scope",
            Self::AboveOrContradicted => "above threshold, or contradicted",
            Self::Claimed => "only claimed",
            Self::IdentityInvalid => "identity invalid",
            Self::InputsCorrupted => "inputs corrupted",
            Self::SecondSensitive => "second sensitive action",
            Self::StaleSignIn => "stale sign-in",
            Self::Unasked => "not asked",
        }
    }

    /// The situations that the column joins, each with its guard.
    pub(super) fn situations(self, risk: Risk) -> Vec<(&'static str, Guard)> {
        let clean = Guard::clean;
        let one = |name: &'static str, guard: Guard| (name, guard);
        match self {
            Self::Unasked => Vec::new(),
            Self::Clean => {
                let mut list = vec![one("clean", clean())];
                if matches!(risk, Risk::Irreversible | Risk::Grant) {
                    list.push(one(
                        "not stated by the principal",
                        Guard { stated_by_principal: false, ..clean() },
                    ));
                }
                if risk == Risk::Egress {
                    let guard = Guard { recipients_within_readers: false, ..clean() };
                    list.push(one("recipients outside the readers", guard));
                }
                list
            }
            Self::UncleanOrUnnamed => vec![
                one("not clean", Guard { authority_clean: false, ..clean() }),
                one("not named", Guard { authority_named: false, ..clean() }),
            ],
            Self::NotAskedFor => vec![
                one("not asked for", Guard { act_asked: false, ..clean() }),
                one("outside scope", Guard { in_scope: false, ..clean() }),
            ],
            Self::AboveOrContradicted => vec![
                one("above threshold", Guard { above_threshold: true, ..clean() }),
                one("contradicted", Guard { facts_agree: false, ..clean() }),
            ],
            Self::Claimed => vec![
                one("claimed", Guard { assurance: Assurance::Claimed, ..clean() }),
                one("mailbox", Guard { assurance: Assurance::Mailbox, ..clean() }),
            ],
            Self::IdentityInvalid => vec![
                one("nobody is named", Guard { assurance: Assurance::None, ..clean() }),
                one("another's record", Guard { own_data: false, ..clean() }),
            ],
            Self::InputsCorrupted => {
                vec![one("corrupted", Guard { inputs_intact: false, ..clean() })]
            }
            Self::SecondSensitive => vec![one("second", Guard { sensitive_before: 1, ..clean() })],
            Self::StaleSignIn => {
                vec![one("stale", Guard { authentication_fresh: false, ..clean() })]
            }
        }
    }
}

/// The matrix of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// One row a risk.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The risk.
    pub risk: Risk,
    /// One cell a column, in the order of [`COLUMNS`].
    pub cells: Vec<Cell>,
}

/// One cell: what is decided in each situation of its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The column.
    pub column: Column,
    /// The answers, one a situation.
    pub answers: Vec<Answer>,
}

/// What is decided in one situation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The situation.
    pub situation: &'static str,
    /// Refused.
    pub denied: bool,
    /// What is needed; empty and not denied: allowed.
    pub needs: BTreeSet<Need>,
    /// The rules that say so.
    pub rules: Vec<String>,
}

impl Answer {
    fn same_as(&self, other: &Self) -> bool {
        self.denied == other.denied && self.needs == other.needs
    }

    /// `allow`, `confirmation`, `approval`, `confirmation + approval` or `deny`.
    #[must_use]
    pub fn text(&self) -> String {
        if self.denied {
            return "deny".to_owned();
        }
        if self.needs.is_empty() {
            return "allow".to_owned();
        }
        self.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>().join(" + ")
    }
}

impl Cell {
    /// The cell in words; situations are told apart where they differ.
    #[must_use]
    pub fn text(&self, risk: Risk) -> String {
        let Some((first, rest)) = self.answers.split_first() else { return String::new() };
        let note = match (risk, self.column) {
            (Risk::Read | Risk::ReadSensitive, Column::UncleanOrUnnamed) => ", labelled",
            (Risk::Read, Column::Claimed) => ", claimed projection",
            _ => "",
        };
        let told = |answer: &Answer| {
            let text = answer.text();
            if text == "allow" { format!("{text}{note}") } else { text }
        };
        if rest.iter().all(|answer| answer.same_as(first)) {
            return told(first);
        }
        if self.column == Column::Clean {
            let others = rest.iter().filter(|answer| !answer.same_as(first));
            let others: Vec<String> =
                others.map(|answer| format!("{} if {}", told(answer), answer.situation)).collect();
            return format!("{}; {}", told(first), others.join("; "));
        }
        let each: Vec<String> =
            self.answers.iter().map(|a| format!("{} ({})", told(a), a.situation)).collect();
        each.join(", ")
    }
}

impl Matrix {
    /// Evaluates every cell.
    #[must_use]
    pub fn of(bundle: &Bundle) -> Self {
        Self::of_probes(&bundle.policies.probes)
    }

    /// Evaluates every cell with these probes.
    #[must_use]
    pub fn of_probes(probes: &BTreeMap<Risk, ToolPolicy>) -> Self {
        let rows = probes.iter().map(|(&risk, probe)| Row {
            risk,
            cells: COLUMNS.iter().map(|&column| cell(probe, risk, column)).collect(),
        });
        Self { rows: rows.collect() }
    }

    /// The table as text, with what the bundle replaced and added beneath.
    #[must_use]
    pub fn render(&self, bundle: &Bundle) -> String {
        let mut out = format!("{} {} ({})\n\n", bundle.name, bundle.version, bundle.digest);
        let (main, further) = COLUMNS.split_at(6);
        out.push_str(&self.table(main));
        out.push('\n');
        out.push_str(&self.table(further));
        if !bundle.replace.is_empty() {
            out.push_str("\nReplaced base rules:\n");
            for replacement in &bundle.replace {
                out.push_str(&format!("  {}: {}\n", replacement.policy, replacement.because));
            }
        }
        let own: Vec<String> = own_rules(bundle);
        if !own.is_empty() {
            out.push_str("\nRules of this bundle beside the base rules:\n");
            for rule in own {
                out.push_str(&format!("  {rule}\n"));
            }
        }
        out
    }

    fn table(&self, columns: &[Column]) -> String {
        let mut lines: Vec<Vec<String>> = Vec::new();
        let headings = columns.iter().map(|column| column.heading().to_owned());
        lines.push(std::iter::once("risk".to_owned()).chain(headings).collect());
        for row in &self.rows {
            let cells = row.cells.iter().filter(|cell| columns.contains(&cell.column));
            let cells = cells.map(|cell| cell.text(row.risk));
            lines.push(std::iter::once(row.risk.to_string()).chain(cells).collect());
        }
        aligned(&lines)
    }

    /// The matrix as JSON.
    #[must_use]
    pub fn to_json(&self, bundle: &Bundle) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(row_json).collect();
        let replaced: Vec<Value> = bundle
            .replace
            .iter()
            .map(|r| json!({"policy": r.policy, "because": r.because}))
            .collect();
        let rules: Vec<Value> = bundle
            .policies
            .rules
            .iter()
            .map(|rule| {
                json!({
                    "id": rule.id,
                    "file": rule.file,
                    "reason": rule.reason.map(|reason| reason.as_str()),
                    "needs": rule.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "bundle": bundle.name,
            "version": bundle.version,
            "digest": bundle.digest.as_str(),
            "rows": rows,
            "replaced": replaced,
            "rules": rules,
        })
    }
}

fn row_json(row: &Row) -> Value {
    let cells: Vec<Value> = row
        .cells
        .iter()
        .map(|cell| {
            let answers: Vec<Value> = cell
                .answers
                .iter()
                .map(|answer| {
                    json!({
                        "situation": answer.situation,
                        "decision": if answer.denied { "deny" } else if answer.needs.is_empty() { "allow" } else { "ask" },
                        "needs": answer.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>(),
                        "rules": answer.rules,
                    })
                })
                .collect();
            json!({"column": cell.column.as_str(), "text": cell.text(row.risk), "answers": answers})
        })
        .collect();
    json!({"risk": row.risk.as_str(), "cells": cells})
}

/// Rules that are neither of the base file nor the probes' permit.
fn own_rules(bundle: &Bundle) -> Vec<String> {
    let rules = bundle.policies.rules.iter();
    rules
        .filter(|rule| !rule.id.starts_with("base/") && !rule.id.starts_with("probe/"))
        .map(|rule| match (&rule.reason, rule.needs.is_empty()) {
            (None, _) => format!("{}: permits", rule.id),
            (Some(reason), true) => format!("{}: refuses ({reason})", rule.id),
            (Some(reason), false) => {
                let needs: Vec<&str> = rule.needs.iter().map(|need| need.as_str()).collect();
                format!("{}: {} ({reason})", rule.id, needs.join(" + "))
            }
        })
        .collect()
}

fn cell(probe: &ToolPolicy, risk: Risk, column: Column) -> Cell {
    let answers = column
        .situations(risk)
        .into_iter()
        .map(|(situation, guard)| answer(probe, situation, guard))
        .collect();
    Cell { column, answers }
}

/// The rules that decide one situation of a risk's probe.
pub(super) fn rules_of(probe: &ToolPolicy, guard: Guard) -> Vec<String> {
    answer(probe, "", guard).rules
}

fn answer(probe: &ToolPolicy, situation: &'static str, guard: Guard) -> Answer {
    let input = PolicyInput {
        principal: PrincipalFacts {
            tenant: "probe".to_owned(),
            sub: "probe".to_owned(),
            kind: "person".to_owned(),
            roles: BTreeSet::new(),
            channel: "probe".to_owned(),
        },
        resource: None,
        guard,
        state: "RESOLVING".to_owned(),
        purpose: "probe".to_owned(),
        args: json!({}),
        roles: BTreeMap::new(),
        facts: json!({}),
    };
    let (denied, needs, hits) = match probe.evaluate(&input) {
        PolicyVerdict::Allow { .. } => (false, BTreeSet::new(), Vec::new()),
        PolicyVerdict::Needs { needs, rules } => (false, needs, rules),
        PolicyVerdict::Deny { rules, .. } => (true, BTreeSet::new(), rules),
    };
    Answer { situation, denied, needs, rules: hits.into_iter().map(|hit| hit.id).collect() }
}

/// Lines of equal columns, separated by two spaces.
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|c| c.chars().count())
            .max()
            .unwrap_or(0)
    };
    let mut out = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().enumerate().map(|(n, cell)| format!("{cell:<0$}", width(n))).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}
