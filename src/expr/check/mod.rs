//! Owns: what can be known to fail before anything runs.
//! Must not know: who asks and why.
//! Start reading at: `mod.rs`.
//!
//! What can be known to fail is refused when a bundle loads: unknown roots, fields and functions, optional fields
//! without a `has` guard, comparisons that never hold, trees too deep for a worker's stack.

mod guards;
mod operators;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use cel::{
    IdedExpr, Program,
    common::ast::{EntryExpr, Expr as Ast, LiteralValue, MapExpr, SelectExpr, SourceInfo},
};

use super::{
    MAX_TREE_DEPTH,
    error::{ExprError, Problem},
    shape::{Field, Kind, Roots, Shape},
};

/// What the check found out about a sound expression.
pub(super) struct Checked {
    pub(super) reads: BTreeSet<String>,
    pub(super) roots: BTreeSet<String>,
    pub(super) shape: Arc<Shape>,
    pub(super) kind: Kind,
    pub(super) loop_nesting: u32,
}

pub(super) fn check(program: &Program, roots: &Roots) -> Result<Checked, ExprError> {
    let mut walk = Walk {
        known: roots,
        places: program.source_info(),
        locals: Vec::new(),
        guards: BTreeSet::new(),
        reads: BTreeSet::new(),
        roots: BTreeSet::new(),
        depth: 0,
        loops: 0,
        deepest_loops: 0,
    };
    let found = walk.visit(program.expression())?;
    Ok(Checked {
        reads: walk.reads,
        roots: walk.roots,
        kind: found.kind,
        shape: found.shape,
        loop_nesting: u32::try_from(walk.deepest_loops).unwrap_or(u32::MAX),
    })
}

/// What is known about one node.
#[derive(Clone)]
struct Found {
    kind: Kind,
    shape: Arc<Shape>,
    path: Option<Path>,
}

/// How a node is reached from a root or a loop variable.
#[derive(Clone)]
struct Path {
    /// As written, for guards and messages: `after.items[0].id`.
    text: String,
    /// Up to the first index, if it starts at a root: `after.items`.
    read: Option<String>,
    /// Whether an index was passed.
    indexed: bool,
}

impl Found {
    fn of_kind(kind: Kind) -> Self {
        let shape = match kind {
            Kind::Bool => Shape::Bool,
            Kind::Int => Shape::Int,
            Kind::Number => Shape::Number,
            Kind::Text => Shape::text(),
            Kind::Timestamp => Shape::Timestamp,
            Kind::List => Shape::List(Arc::new(Shape::Any)),
            Kind::Any | Kind::Null | Kind::Duration | Kind::Map => Shape::Any,
        };
        Self { kind, shape: Arc::new(shape), path: None }
    }

    fn of_shape(shape: &Arc<Shape>, path: Option<Path>) -> Self {
        Self { kind: shape.kind(), shape: Arc::clone(shape), path }
    }

    fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| self.kind.as_str().to_owned(), |path| path.text.clone())
    }
}

struct Walk<'a> {
    known: &'a Roots,
    places: &'a SourceInfo,
    locals: Vec<(String, Arc<Shape>)>,
    guards: BTreeSet<String>,
    reads: BTreeSet<String>,
    roots: BTreeSet<String>,
    depth: usize,
    loops: usize,
    deepest_loops: usize,
}

