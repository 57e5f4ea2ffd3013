//! Why an expression does not compile or does not evaluate. Evaluation errors never hold data.

use cel::{ExecutionError, ParseErrors};

use super::{MAX_BRACKETS, MAX_LOOP_NESTING, MAX_LOOP_STEPS, MAX_SOURCE_BYTES, MAX_TREE_DEPTH};

/// Why an expression does not compile, and where in its source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ExprError {
    /// What is wrong.
    pub problem: Problem,
    /// Where, in characters from the start of the source, if one place is to blame.
    pub offset: Option<usize>,
}

impl ExprError {
    pub(super) fn whole(problem: Problem) -> Self {
        Self { problem, offset: None }
    }
}

/// What is wrong with a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not CEL.
    #[error("not an expression: {text}")]
    Syntax {
        /// What the parser said.
        text: String,
    },
    /// Longer than the cap.
    #[error("an expression of {bytes} bytes is too long (at most {MAX_SOURCE_BYTES})")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Deeper than the caps.
    #[error("nested too deeply (at most {MAX_BRACKETS} brackets, {MAX_TREE_DEPTH} levels)")]
    TooDeep,
    /// Loops in loops.
    #[error("loops are nested more than {MAX_LOOP_NESTING} deep")]
    LoopsTooDeep,
    /// A root that does not exist at this place.
    #[error("`{name}` does not exist here; there is {available}")]
    UnknownRoot {
        /// The name.
        name: String,
        /// The roots that exist, separated by commas.
        available: String,
    },
    /// A field the schema does not have.
    #[error("`{path}` does not exist; there is {available}")]
    UnknownField {
        /// The path.
        path: String,
        /// The fields that exist, separated by commas.
        available: String,
    },
    /// An optional field without a guard.
    #[error("`{path}` may be absent: guard it, as in `has({path}) && …`")]
    Unguarded {
        /// The path.
        path: String,
    },
    /// A field of something that has no fields.
    #[error("`{path}` is {kind} and has no fields")]
    NotARecord {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A function that is not in the table.
    #[error("there is no function `{name}`; there is {available}")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The table, separated by commas.
        available: String,
    },
    /// A wrong number of arguments.
    #[error("`{name}` takes {expected} arguments, not {found}")]
    ArgumentCount {
        /// The function.
        name: &'static str,
        /// What it takes.
        expected: String,
        /// What it got.
        found: usize,
    },
    /// A comparison that can never hold.
    #[error("compares {left} with {right}, which never holds")]
    NeverEqual {
        /// The kind on the left.
        left: &'static str,
        /// The kind on the right.
        right: &'static str,
    },
    /// A value of the wrong kind.
    #[error("this is {found} where {wanted} is needed")]
    WrongKind {
        /// The kind found.
        found: &'static str,
        /// The kind needed.
        wanted: &'static str,
    },
    /// Arithmetic over kinds that have none.
    #[error("{left} and {right} cannot be computed with each other")]
    CannotCompute {
        /// The kind on the left.
        left: &'static str,
        /// The kind on the right.
        right: &'static str,
    },
    /// A literal outside a closed list.
    #[error("`{literal}` is not a member of `{path}`; there is {available}")]
    NotAMember {
        /// The literal.
        literal: String,
        /// The path.
        path: String,
        /// The members, separated by commas.
        available: String,
    },
    /// A pattern that is not written out.
    #[error("the pattern of `matches` must be a quoted text, so that no data can choose it")]
    PatternNotLiteral,
    /// A pattern that does not compile.
    #[error("`{pattern}` is not a pattern with linear time")]
    BadPattern {
        /// The pattern.
        pattern: String,
    },
    /// Something this subset leaves out.
    #[error("{what} is not part of this language: {remedy}")]
    Unsupported {
        /// What was used.
        what: &'static str,
        /// What to write instead.
        remedy: &'static str,
    },
    /// A loop variable that hides a root.
    #[error("the loop variable `{name}` hides a root; choose another name")]
    Shadows {
        /// The variable.
        name: String,
    },
    /// The thread that parses could not run.
    #[error("no thread could be started to parse the expression")]
    NoParser,
}

/// Why an evaluation has no value. Holds no data, so it can be logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A root it reads was not bound.
    #[error("`{root}` has no value here")]
    Unbound {
        /// The root.
        root: String,
    },
    /// A root holds something that cannot be computed with.
    #[error("`{root}` holds {what}")]
    Unusable {
        /// The root.
        root: String,
        /// What it holds.
        what: &'static str,
    },
    /// A member is absent.
    #[error("a member it reads is absent")]
    Absent,
    /// An index outside a list.
    #[error("an index is outside its list")]
    OutOfBounds,
    /// Values of the wrong kinds.
    #[error("values of these kinds cannot be used together")]
    WrongKinds,
    /// Integer overflow, or a division by zero.
    #[error("the arithmetic has no result")]
    Arithmetic,
    /// A host function refused its arguments.
    #[error("`{function}` refused its arguments")]
    Function {
        /// The function.
        function: String,
    },
    /// More loop steps than the cap.
    #[error("the loops could take more than {MAX_LOOP_STEPS} steps")]
    TooCostly,
    /// A condition that is neither.
    #[error("a condition must be true or false, this is {found}")]
    NotTrueOrFalse {
        /// The kind found.
        found: String,
    },
    /// A result that JSON cannot hold.
    #[error("the result is {what}, which has no JSON form")]
    NotJson {
        /// What it is.
        what: &'static str,
    },
    /// Anything else.
    #[error("the expression did not evaluate")]
    Failed,
}

pub(super) fn from_parse(errors: &ParseErrors) -> ExprError {
    let Some(first) = errors.errors.first() else {
        return ExprError::whole(Problem::Syntax { text: "unreadable".to_owned() });
    };
    let offset = usize::try_from(first.pos.1).ok().map(|column| column.saturating_sub(1));
    let text = first.msg.strip_prefix("Syntax error: ").unwrap_or(&first.msg);
    let text = text.split(" expecting ").next().unwrap_or(text).to_owned();
    ExprError { problem: Problem::Syntax { text }, offset }
}

pub(super) fn from_cel(error: &ExecutionError) -> EvalError {
    use ExecutionError as E;
    if let E::FunctionError { function, .. } = error {
        return EvalError::Function { function: function.clone() };
    }
    if matches!(error, E::NoSuchKey(_)) {
        return EvalError::Absent;
    }
    if matches!(error, E::IndexOutOfBounds(_)) {
        return EvalError::OutOfBounds;
    }
    if matches!(error, E::DivisionByZero(_) | E::RemainderByZero(_) | E::Overflow(..)) {
        return EvalError::Arithmetic;
    }
    let wrong_kinds = matches!(
        error,
        E::UnsupportedTargetType { .. }
            | E::NotSupportedAsMethod { .. }
            | E::UnsupportedKeyType(_)
            | E::UnexpectedType { .. }
            | E::NoSuchOverload(_)
            | E::ValuesNotComparable(..)
            | E::UnsupportedBinaryOperator(..)
            | E::UnsupportedIndex(..)
    );
    if wrong_kinds { EvalError::WrongKinds } else { EvalError::Failed }
}
