//! What a condition makes certain: the paths that are present when it is true, or when it is false.

use std::collections::BTreeSet;

use cel::{
    IdedExpr,
    common::ast::{Expr as Ast, LiteralValue, operators},
};

/// Adds the paths that are certainly present when `node` is true.
pub(super) fn present_if_true(node: &IdedExpr, into: &mut BTreeSet<String>) {
    if let Ast::Select(select) = &node.expr {
        if select.test
            && let Some(operand) = path_text(&select.operand)
        {
            into.insert(format!("{operand}.{}", select.field));
        }
        return;
    }
    let Ast::Call(call) = &node.expr else { return };
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::LOGICAL_AND, args) => args.iter().for_each(|arg| present_if_true(arg, into)),
        (operators::LOGICAL_NOT, [operand]) => present_if_false(operand, into),
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
fn path_text(node: &IdedExpr) -> Option<String> {
    if let Ast::Ident(name) = &node.expr {
        return Some(name.clone());
    }
    if let Ast::Select(select) = &node.expr {
        let operand = path_text(&select.operand).filter(|_| !select.test)?;
        return Some(format!("{operand}.{}", select.field));
    }
    let Ast::Call(call) = &node.expr else { return None };
    let (operators::INDEX, [operand, index]) = (call.func_name.as_str(), call.args.as_slice())
    else {
        return None;
    };
    let operand = path_text(operand)?;
    if let Ast::Literal(LiteralValue::String(name)) = &index.expr {
        return Some(format!("{operand}.{}", name.inner()));
    }
    Some(format!("{operand}[{}]", literal_text(index)?))
}

/// A literal index as it is written in a path.
pub(super) fn literal_text(node: &IdedExpr) -> Option<String> {
    let Ast::Literal(LiteralValue::Int(at)) = &node.expr else { return None };
    Some(at.inner().to_string())
}
