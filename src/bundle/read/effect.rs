//! What a write does, how its repetition behaves, and how to find out whether it happened.

use super::{File, Wanted, facts, optional, roots::ContractRoots};
use crate::{
    bundle::{
        contract::{Effect, Money, Reconcile},
        outline::Outlines,
        yaml::Node,
    },
    domain::contract_terms::EffectClass,
    expr::{Expr, Kind, Roots, Shape},
};

const KEYS: &[&str] = &["name", "amount", "amount_max", "key", "same", "class", "reconcile"];

pub(super) fn read(
    file: &File<'_>,
    node: &Node,
    tool: &str,
    outlines: &Outlines,
    roots: &ContractRoots,
) -> Option<Effect> {
    if !file.map(node, "an effect", KEYS) {
        return None;
    }
    let name = optional(node, "name").map_or(Some(tool.to_owned()), |n| file.name(n));
    let amount = match optional(node, "amount") {
        Some(n) => amount(file, n, &roots.amount()).map(Some),
        None => Some(None),
    };
    let amount_max = match optional(node, "amount_max") {
        Some(n) => money(file, n).map(Some),
        None => Some(None),
    };
    if let (Some(n), None) = (node.get("amount_max"), node.get("amount")) {
        file.error(
            n.at,
            "`amount_max` without an `amount`",
            "add `amount`, or remove `amount_max`",
        );
    }
    let key = identity(file, node, "key", &roots.key());
    let same = identity(file, node, "same", &roots.same());
    let class = class(file, node);
    let reconcile = match optional(node, "reconcile") {
        Some(n) => reconcile(file, n, outlines, roots).map(Some),
        None => Some(None),
    };
    let (class, reconcile) = (class?, reconcile?);
    if class == EffectClass::Reconcilable && reconcile.is_none() {
        file.error(
            node.at,
            "class `reconcilable` needs `reconcile`",
            "add the look-up that tells whether the effect happened, or choose another class",
        );
        return None;
    }
    Some(Effect {
        name: name?,
        amount: amount?,
        amount_max: amount_max?,
        key: key?,
        same: same?,
        class,
        reconcile,
    })
}

fn class(file: &File<'_>, node: &Node) -> Option<EffectClass> {
    let class_node = file.required(node, "class", "an effect")?;
    let class = file.member(class_node, EffectClass::ALL, EffectClass::as_str)?;
    if class == EffectClass::Read {
        file.error(
            class_node.at,
            "an effect is never of class `read`",
            "remove `effect` if the tool changes nothing, or choose idempotent, keyed, reconcilable or once",
        );
        return None;
    }
    Some(class)
}

/// `key` or `same`: a list of values, not empty.
fn identity(file: &File<'_>, node: &Node, name: &str, roots: &Roots) -> Option<Expr> {
    let found = file.required(node, name, "an effect")?;
    let expr = file.expr(found, roots, Wanted::List)?;
    if expr.reads().is_empty() {
        file.error(
            found.at,
            format!("`{name}` is the same for every call"),
            "let it name what the effect is about, as in `[\"lend\", args.book_id]`",
        );
        return None;
    }
    Some(expr)
}

fn amount(file: &File<'_>, node: &Node, roots: &Roots) -> Option<Expr> {
    let expr = file.expr(node, roots, Wanted::Anything)?;
    let is_money = match expr.shape().as_ref() {
        Shape::Record { fields, .. } => {
            let kind = |name: &str| fields.get(name).map(|field| field.shape.kind());
            let fits = |found: Option<Kind>, wanted| matches!(found, Some(kind) if kind == wanted || kind == Kind::Any);
            fields.len() == 2
                && fits(kind("minor"), Kind::Int)
                && fits(kind("currency"), Kind::Text)
        }
        Shape::Any
        | Shape::Bool
        | Shape::Int
        | Shape::Number
        | Shape::Text { .. }
        | Shape::Timestamp
        | Shape::List(_) => false,
    };
    if is_money {
        return Some(expr);
    }
    file.error(
        node.at,
        "an amount is an integer of minor units with its currency",
        "write `'{\"minor\": facts.….…_cents, \"currency\": facts.….currency}'`",
    );
    None
}

fn money(file: &File<'_>, node: &Node) -> Option<Money> {
    if !file.map(node, "an amount", &["minor", "currency"]) {
        return None;
    }
    let minor = file.required(node, "minor", "an amount").and_then(|n| file.integer(n));
    let currency = file.required(node, "currency", "an amount").and_then(|n| file.text(n));
    let (minor, currency) = (minor?, currency?);
    if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) || minor < 0 {
        file.error(node.at, "not an amount", "write `{ minor: 100000, currency: EUR }`");
        return None;
    }
    Some(Money { minor, currency: currency.to_owned() })
}

fn reconcile(
    file: &File<'_>,
    node: &Node,
    outlines: &Outlines,
    roots: &ContractRoots,
) -> Option<Reconcile> {
    let keys = ["tool", "args", "happened", "did_not_happen", "conclusive", "result"];
    if !file.map(node, "reconcile", &keys) {
        return None;
    }
    let look_up = facts::look_up(file, node, outlines, &roots.request());
    let answer = look_up
        .as_ref()
        .and_then(|look_up| outlines.get(&look_up.tool))
        .map_or(Shape::Any, |outline| Shape::from_schema(&outline.response));
    let over_answer = roots.look_up(answer);
    let condition = |name: &str| {
        file.required(node, name, "reconcile")
            .and_then(|n| file.expr(n, &over_answer, Wanted::Condition))
    };
    let (happened, did_not_happen) = (condition("happened"), condition("did_not_happen"));
    let conclusive = optional(node, "conclusive").map_or(Some(false), |n| file.boolean(n));
    let result = match optional(node, "result") {
        Some(n) => file.expr(n, &over_answer, Wanted::Anything).map(Some),
        None => Some(None),
    };
    let look_up = look_up?;
    Some(Reconcile {
        tool: look_up.tool,
        args: look_up.args,
        happened: happened?,
        did_not_happen: did_not_happen?,
        conclusive: conclusive?,
        result: result?,
    })
}
