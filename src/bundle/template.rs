//! A JSON value whose strings are expressions: bodies and query parameters of executors.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::expr::{Bindings, EvalError, Expr};

/// A JSON value with expressions in place of its strings; numbers, booleans and nulls stand for themselves.
#[derive(Debug)]
pub enum Template {
    /// Evaluated.
    Expr(Expr),
    /// Stands for itself.
    Literal(Value),
    /// Each item in order.
    List(Vec<Template>),
    /// Each member by name.
    Object(BTreeMap<String, Member>),
}

/// One member of an object template.
#[derive(Debug)]
pub struct Member {
    /// Written `name?`: left out when something its expressions read is absent.
    pub optional: bool,
    /// The value.
    pub value: Template,
}

impl Template {
    /// The value, with every expression evaluated.
    ///
    /// # Errors
    /// The first expression that does not evaluate.
    pub fn render(&self, bindings: &Bindings) -> Result<Value, EvalError> {
        match self {
            Self::Expr(expr) => expr.eval(bindings),
            Self::Literal(value) => Ok(value.clone()),
            Self::List(items) => Ok(Value::Array(
                items.iter().map(|i| i.render(bindings)).collect::<Result<_, _>>()?,
            )),
            Self::Object(members) => {
                let mut object = Map::new();
                for (name, member) in members {
                    if member.optional && !member.value.has_all(bindings) {
                        continue;
                    }
                    object.insert(name.clone(), member.value.render(bindings)?);
                }
                Ok(Value::Object(object))
            }
        }
    }

    /// Every path that its expressions read, such as `args.name`.
    #[must_use]
    pub fn reads(&self) -> BTreeSet<String> {
        let mut reads = BTreeSet::new();
        self.collect_reads(&mut reads);
        reads
    }

    fn collect_reads(&self, into: &mut BTreeSet<String>) {
        match self {
            Self::Expr(expr) => into.extend(expr.reads().iter().cloned()),
            Self::Literal(_) => {}
            Self::List(items) => items.iter().for_each(|item| item.collect_reads(into)),
            Self::Object(members) => members.values().for_each(|m| m.value.collect_reads(into)),
        }
    }

    fn has_all(&self, bindings: &Bindings) -> bool {
        self.reads().iter().all(|path| bindings.has(path))
    }
}
