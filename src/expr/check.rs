//! What can be known to fail is refused when a bundle loads: unknown roots, fields and functions, optional fields
//! without a `has` guard, comparisons that never hold, trees too deep for a worker's stack.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use cel::{
    IdedExpr, Program,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr as Ast, LiteralValue, MapExpr, SelectExpr,
        SourceInfo, operators,
    },
};

use super::{
    MAX_LOOP_NESTING, MAX_TREE_DEPTH,
    error::{ExprError, Problem},
    functions::{self, Style},
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

    fn call(&mut self, node: &IdedExpr, call: &CallExpr) -> Result<Found, ExprError> {
        let args = call.args.as_slice();
        match (call.func_name.as_str(), args) {
            (operators::LOGICAL_AND, args) => self.logic(args, present_if_true),
            (operators::LOGICAL_OR, args) => self.logic(args, present_if_false),
            (operators::CONDITIONAL, [test, yes, no]) => self.conditional(node, test, yes, no),
            (operators::INDEX, [operand, index]) => self.index(node, operand, index),
            (operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE, [operand]) => {
                let found = self.visit(operand)?;
                self.expect(operand, found.kind, Kind::Bool)?;
                Ok(Found::of_kind(Kind::Bool))
            }
            (operators::NEGATE, [operand]) => {
                let found = self.visit(operand)?;
                self.expect(operand, found.kind, Kind::Int)?;
                Ok(Found::of_kind(Kind::Int))
            }
            (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
                self.equality(node, left, right)
            }
            (operators::IN, [left, right]) => self.membership(node, left, right),
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                [left, right],
            ) => {
                let (left, right) = (self.visit(left)?, self.visit(right)?);
                self.comparable(node, left.kind, right.kind)?;
                Ok(Found::of_kind(Kind::Bool))
            }
            (
                name @ (operators::ADD
                | operators::SUBSTRACT
                | operators::MULTIPLY
                | operators::DIVIDE
                | operators::MODULO),
                [left, right],
            ) => {
                let (left, right) = (self.visit(left)?, self.visit(right)?);
                self.arithmetic(node, name, &left, &right)
            }
            (name, args) => self.function(node, name, call.target.as_deref(), args),
        }
    }

    /// `&&` and `||`: what the left side makes certain guards the right side.
    fn logic(
        &mut self,
        args: &[IdedExpr],
        certain: fn(&IdedExpr, &mut BTreeSet<String>),
    ) -> Result<Found, ExprError> {
        let outer = self.guards.clone();
        for arg in args {
            let found = self.visit(arg)?;
            self.expect(arg, found.kind, Kind::Bool)?;
            certain(arg, &mut self.guards);
        }
        self.guards = outer;
        Ok(Found::of_kind(Kind::Bool))
    }

    fn conditional(
        &mut self,
        node: &IdedExpr,
        test: &IdedExpr,
        yes: &IdedExpr,
        no: &IdedExpr,
    ) -> Result<Found, ExprError> {
        let found = self.visit(test)?;
        self.expect(test, found.kind, Kind::Bool)?;
        let outer = self.guards.clone();
        present_if_true(test, &mut self.guards);
        let yes = self.visit(yes)?;
        self.guards.clone_from(&outer);
        present_if_false(test, &mut self.guards);
        let no = self.visit(no)?;
        self.guards = outer;
        self.comparable(node, yes.kind, no.kind)?;
        if yes.shape == no.shape {
            return Ok(Found { path: None, ..yes });
        }
        Ok(Found::of_kind(if yes.kind == no.kind { yes.kind } else { Kind::Any }))
    }

    fn index(
        &mut self,
        node: &IdedExpr,
        operand: &IdedExpr,
        index: &IdedExpr,
    ) -> Result<Found, ExprError> {
        let found = self.resolve(operand)?;
        if let Ast::Literal(LiteralValue::String(name)) = &index.expr {
            return self.member(node, &found, name.inner(), false);
        }
        let at = self.visit(index)?;
        let shape = match found.shape.as_ref() {
            Shape::List(item) => Arc::clone(item),
            Shape::Any => Arc::new(Shape::Any),
            Shape::Record { .. } => {
                let problem = Problem::Unsupported {
                    what: "a computed field name",
                    remedy: "write the name out, so that it can be checked",
                };
                return self.fail(node, problem);
            }
            Shape::Bool | Shape::Int | Shape::Number | Shape::Text { .. } | Shape::Timestamp => {
                let problem = Problem::NotARecord { path: found.name(), kind: found.kind.as_str() };
                return self.fail(node, problem);
            }
        };
        self.expect(index, at.kind, Kind::Int)?;
        let path = found.path.map(|path| Path {
            text: format!(
                "{}[{}]",
                path.text,
                literal_text(index).unwrap_or_else(|| "…".to_owned())
            ),
            read: path.read,
            indexed: true,
        });
        Ok(Found::of_shape(&shape, path))
    }

    fn equality(
        &mut self,
        node: &IdedExpr,
        left: &IdedExpr,
        right: &IdedExpr,
    ) -> Result<Found, ExprError> {
        let (found_left, found_right) = (self.visit(left)?, self.visit(right)?);
        self.comparable(node, found_left.kind, found_right.kind)?;
        self.literal_is_member(right, &found_left)?;
        self.literal_is_member(left, &found_right)?;
        Ok(Found::of_kind(Kind::Bool))
    }

    fn membership(
        &mut self,
        node: &IdedExpr,
        left: &IdedExpr,
        right: &IdedExpr,
    ) -> Result<Found, ExprError> {
        let (item, list) = (self.visit(left)?, self.visit(right)?);
        match list.shape.as_ref() {
            Shape::List(member) => self.comparable(node, item.kind, member.kind())?,
            Shape::Any | Shape::Record { .. } => {}
            Shape::Bool | Shape::Int | Shape::Number | Shape::Text { .. } | Shape::Timestamp => {
                self.expect(right, list.kind, Kind::List)?;
            }
        }
        if let Ast::List(written) = &right.expr {
            for element in &written.elements {
                self.literal_is_member(element, &item)?;
            }
        }
        Ok(Found::of_kind(Kind::Bool))
    }

    /// A quoted text compared with a field of a closed list must be one of its members.
    fn literal_is_member(&self, node: &IdedExpr, field: &Found) -> Result<(), ExprError> {
        let Ast::Literal(LiteralValue::String(literal)) = &node.expr else { return Ok(()) };
        let Shape::Text { members: Some(members) } = field.shape.as_ref() else { return Ok(()) };
        if members.iter().any(|member| member == literal.inner()) {
            return Ok(());
        }
        let literal = literal.inner().to_owned();
        self.fail(
            node,
            Problem::NotAMember { literal, path: field.name(), available: join(members) },
        )
    }

    fn arithmetic(
        &mut self,
        node: &IdedExpr,
        name: &str,
        left: &Found,
        right: &Found,
    ) -> Result<Found, ExprError> {
        let adding = name == operators::ADD;
        let shifting = adding || name == operators::SUBSTRACT;
        let result = match (left.kind, right.kind) {
            (Kind::Any, _) | (_, Kind::Any) => Kind::Any,
            (Kind::Int, Kind::Int) => Kind::Int,
            (Kind::Text, Kind::Text) if adding => Kind::Text,
            (Kind::List, Kind::List) if adding => Kind::List,
            (Kind::Timestamp, Kind::Duration) if shifting => Kind::Timestamp,
            (Kind::Duration, Kind::Duration) if shifting => Kind::Duration,
            (Kind::Timestamp, Kind::Timestamp) if shifting && !adding => Kind::Duration,
            (left, right) => {
                let problem = Problem::CannotCompute { left: left.as_str(), right: right.as_str() };
                return self.fail(node, problem);
            }
        };
        Ok(Found::of_kind(result))
    }

    fn function(
        &mut self,
        node: &IdedExpr,
        name: &str,
        target: Option<&IdedExpr>,
        args: &[IdedExpr],
    ) -> Result<Found, ExprError> {
        let style = if target.is_some() { Style::Member } else { Style::Global };
        let Some(row) = functions::TABLE.iter().find(|row| row.name == name && row.style == style)
        else {
            let problem =
                Problem::UnknownFunction { name: name.to_owned(), available: functions::names() };
            return self.fail(node, problem);
        };
        if row.arguments != args.len() {
            let expected = row.arguments.to_string();
            return self.fail(
                node,
                Problem::ArgumentCount { name: row.name, expected, found: args.len() },
            );
        }
        if row.name == "matches" {
            self.pattern(node, args)?;
        }
        for arg in target.into_iter().chain(args) {
            self.visit(arg)?;
        }
        Ok(Found::of_kind(row.result))
    }

    fn pattern(&self, node: &IdedExpr, args: &[IdedExpr]) -> Result<(), ExprError> {
        let Some(Ast::Literal(LiteralValue::String(pattern))) = args.first().map(|arg| &arg.expr)
        else {
            return self.fail(node, Problem::PatternNotLiteral);
        };
        if functions::is_pattern(pattern.inner()) {
            return Ok(());
        }
        self.fail(node, Problem::BadPattern { pattern: pattern.inner().to_owned() })
    }

    fn comprehension(
        &mut self,
        node: &IdedExpr,
        comprehension: &ComprehensionExpr,
    ) -> Result<Found, ExprError> {
        let range = self.visit(&comprehension.iter_range)?;
        let item = match range.shape.as_ref() {
            Shape::List(item) => Arc::clone(item),
            Shape::Record { .. } => Arc::new(Shape::text()),
            Shape::Any => Arc::new(Shape::Any),
            Shape::Bool | Shape::Int | Shape::Number | Shape::Text { .. } | Shape::Timestamp => {
                self.expect(&comprehension.iter_range, range.kind, Kind::List)?;
                Arc::new(Shape::Any)
            }
        };
        if self.known.shape(&comprehension.iter_var).is_some() {
            return self.fail(node, Problem::Shadows { name: comprehension.iter_var.clone() });
        }
        self.loops += 1;
        self.deepest_loops = self.deepest_loops.max(self.loops);
        if self.loops > MAX_LOOP_NESTING {
            return self.fail(node, Problem::LoopsTooDeep);
        }
        let start = self.visit(&comprehension.accu_init)?;
        let locals = self.locals.len();
        self.locals.push((comprehension.accu_var.clone(), start.shape));
        let outside = self.without_guards_of(&comprehension.iter_var);
        self.locals.push((comprehension.iter_var.clone(), item));
        self.visit(&comprehension.loop_cond)?;
        self.visit(&comprehension.loop_step)?;
        let result = self.visit(&comprehension.result)?;
        self.locals.truncate(locals);
        self.guards = outside;
        self.loops -= 1;
        Ok(Found { path: None, ..result })
    }

    /// Forgets guards of an outer variable of the same name; returns what to restore.
    fn without_guards_of(&mut self, variable: &str) -> BTreeSet<String> {
        let outside = self.guards.clone();
        let prefix = format!("{variable}.");
        self.guards.retain(|guard| !guard.starts_with(&prefix));
        outside
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

/// Adds the paths that are certainly present when `node` is true.
fn present_if_true(node: &IdedExpr, into: &mut BTreeSet<String>) {
    match &node.expr {
        Ast::Select(select) if select.test => {
            if let Some(operand) = path_text(&select.operand) {
                into.insert(format!("{operand}.{}", select.field));
            }
        }
        Ast::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_AND, args) => {
                args.iter().for_each(|arg| present_if_true(arg, into))
            }
            (operators::LOGICAL_NOT, [operand]) => present_if_false(operand, into),
            _ => {}
        },
        _ => {}
    }
}

