//! What a condition makes certain: the paths that are present when it is true, or when it is false.

use std::collections::BTreeSet;

use cel::{
    IdedExpr,
    common::ast::{Expr as Ast, LiteralValue, operators},
};

/// Adds the paths that are certainly present when `node` is true.
pub(super) fn present_if_true(node: &IdedExpr, into: &mut BTreeSet<String>) {
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
pub(super) fn present_if_false(node: &IdedExpr, into: &mut BTreeSet<String>) {
    let Ast::Call(call) = &node.expr else { return };
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::LOGICAL_OR, args) => args.iter().for_each(|arg| present_if_false(arg, into)),
        (operators::LOGICAL_NOT, [operand]) => present_if_true(operand, into),
        _ => {}
    }
}

/// A path as `Path::text` writes it.
pub(super) fn path_text(node: &IdedExpr) -> Option<String> {
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

pub(super) fn literal_text(node: &IdedExpr) -> Option<String> {
    match &node.expr {
        Ast::Literal(LiteralValue::Int(at)) => Some(at.inner().to_string()),
        _ => None,
    }
}
