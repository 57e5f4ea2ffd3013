//! Operators, functions and loops.

use std::{collections::BTreeSet, sync::Arc};

use cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, Expr as Ast, LiteralValue, operators},
};

use super::{
    Found, Path, Walk,
    guards::{literal_text, present_if_false, present_if_true},
    join,
};
use crate::expr::{
    MAX_LOOP_NESTING,
    error::{ExprError, Problem},
    functions::{self, Style},
    shape::{Kind, Shape},
};

impl Walk<'_> {
    pub(super) fn call(&mut self, node: &IdedExpr, call: &CallExpr) -> Result<Found, ExprError> {
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

    pub(super) fn comprehension(
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
}
