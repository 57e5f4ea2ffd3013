//! Owns: from files to compiled parts.
//! Must not know: what a session does with them.
//! Start reading at: `contract.rs`.
//!
//! Every reader reports what it finds wrong and goes on, so that one load shows all.

pub(super) mod approvals;
pub(super) mod contract;
mod effect;
mod executor;
mod facts;
pub(super) mod fixtures;
mod input;
pub(super) mod manifest;
mod response;
pub(super) mod roots;
pub(super) mod workflow;

use std::{collections::BTreeSet, time::Duration};

use super::{
    problem::{LoadProblem, Place, Problems},
    yaml::{Node, NodeKind},
};
use crate::{
    domain::pointer::Pointer,
    expr::{Expr, ExprError, Kind, Roots},
};

/// One file being read.
#[derive(Clone, Copy)]
pub(super) struct File<'p> {
    pub(super) name: &'p str,
    pub(super) text: &'p str,
    pub(super) problems: &'p Problems,
}

/// What an expression must evaluate to.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Anything,
    Condition,
    Integer,
    List,
    Text,
    /// A text or an integer: ids, path segments, query parameters.
    Scalar,
}

impl Wanted {
    fn admits(self, kind: Kind) -> bool {
        kind == Kind::Any
            || match self {
                Self::Anything => true,
                Self::Condition => kind == Kind::Bool,
                Self::Integer => kind == Kind::Int,
                Self::List => kind == Kind::List,
                Self::Text => kind == Kind::Text,
                Self::Scalar => matches!(kind, Kind::Text | Kind::Int),
            }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Anything => "anything",
            Self::Condition => "true or false",
            Self::Integer => "an integer",
            Self::List => "a list, such as `[\"lend\", args.id]`",
            Self::Text => "a text",
            Self::Scalar => "a text or an integer",
        }
    }
}

impl<'p> File<'p> {
    pub(super) fn error(&self, at: Place, text: impl Into<String>, remedy: impl Into<String>) {
        self.problems.error(self.problem(at, text.into(), remedy.into()));
    }

    pub(super) fn warn(&self, at: Place, text: impl Into<String>, remedy: impl Into<String>) {
        self.problems.warning(self.problem(at, text.into(), remedy.into()));
    }

    fn problem(&self, place: Place, text: String, remedy: String) -> LoadProblem {
        LoadProblem { file: self.name.to_owned(), place, text, remedy }
    }

    fn wrong(&self, node: &Node, wanted: &str) {
        self.error(
            node.at,
            format!("this is {} where {wanted} is needed", node.describe()),
            format!("write {wanted}"),
        );
    }

    /// Checks that `node` is a map whose members all have known names.
    pub(super) fn map(&self, node: &Node, what: &str, known: &[&str]) -> bool {
        let Some(members) = node.members() else {
            self.wrong(node, &format!("a map ({what})"));
            return false;
        };
        for member in members {
            if !known.contains(&member.name.as_str()) {
                self.error(
                    member.at,
                    format!("`{}` is not a key of {what}", member.name),
                    suggestion(&member.name, known),
                );
            }
        }
        true
    }

