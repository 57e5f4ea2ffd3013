//! Did the effect happen: the contract's verify rules over what a second read brought back.
//!
//! Executed is what the tool said; verified is what the system of record shows: it exists, it is
//! ours, its values are those decided, and there is no second one.

use serde_json::Value;

use crate::{bundle::contract::Verify, domain::reason::ReasonCode, expr::Bindings};

/// How one rule came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The rule.
    pub id: String,
    /// Whether it held; an evaluation error is *no*.
    pub held: bool,
    /// Why it could not be evaluated.
    pub error: Option<String>,
}

/// What the system of record shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shown {
    /// The effect, once, as decided.
    Verified,
    /// Nothing: it may still have to appear, or never happened.
    Missing,
    /// More than one.
    Duplicated,
    /// Another effect than was decided.
    Mismatched,
}

impl Shown {
    /// The reason code of everything but `Verified`.
    #[must_use]
    pub const fn code(self) -> Option<ReasonCode> {
        match self {
            Self::Verified => None,
            Self::Missing => Some(ReasonCode::EffectMissing),
            Self::Duplicated => Some(ReasonCode::EffectDuplicated),
            Self::Mismatched => Some(ReasonCode::EffectMismatch),
        }
    }
}

/// A verdict with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// What the system of record shows.
    pub shown: Shown,
    /// Every rule, in the contract's order.
    pub rules: Vec<RuleOutcome>,
}

/// Evaluates the rules; `bindings` holds `args`, `facts`, `effect`, `result` and `after`.
///
/// A contract without rules verifies nothing: that is `Mismatched`, never `Verified`.
#[must_use]
pub fn check_effect(verify: &Verify, bindings: &Bindings) -> Verification {
    let rules: Vec<RuleOutcome> = verify
        .rules
        .iter()
        .map(|rule| {
            let answer = rule.rule.eval_true(bindings);
            RuleOutcome {
                id: rule.id.clone(),
                held: answer == Ok(true),
                error: answer.err().map(|error| error.to_string()),
            }
        })
        .collect();
    let holds = !rules.is_empty() && rules.iter().all(|rule| rule.held);
    let shown = if holds { Shown::Verified } else { shown(bindings.value("after")) };
    Verification { shown, rules }
}

/// What a failing look-up shows: none, several, or another one.
fn shown(after: Option<&Value>) -> Shown {
    match after.and_then(listed) {
        Some([]) => Shown::Missing,
        Some([_, _, ..]) => Shown::Duplicated,
        Some([_]) => Shown::Mismatched,
        None if after.is_none_or(Value::is_null) => Shown::Missing,
        None => Shown::Mismatched,
    }
}

/// The records of an answer: it is a list, or an object with exactly one list.
fn listed(after: &Value) -> Option<&[Value]> {
    if let Some(items) = after.as_array() {
        return Some(items);
    }
    let mut lists = after.as_object()?.values().filter_map(Value::as_array);
    let only = lists.next()?;
    lists.next().is_none().then_some(only.as_slice())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use serde_json::json;

    use super::*;
    use crate::{
        bundle::contract::Rule,
        expr::{Expr, Roots, Shape},
    };

    fn rules(sources: &[(&str, &str)]) -> Verify {
        let names = ["after", "result", "effect"];
        let roots = names.iter().fold(Roots::new(), |roots, name| roots.with(name, Shape::Any));
        let compiled = sources.iter().map(|(id, source)| Rule {
            id: (*id).to_owned(),
            rule: Expr::compile(source, &roots).unwrap(),
        });
        Verify {
            tool: "find_loans".to_owned(),
            args: BTreeMap::new(),
            within: Duration::from_secs(5),
            rules: compiled.collect(),
        }
    }

    fn verify(after: Value) -> Verification {
        let mut bindings = Bindings::new();
        bindings.bind("result", json!({"loan": "ln_1", "days": 14}));
        bindings.bind("effect", json!({"days": 14}));
        bindings.bind("after", after);
        let verify = rules(&[
            ("one_loan_only", "size(after.items) == 1"),
            ("same_loan", "after.items[0].loan == result.loan"),
            ("days_as_decided", "after.items[0].days == effect.days"),
        ]);
        check_effect(&verify, &bindings)
    }

    #[test]
    fn the_effect_once_and_as_decided_is_verified() {
        let verified = verify(json!({"items": [{"loan": "ln_1", "days": 14}]}));
        assert_eq!(verified.shown, Shown::Verified);
        assert!(verified.rules.iter().all(|rule| rule.held && rule.error.is_none()));
        assert_eq!(verified.shown.code(), None);
    }

    #[test]
    fn nothing_two_or_another_one_is_not() {
        let shown = |after| verify(after).shown;
        assert_eq!(shown(json!({"items": []})), Shown::Missing);
        assert_eq!(shown(Value::Null), Shown::Missing);
        let one = json!({"loan": "ln_1", "days": 14});
        assert_eq!(shown(json!({"items": [one, one]})), Shown::Duplicated);
        assert_eq!(shown(json!({"items": [{"loan": "ln_2", "days": 14}]})), Shown::Mismatched);
        assert_eq!(shown(json!({"items": [{"loan": "ln_1", "days": 140}]})), Shown::Mismatched);
        assert_eq!(shown(json!({"items": [{"loan": "ln_1"}]})), Shown::Mismatched);
        assert_eq!(shown(json!({"other": 1})), Shown::Mismatched);
    }

    #[test]
    fn a_rule_that_cannot_be_evaluated_does_not_hold_and_says_why() {
        let found = verify(json!({"items": []}));
        assert!(!found.rules[1].held);
        assert!(found.rules[1].error.is_some());
        assert_eq!(found.shown.code(), Some(ReasonCode::EffectMissing));
    }

    #[test]
    fn no_rules_verify_nothing() {
        let mut bindings = Bindings::new();
        bindings.bind("after", json!({"items": [{}]}));
        assert_eq!(check_effect(&rules(&[]), &bindings).shown, Shown::Mismatched);
    }
}