/// Adds the paths that are certainly present when `node` is false.
fn present_if_false(node: &IdedExpr, into: &mut BTreeSet<String>) {
    let Ast::Call(call) = &node.expr else { return };
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::LOGICAL_OR, args) => args.iter().for_each(|arg| present_if_false(arg, into)),
        (operators::LOGICAL_NOT, [operand]) => present_if_true(operand, into),
        _ => {}
    }
}

/// A path as `Path::text` writes it.
fn path_text(node: &IdedExpr) -> Option<String> {
    match &node.expr {
        Ast::Ident(name) => Some(name.clone()),
        Ast::Select(select) if !select.test => {
            Some(format!("{}.{}", path_text(&select.operand)?, select.field))
        }
        Ast::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::INDEX, [operand, index]) => {
                let operand = path_text(operand)?;
                match &index.expr {
                    Ast::Literal(LiteralValue::String(name)) => {
                        Some(format!("{operand}.{}", name.inner()))
                    }
                    _ => Some(format!("{operand}[{}]", literal_text(index)?)),
                }
            }
            _ => None,
        },
        _ => None,
    }
}

fn literal_text(node: &IdedExpr) -> Option<String> {
    match &node.expr {
        Ast::Literal(LiteralValue::Int(at)) => Some(at.inner().to_string()),
        _ => None,
    }
}

fn join<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
