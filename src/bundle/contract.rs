//! The definition of one tool, compiled: what a contract file of a bundle means once it has loaded.
//!
//! Every expression in here is compiled and every schema is a ready validator, so the hook only calls them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;

use crate::{
    bundle::{schema::Schema, template::Template},
    domain::{
        canonical::Digest,
        contract_terms::{EffectClass, Risk, RoleKind, vocabulary},
        label::{Integrity, Readers},
        pointer::Pointer,
        reason::ReasonCode,
        session::SessionState,
    },
    expr::Expr,
};

/// One tool: what it may be given, what it does, what it answers, and how we find out that it did it.
#[derive(Debug)]
pub struct Contract {
    /// The tool's name, unique in its bundle.
    pub name: String,
    /// The author's version of this definition, from 1.
    pub version: u32,
    /// One sentence for models and approvers.
    pub description: String,
    /// Digest of the contract file's content.
    pub digest: Digest,
    /// The risks of a call; the strictest row of the matrix wins. Never empty.
    pub risks: BTreeSet<Risk>,
    /// The session states in which the tool runs, if the workflow's table allows it too.
    pub states: BTreeSet<SessionState>,
    /// The acts this write or sensitive read performs, by name. Empty for plain reads; a sensitive read without any
    /// is never asked for, so it is always confirmed.
    pub acts: BTreeMap<String, Act>,
    /// The business record the call is about.
    pub resource: Option<Resource>,
    /// What the tool may be given.
    pub input: Input,
    /// Facts read before a decision, by name.
    pub facts: BTreeMap<String, FactUse>,
    /// The facts in waves: every fact of a wave depends only on facts of earlier waves.
    pub fact_waves: Vec<Vec<String>>,
    /// Whether answers of this read may serve as facts (`facts: true`).
    pub serves_facts: bool,
    /// For reads: a condition over `result`; false means that nothing is stored or shown.
    pub relation: Option<Expr>,
    /// For reads: what makes this tool a naming look-up.
    pub names: Option<Names>,
    /// What a write does. `None` for reads.
    pub effect: Option<Effect>,
    /// How the tool is called.
    pub executor: Executor,
    /// What a sound answer is, and what of it may leave.
    pub response: Response,
    /// How the effect is read back. `Some` for every write.
    pub verify: Option<Verify>,
    /// What the agent is told when the tool is not available.
    pub fallback: Option<Fallback>,
    /// The principal's roles that may use the tool at all (`allow: {roles}`); empty: only `authorization.cedar` permits.
    pub allowed_roles: BTreeSet<String>,
}

impl Contract {
    /// How a repetition of the call behaves; `Read` when there is no effect.
    #[must_use]
    pub fn class(&self) -> EffectClass {
        self.effect.as_ref().map_or(EffectClass::Read, |effect| effect.class)
    }

    /// Whether the contract has no effect, so that its calls are reads.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.class() == EffectClass::Read
    }

    /// The fact fields that its expressions read, such as `facts.loan.member_id`.
    #[must_use]
    pub fn fact_paths(&self) -> BTreeSet<String> {
        let mut exprs: Vec<&Expr> = Vec::new();
        for fact in self.facts.values() {
            exprs.extend(fact.relation.iter());
            exprs.extend(fact.agree.iter().map(|rule| &rule.rule));
        }
        if let Some(effect) = &self.effect {
            exprs.extend([&effect.key, &effect.same]);
            exprs.extend(effect.amount.iter());
        }
        let Call::Http(http) = &self.executor.call;
        exprs.extend(http.path.iter().chain(http.headers.values()));
        let mut paths: BTreeSet<String> =
            exprs.iter().flat_map(|expr| expr.reads().iter().cloned()).collect();
        for template in [&http.query, &http.body].into_iter().flatten() {
            paths.extend(template.reads());
        }
        paths.retain(|path| path.starts_with("facts."));
        paths
    }

    /// The role that covers an argument pointer: its own, or that of its nearest ancestor.
    #[must_use]
    pub fn role_of(&self, argument: &Pointer) -> Option<&ArgumentRole> {
        self.input
            .roles
            .iter()
            .filter(|(at, _)| at.holds(argument))
            .max_by_key(|(at, _)| at.as_str().len())
            .map(|(_, role)| role)
    }
}

/// One act of a write and the words that may ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Phrases by language; they count only where the bundle permits words for the contract's risks.
    pub words: BTreeMap<String, Vec<String>>,
}

/// The typed record a call is about.
#[derive(Debug)]
pub struct Resource {
    /// The record type, such as `Loan`.
    pub ty: String,
    /// Its id, over the arguments.
    pub id: Expr,
}