    /// A member that must be there.
    pub(super) fn required<'n>(&self, node: &'n Node, name: &str, what: &str) -> Option<&'n Node> {
        let found = optional(node, name);
        if found.is_none() && node.members().is_some() {
            self.error(node.at, format!("{what} needs `{name}`"), format!("add `{name}: …`"));
        }
        found
    }

    pub(super) fn text<'n>(&self, node: &'n Node) -> Option<&'n str> {
        let text = node.text();
        if text.is_none() {
            self.wrong(node, "a text");
        }
        text
    }

    pub(super) fn boolean(&self, node: &Node) -> Option<bool> {
        match node.kind {
            NodeKind::Bool(answer) => Some(answer),
            NodeKind::Null
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text(_)
            | NodeKind::List(_)
            | NodeKind::Map(_) => {
                self.wrong(node, "true or false");
                None
            }
        }
    }

    pub(super) fn integer(&self, node: &Node) -> Option<i64> {
        match node.kind {
            NodeKind::Int(integer) => Some(integer),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Float(_)
            | NodeKind::Text(_)
            | NodeKind::List(_)
            | NodeKind::Map(_) => {
                self.wrong(node, "an integer");
                None
            }
        }
    }

    /// A whole number from `least`.
    pub(super) fn count(&self, node: &Node, least: u32) -> Option<u32> {
        let integer = self.integer(node)?;
        let count = u32::try_from(integer).ok().filter(|count| *count >= least);
        if count.is_none() {
            self.error(
                node.at,
                format!("`{integer}` is out of range"),
                format!("write a number from {least}"),
            );
        }
        count
    }

    /// A span of time, such as `250ms`, `3s`, `60m`, `24h`, `7d`; from 1 ms to `most`.
    pub(super) fn duration(&self, node: &Node, most: Duration) -> Option<Duration> {
        let text = self.text(node)?;
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let millis = match unit {
            "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            "h" => Some(3_600_000),
            "d" => Some(86_400_000),
            _ => None,
        };
        let span = millis
            .and_then(|millis: u64| number.parse::<u64>().ok()?.checked_mul(millis))
            .map(Duration::from_millis)
            .filter(|span| !span.is_zero() && *span <= most);
        if span.is_none() {
            self.error(
                node.at,
                format!("`{text}` is not a span of time up to {} s", most.as_secs()),
                "write a number with ms, s, m, h or d, such as `30s`",
            );
        }
        span
    }

    /// A name of lower-case letters, digits and `_`.
    pub(super) fn name(&self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        if is_name(text) {
            return Some(text.to_owned());
        }
        self.error(
            node.at,
            format!("`{text}` is not a name"),
            "use lower-case letters, digits and `_`, beginning with a letter, at most 64",
        );
        None
    }

    /// A record type: letters and digits, beginning with a capital.
    pub(super) fn type_name(&self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        let reserved = ["Principal", "Tool", "Action"].contains(&text);
        let mut chars = text.chars();
        let sound = chars.next().is_some_and(|c| c.is_ascii_uppercase())
            && chars.all(|c| c.is_ascii_alphanumeric())
            && text.len() <= 64;
        if sound && !reserved {
            return Some(text.to_owned());
        }
        self.error(
            node.at,
            format!(
                "`{text}` is not a record type{}",
                if reserved { " (it is reserved)" } else { "" }
            ),
            "use letters and digits, beginning with a capital, such as `Loan`",
        );
        None
    }

    /// A role, channel or other outside word: printable, without spaces or quotes.
    pub(super) fn word(&self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        let sound = !text.is_empty()
            && text.len() <= 64
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:@".contains(c));
        if sound {
            return Some(text.to_owned());
        }
        self.error(
            node.at,
            format!("`{text}` is not a word"),
            "use letters, digits, `_`, `-`, `.`, `:` and `@`",
        );
        None
    }

    /// A member of a closed vocabulary.
    pub(super) fn member<T: Copy>(
        &self,
        node: &Node,
        all: &[T],
        spell: fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(node)?;
        let found = all.iter().copied().find(|member| spell(*member) == text);
        if found.is_none() {
            let known: Vec<&str> = all.iter().map(|member| spell(*member)).collect();
            self.error(
                node.at,
                format!("`{text}` is not one of {}", known.join(", ")),
                suggestion(text, &known),
            );
        }
        found
    }

    pub(super) fn pointer(&self, node: &Node) -> Option<Pointer> {
        let text = self.text(node)?;
        self.pointer_text(node.at, text)
    }

    pub(super) fn pointer_text(&self, at: Place, text: &str) -> Option<Pointer> {
        match Pointer::parse(text) {
            Ok(pointer) => Some(pointer),
            Err(error) => {
                self.error(at, error.to_string(), "write it as in `/order/id`");
                None
            }
        }
    }

    /// The items of a list, or a single value as a list of one.
    pub(super) fn one_or_more<'n>(&self, node: &'n Node) -> Vec<&'n Node> {
        match node.items() {
            Some(items) => items.iter().collect(),
            None => vec![node],
        }
    }

    pub(super) fn list<'n>(&self, node: &'n Node) -> &'n [Node] {
        match node.items() {
            Some(items) => items,
            None => {
                self.wrong(node, "a list");
                &[]
            }
        }
    }

    /// A list of roles or other words, without repetitions.
    pub(super) fn words(&self, node: &Node) -> BTreeSet<String> {
        self.list(node).iter().filter_map(|item| self.word(item)).collect()
    }

    pub(super) fn expr(&self, node: &Node, roots: &Roots, wanted: Wanted) -> Option<Expr> {
        let source = self.text(node)?;
        match Expr::compile(source, roots) {
            Ok(expr) if wanted.admits(expr.kind()) => Some(expr),
            Ok(expr) => {
                self.error(
                    node.at,
                    format!(
                        "`{source}` is {} where {} is needed",
                        expr.kind().as_str(),
                        wanted.as_str()
                    ),
                    format!("write an expression that gives {}", wanted.as_str()),
                );
                None
            }
            Err(error) => {
                let at = self.place_in(node, source, &error);
                self.error(at, error.to_string(), format!("the expression is `{source}`"));
                None
            }
        }
    }

    /// Where in the file an expression's error points, if the text stands there as it was read.
    fn place_in(&self, node: &Node, source: &str, error: &ExprError) -> Place {
        let Some(offset) = error.offset else { return node.at };
        let line =
            self.text.lines().nth(node.at.line.saturating_sub(1) as usize).unwrap_or_default();
        let from = line.chars().skip(node.at.column.saturating_sub(1) as usize);
        let rest: String = from.collect();
        let quoted = usize::from(rest.starts_with(['\'', '"']));
        let written: String = rest.chars().skip(quoted).take(offset).collect();
        let read: String = source.chars().take(offset).collect();
        if written == read { node.at.right(quoted + offset) } else { node.at }
    }
}

/// A member that may be absent; null counts as absent.
pub(super) fn optional<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.get(name).filter(|found| found.kind != NodeKind::Null)
}

/// Whether a text is a name of tools, facts, kinds, rules.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && text.len() <= 64
}

/// What to write instead of an unknown word.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .min()
        .filter(|(distance, _)| *distance <= 2);
    match near {
        Some((_, candidate)) => format!("did you mean `{candidate}`?"),
        None if known.is_empty() => "leave it out".to_owned(),
        None => format!("use one of {}", known.join(", ")),
    }
}

/// How many letters differ (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, to) in row.iter().skip(1).zip(&b) {
            let cost = diagonal + usize::from(from != *to);
            diagonal = *above;
            left = cost.min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