impl Walk<'_> {
    fn fail<T>(&self, node: &IdedExpr, problem: Problem) -> Result<T, ExprError> {
        let start = self.places.offset_for(node.id).map(|(start, _)| start);
        Err(ExprError { problem, offset: start.and_then(|start| usize::try_from(start).ok()) })
    }

    /// Visits a node whose value is used, and records what it reads.
    fn visit(&mut self, node: &IdedExpr) -> Result<Found, ExprError> {
        let found = self.resolve(node)?;
        if let Some(read) = found.path.as_ref().and_then(|path| path.read.clone()) {
            self.reads.insert(read);
        }
        Ok(found)
    }

    /// Visits a node that may be the start of a longer path.
    fn resolve(&mut self, node: &IdedExpr) -> Result<Found, ExprError> {
        if self.depth >= MAX_TREE_DEPTH {
            return self.fail(node, Problem::TooDeep);
        }
        self.depth += 1;
        let found = match &node.expr {
            Ast::Ident(name) => self.name(node, name),
            Ast::Select(select) => self.select(node, select),
            Ast::Call(call) => self.call(node, call),
            Ast::Comprehension(comprehension) => self.comprehension(node, comprehension),
            Ast::List(list) => self.list(&list.elements),
            Ast::Map(map) => self.map(node, map),
            Ast::Literal(literal) => self.literal(node, literal),
            Ast::Struct(_) => self.fail(
                node,
                Problem::Unsupported {
                    what: "a message literal",
                    remedy: "write a map, as in `{\"a\": 1}`",
                },
            ),
            Ast::Unspecified => self.fail(node, Problem::Syntax { text: "empty".to_owned() }),
        };
        self.depth -= 1;
        found
    }

    fn name(&mut self, node: &IdedExpr, name: &str) -> Result<Found, ExprError> {
        if let Some((_, shape)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            let path = Path { text: name.to_owned(), read: None, indexed: false };
            return Ok(Found::of_shape(shape, Some(path)));
        }
        let Some(shape) = self.known.shape(name) else {
            let available = self.known.names();
            return self.fail(node, Problem::UnknownRoot { name: name.to_owned(), available });
        };
        self.roots.insert(name.to_owned());
        let path = Path { text: name.to_owned(), read: Some(name.to_owned()), indexed: false };
        Ok(Found::of_shape(shape, Some(path)))
    }

    fn select(&mut self, node: &IdedExpr, select: &SelectExpr) -> Result<Found, ExprError> {
        let operand = self.resolve(&select.operand)?;
        let field = self.member(node, &operand, &select.field, select.test)?;
        if !select.test {
            return Ok(field);
        }
        if let Some(read) = field.path.and_then(|path| path.read) {
            self.reads.insert(read);
        }
        Ok(Found::of_kind(Kind::Bool))
    }

    /// The member `name` of `operand`; `tested` inside `has`, where absence is the question.
    fn member(
        &mut self,
        node: &IdedExpr,
        operand: &Found,
        name: &str,
        tested: bool,
    ) -> Result<Found, ExprError> {
        let text = format!("{}.{name}", operand.name());
        let path = operand.path.as_ref().map(|path| Path {
            text: text.clone(),
            read: path.read.as_ref().map(|read| match path.indexed {
                true => read.clone(),
                false => format!("{read}.{name}"),
            }),
            indexed: path.indexed,
        });
        let (shape, required) = match operand.shape.as_ref() {
            Shape::Any => (Arc::new(Shape::Any), true),
            Shape::Record { fields, open } => match fields.get(name) {
                Some(field) => (Arc::clone(&field.shape), field.required),
                None if *open => (Arc::new(Shape::Any), false),
                None => {
                    let available = join(fields.keys());
                    return self.fail(node, Problem::UnknownField { path: text, available });
                }
            },
            Shape::Bool
            | Shape::Int
            | Shape::Number
            | Shape::Text { .. }
            | Shape::Timestamp
            | Shape::List(_) => {
                let problem =
                    Problem::NotARecord { path: operand.name(), kind: operand.kind.as_str() };
                return self.fail(node, problem);
            }
        };
        if !required && !tested && !self.guards.contains(&text) {
            return self.fail(node, Problem::Unguarded { path: text });
        }
        Ok(Found::of_shape(&shape, path))
    }

    fn list(&mut self, elements: &[IdedExpr]) -> Result<Found, ExprError> {
        let mut item: Option<Arc<Shape>> = None;
        for element in elements {
            let found = self.visit(element)?;
            let same = item.as_ref().is_none_or(|item| item.kind() == found.kind);
            item = Some(if same { found.shape } else { Arc::new(Shape::Any) });
        }
        let item = match item.as_deref() {
            Some(Shape::Text { .. }) => Arc::new(Shape::text()),
            Some(_) | None => item.unwrap_or_else(|| Arc::new(Shape::Any)),
        };
        let shape = Arc::new(Shape::List(item));
        Ok(Found { kind: Kind::List, shape, path: None })
    }

    fn map(&mut self, node: &IdedExpr, map: &MapExpr) -> Result<Found, ExprError> {
        let mut fields = BTreeMap::new();
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return self.fail(node, Problem::Syntax { text: "not a map".to_owned() });
            };
            let Ast::Literal(LiteralValue::String(name)) = &entry.key.expr else {
                let problem = Problem::Unsupported {
                    what: "a computed name in a map",
                    remedy: "write the name as a quoted text",
                };
                return self.fail(node, problem);
            };
            let found = self.visit(&entry.value)?;
            fields.insert(name.inner().to_owned(), Field { required: true, shape: found.shape });
        }
        let shape = Arc::new(Shape::Record { fields, open: false });
        Ok(Found { kind: Kind::Map, shape, path: None })
    }

    fn literal(&self, node: &IdedExpr, literal: &LiteralValue) -> Result<Found, ExprError> {
        let unsupported = |what, remedy| self.fail(node, Problem::Unsupported { what, remedy });
        match literal {
            LiteralValue::Boolean(_) => Ok(Found::of_kind(Kind::Bool)),
            LiteralValue::Int(_) => Ok(Found::of_kind(Kind::Int)),
            LiteralValue::Null => Ok(Found::of_kind(Kind::Null)),
            LiteralValue::String(_) => Ok(Found::of_kind(Kind::Text)),
            LiteralValue::Double(_) => unsupported(
                "a number with a fraction",
                "count minor units, or use `minor(value, currency)`",
            ),
            LiteralValue::UInt(_) => unsupported("an unsigned number", "leave the `u` out"),
            LiteralValue::Bytes(_) => unsupported("a bytes literal", "leave the `b` out"),
        }
    }

    fn expect(&self, node: &IdedExpr, found: Kind, wanted: Kind) -> Result<(), ExprError> {
        if found == Kind::Any || found == wanted {
            return Ok(());
        }
        self.fail(node, Problem::WrongKind { found: found.as_str(), wanted: wanted.as_str() })
    }

    fn comparable(&self, node: &IdedExpr, left: Kind, right: Kind) -> Result<(), ExprError> {
        if left.can_equal(right) {
            return Ok(());
        }
        self.fail(node, Problem::NeverEqual { left: left.as_str(), right: right.as_str() })
    }
}

fn join<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