/// What a tool may be given.
#[derive(Debug)]
pub struct Input {
    /// The arguments' JSON Schema (2020-12, closed, an object).
    pub schema: Schema,
    /// One role for every argument, by pointer; a role covers everything below its pointer.
    pub roles: BTreeMap<Pointer, ArgumentRole>,
    /// Defaults of top-level and nested `properties`, shallow ones first.
    pub defaults: Vec<(Pointer, Value)>,
}

/// What an argument is for, and how its value may become clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentRole {
    /// The role.
    pub kind: RoleKind,
    /// The record type of a `target` or `recipient`, such as `Loan`.
    pub ty: Option<String>,
    /// Endorsement rules that may be tried on the value, in this order.
    pub endorse: Vec<Endorsement>,
    /// Every member of the closed set was declared harmless (`because` says why).
    pub harmless: bool,
    /// The author's reason, required with `harmless`.
    pub because: Option<String>,
}

vocabulary! {
    /// A named endorsement rule.
    Endorsement {
        /// The value selects exactly one record and the declared relation to the subject holds.
        Reconciled = "reconciled",
        /// The value is a member of a closed set or bounded range of the contract.
        Enumerated = "enumerated",
        /// The principal chose exactly this value.
        Confirmed = "confirmed",
    }
}

impl Endorsement {
    /// The rule with its version, as recorded: `reconciled@1`.
    #[must_use]
    pub const fn versioned(self) -> &'static str {
        match self {
            Self::Reconciled => "reconciled@1",
            Self::Enumerated => "enumerated@1",
            Self::Confirmed => "confirmed@1",
        }
    }
}

/// One fact a decision needs.
#[derive(Debug)]
pub struct FactUse {
    /// Its name under `facts.`.
    pub name: String,
    /// The read tool that answers it.
    pub tool: String,
    /// The read's arguments.
    pub args: BTreeMap<String, Expr>,
    /// Entitlement; false is a refusal (`identity_mismatch`).
    pub relation: Option<Expr>,
    /// Rules that facts must agree with; false is the matrix column "facts contradict".
    pub agree: Vec<Rule>,
    /// How old the answer may be when it is used.
    pub max_age: Duration,
}

/// A named rule that must evaluate to `true`.
#[derive(Debug)]
pub struct Rule {
    /// Name, unique within the contract.
    pub id: String,
    /// The condition.
    pub rule: Expr,
}

/// What a write does to the world.
#[derive(Debug)]
pub struct Effect {
    /// Name under which key and `same` are unique per tenant; the tool's name unless given.
    pub name: String,
    /// `{"minor": …, "currency": …}` computed by the daemon.
    pub amount: Option<Expr>,
    /// An amount above this is refused.
    pub amount_max: Option<Money>,
    /// Identity of the request: a list.
    pub key: Expr,
    /// Identity of the business effect, without session: a list.
    pub same: Expr,
    /// How a repetition behaves; never `Read`.
    pub class: EffectClass,
    /// How to find out whether a lost request acted.
    pub reconcile: Option<Reconcile>,
}

/// Money in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// Integer count of the currency's smallest unit.
    pub minor: i64,
    /// ISO 4217 code.
    pub currency: String,
}

/// A look-up that tells whether an effect happened.
#[derive(Debug)]
pub struct Reconcile {
    /// The read tool.
    pub tool: String,
    /// Its arguments.
    pub args: BTreeMap<String, Expr>,
    /// Over the look-up's `result`: the effect happened.
    pub happened: Expr,
    /// Over the look-up's `result`: it did not.
    pub did_not_happen: Expr,
    /// Whether *did not happen* is final, so that a reconcilable write may go on.
    pub conclusive: bool,
    /// The write's result, taken from the look-up's `result`.
    pub result: Option<Expr>,
}

/// How a tool is called.
#[derive(Debug)]
pub struct Executor {
    /// The kind of call.
    pub call: Call,
    /// Deadline of one attempt.
    pub timeout: Duration,
}

/// The kinds of tools.
#[derive(Debug)]
pub enum Call {
    /// HTTP with a JSON body.
    Http(HttpCall),
}

/// An HTTP call; base URL and secrets come from the daemon's configuration.
#[derive(Debug)]
pub struct HttpCall {
    /// Name of a configured endpoint.
    pub endpoint: String,
    /// The method.
    pub method: HttpMethod,
    /// Path segments; each result is sent as one percent-encoded segment.
    pub path: Vec<Expr>,
    /// Query parameters: an object template whose members are texts or integers.
    pub query: Option<Template>,
    /// The JSON body.
    pub body: Option<Template>,
    /// Headers.
    pub headers: BTreeMap<String, Expr>,
    /// The header that carries the provider key.
    pub idempotency_header: Option<String>,
}

