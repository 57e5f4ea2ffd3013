//! Owns: CEL: compile with caps, evaluate with caps, list what an expression reads.
//! Must not know: who asks and why.
//! Start reading at: `mod.rs`.

mod check;
mod convert;
mod error;
mod functions;
mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

pub use self::{
    error::{EvalError, ExprError, Problem},
    shape::{Field, Kind, Roots, Shape},
};
use crate::domain::clock::Timestamp;

/// Longest source of one expression, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1024;
/// Deepest bracket nesting of a source; what is deeper would need a deep stack only to be parsed.
pub const MAX_BRACKETS: usize = 32;
/// Deepest tree that is evaluated on a worker's stack.
pub const MAX_TREE_DEPTH: usize = 48;
/// Deepest nesting of `all`, `exists`, `exists_one`, `map` and `filter`.
pub const MAX_LOOP_NESTING: usize = 2;
/// Most loop steps one evaluation can take: the widest container read, to the power of the nesting.
pub const MAX_LOOP_STEPS: u64 = 1_000_000;
/// Stack of the thread that parses, in bytes. Parsing is recursive and does not unwind when it runs out.
const PARSER_STACK_BYTES: usize = 64 << 20;

/// A compiled expression.
#[derive(Clone)]
pub struct Expr {
    inner: Arc<Inner>,
}

struct Inner {
    source: String,
    program: cel::Program,
    reads: BTreeSet<String>,
    roots: BTreeSet<String>,
    kind: Kind,
    shape: Arc<Shape>,
    loop_nesting: u32,
}

impl Expr {
    /// Parses `source` and checks it against what `roots` says exists.
    ///
    /// # Errors
    /// Whatever could only fail later: syntax, unknown roots, fields and functions, optional fields without a `has`
    /// guard, comparisons that can never hold, sources over the caps.
    pub fn compile(source: &str, roots: &Roots) -> Result<Self, ExprError> {
        check_size(source)?;
        let (text, shapes) = (source.to_owned(), roots.clone());
        let parsed = std::thread::Builder::new()
            .stack_size(PARSER_STACK_BYTES)
            .spawn(move || compile_here(&text, &shapes))
            .map_err(|_| ExprError::whole(Problem::NoParser))?
            .join()
            .map_err(|_| ExprError::whole(Problem::NoParser))?;
        Ok(Self { inner: Arc::new(parsed?) })
    }

    /// The value of the expression, as JSON with sorted members.
    ///
    /// # Errors
    /// Everything that is not a value; the text holds no data.
    pub fn eval(&self, bindings: &Bindings) -> Result<Value, EvalError> {
        let value = self.run(bindings)?;
        convert::to_json(&value)
    }

    /// Whether the expression is `true`.
    ///
    /// # Errors
    /// It does not evaluate, or to something else than `true` or `false`. Callers treat that as *false* for a
    /// permission and as *violated* for an invariant.
    pub fn eval_true(&self, bindings: &Bindings) -> Result<bool, EvalError> {
        let value = self.run(bindings)?;
        if let cel::Value::Bool(answer) = value {
            return Ok(answer);
        }
        Err(EvalError::NotTrueOrFalse { found: value.type_of().to_string() })
    }

    /// The text it was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// The paths it reads, such as `facts.loan.member_id`; a path ends where an index or a loop begins.
    #[must_use]
    pub fn reads(&self) -> &BTreeSet<String> {
        &self.inner.reads
    }

    /// What it evaluates to, as far as that is certain.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// The shape of its value, as far as that is certain.
    #[must_use]
    pub fn shape(&self) -> &Arc<Shape> {
        &self.inner.shape
    }

    fn run(&self, bindings: &Bindings) -> Result<cel::Value, EvalError> {
        let mut context = cel::Context::with_env(environment());
        let mut widest = 1;
        for root in &self.inner.roots {
            let bound = bindings
                .roots
                .get(root)
                .ok_or_else(|| EvalError::Unbound { root: root.clone() })?;
            widest = widest.max(bound.widest);
            let value = bound.cel.clone().map_err(|fault| fault.in_root(root))?;
            context.add_variable_from_value(root.clone(), value);
        }
        if widest.saturating_pow(self.inner.loop_nesting) > MAX_LOOP_STEPS {
            return Err(EvalError::TooCostly);
        }
        self.inner.program.execute(&context).map_err(|error| error::from_cel(&error))
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expr").field(&self.inner.source).finish()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.source)
    }
}

fn check_size(source: &str) -> Result<(), ExprError> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(ExprError::whole(Problem::TooLong { bytes: source.len() }));
    }
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > MAX_BRACKETS {
        return Err(ExprError::whole(Problem::TooDeep));
    }
    Ok(())
}

/// Runs on the parser's own stack, where a refused tree is also dropped.
fn compile_here(source: &str, roots: &Roots) -> Result<Inner, ExprError> {
    let program = environment().compile(source).map_err(|errors| error::from_parse(&errors))?;
    let checked = check::check(&program, roots)?;
    Ok(Inner {
        source: source.to_owned(),
        program,
        reads: checked.reads,
        roots: checked.roots,
        kind: checked.kind,
        shape: checked.shape,
        loop_nesting: checked.loop_nesting,
    })
}

fn environment() -> Arc<cel::Env> {
    static ENVIRONMENT: OnceLock<Arc<cel::Env>> = OnceLock::new();
    Arc::clone(ENVIRONMENT.get_or_init(|| Arc::new(functions::environment())))
}

/// The values an evaluation sees, by root name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    roots: BTreeMap<String, Arc<Bound>>,
}

#[derive(Debug)]
struct Bound {
    json: Value,
    cel: Result<cel::Value, convert::Fault>,
    widest: u64,
}

impl Bindings {
    /// Nothing bound.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a root, replacing what was there. `now` takes integer microseconds and becomes a timestamp.
    pub fn bind(&mut self, root: &str, value: Value) -> &mut Self {
        let cel = match (root, value.as_i64()) {
            ("now", Some(micros)) => convert::timestamp(micros),
            _ => convert::to_cel(&value),
        };
        let widest = convert::widest(&value);
        self.roots.insert(root.to_owned(), Arc::new(Bound { json: value, cel, widest }));
        self
    }

    /// Binds `now`.
    pub fn bind_now(&mut self, now: Timestamp) -> &mut Self {
        self.bind("now", Value::from(now.micros()))
    }

    /// The JSON bound at a dotted path, such as `facts.loan.member_id`.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&Value> {
        let mut steps = path.split('.');
        let root = self.roots.get(steps.next()?)?;
        steps.try_fold(&root.json, |value, step| value.get(step))
    }

    /// Whether a dotted path is bound and not null.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.value(path).is_some_and(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests;