vocabulary! {
    /// HTTP methods a contract may use.
    HttpMethod {
        /// Reads.
        Get = "GET",
        /// Creates, or does.
        Post = "POST",
        /// Replaces.
        Put = "PUT",
        /// Changes.
        Patch = "PATCH",
        /// Removes.
        Delete = "DELETE",
    }
}

/// What a sound answer is.
#[derive(Debug)]
pub struct Response {
    /// Statuses of success.
    pub status: BTreeSet<u16>,
    /// The media type, without parameters, such as `application/json`.
    pub content_type: String,
    /// How the body becomes JSON.
    pub parse: BodyFormat,
    /// The schema of the answer (of what `parse` made of it).
    pub schema: Schema,
    /// `"done"` or `"pending"`; absent: done.
    pub outcome: Option<Expr>,
    /// Members that must equal the argument at the same pointer.
    pub echo: Vec<Pointer>,
    /// Answers that mean a known failure.
    pub errors: Vec<ErrorRule>,
    /// Conditions over the answer.
    pub invariants: Vec<Rule>,
    /// What may leave the post-hook.
    pub project: Projection,
    /// How the answer is kept.
    pub datum: DatumSpec,
    /// Labels by pointer of the answer; the root is `''`, and `*` stands for any index. See [`Response::label_at`].
    pub labels: BTreeMap<Pointer, FieldLabel>,
    /// Cap of the body, in bytes.
    pub max_bytes: u64,
}

impl Response {
    /// The label written for a place of the answer or for its nearest ancestor; `None`: untrusted, no readers.
    #[must_use]
    pub fn label_at(&self, at: &Pointer) -> Option<&FieldLabel> {
        let tokens: Vec<String> = at.tokens().collect();
        let covers = |pattern: &Pointer| {
            let mut place = tokens.iter();
            pattern
                .tokens()
                .all(|token| place.next().is_some_and(|here| token == "*" || token == *here))
        };
        let covering = self.labels.iter().filter(|(pattern, _)| covers(pattern));
        covering.max_by_key(|(pattern, _)| pattern.tokens().count()).map(|(_, label)| label)
    }
}

vocabulary! {
    /// How a body becomes JSON.
    BodyFormat {
        /// Strict JSON.
        Json = "json",
        /// A mail (RFC 5322), read into `{from, to, subject, date, body, quoted, attachments}`, all untrusted.
        Mail = "mail",
    }
}

/// An answer that means a known failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRule {
    /// The status it comes with.
    pub status: u16,
    /// Where in the body a code stands.
    pub code_at: Option<Pointer>,
    /// The code; absent: any.
    pub code: Option<String>,
    /// Whether another attempt can help.
    pub class: ErrorClass,
    /// The code it gets.
    pub reason: ReasonCode,
}

vocabulary! {
    /// Whether another attempt can help.
    ErrorClass {
        /// It can.
        Retryable = "retryable",
        /// It cannot.
        NonRetryable = "non_retryable",
    }
}

/// What may leave the post-hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projection {
    /// Pointers for an identified subject; `None`: everything.
    pub full: Option<Vec<Pointer>>,
    /// Pointers when the subject is only claimed; `None`: nothing.
    pub claimed: Option<Vec<Pointer>>,
}

/// How an answer is kept as a datum.
#[derive(Debug)]
pub struct DatumSpec {
    /// Kind and handle prefix, such as `loan`.
    pub kind: String,
    /// The business id shown for the handle, over `result`.
    pub display: Option<Expr>,
}

/// The label of a response field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldLabel {
    /// Who can write the field.
    pub integrity: Integrity,
    /// Who may read it.
    pub readers: Readers,
}

/// How the effect is read back.
#[derive(Debug)]
pub struct Verify {
    /// The read tool.
    pub tool: String,
    /// Its arguments.
    pub args: BTreeMap<String, Expr>,
    /// How long the effect may take to show.
    pub within: Duration,
    /// Conditions over `after`.
    pub rules: Vec<Rule>,
}

/// What makes a read a naming look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The field whose value names a record.
    pub by: Pointer,
    /// Whether the look-up covers every record visible to the principal.
    pub complete: bool,
}

/// What the agent is told when the tool is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The safe next step.
    pub next: FallbackStep,
    /// A code of the author's catalogue.
    pub message: String,
}

vocabulary! {
    /// Safe next steps.
    FallbackStep {
        /// Hand the case to a person.
        HandOver = "hand_over",
        /// Try again later.
        RetryLater = "retry_later",
        /// Go on without the tool.
        GoOn = "go_on",
    }
}
