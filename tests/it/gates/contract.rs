//! The contract that the corpus is judged by: a book of a library.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use stateguard::{
    bundle::{
        contract::{
            BodyFormat, Call, Contract, DatumSpec, ErrorClass, ErrorRule, Executor, FieldLabel,
            HttpCall, HttpMethod, Input, Projection, Response, Rule,
        },
        schema::Schema,
    },
    domain::{
        canonical::Digest,
        contract_terms::Risk,
        label::{Integrity, Readers},
        pointer::Pointer,
        reason::ReasonCode,
    },
    expr::{Expr, Roots, Shape},
};

/// What a case changes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Overrides {
    pub(super) status: Option<BTreeSet<u16>>,
    pub(super) content_type: Option<String>,
    pub(super) parse: Option<String>,
    pub(super) max_bytes: Option<u64>,
    /// Another schema; echo and invariants are left out with it.
    pub(super) schema: Option<Value>,
    /// The schema allows further fields.
    pub(super) open: bool,
    /// Further properties of the schema.
    pub(super) declares: BTreeMap<String, Value>,
    pub(super) errors: Option<Vec<ErrorCase>>,
    pub(super) relation: bool,
    pub(super) outcome: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorCase {
    status: u16,
    code_at: String,
    code: String,
    class: String,
    reason: String,
}

fn at(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

fn expr(source: &str) -> Expr {
    let names = ["result", "args", "subject"];
    let roots = names.iter().fold(Roots::new(), |roots, name| roots.with(name, Shape::Any));
    Expr::compile(source, &roots).unwrap()
}

fn book_schema(changed: &Overrides) -> Value {
    let mut schema = json!({
        "type": "object",
        "additionalProperties": changed.open,
        "required": ["book_id", "title", "copies", "state"],
        "properties": {
            "book_id": {"type": "string", "pattern": "^bk_[0-9]{1,6}$"},
            "title": {"type": "string", "maxLength": 200},
            "copies": {"type": "integer", "minimum": 0},
            "lent": {"type": "integer", "minimum": 0},
            "state": {"type": "string", "enum": ["lent", "on_shelf"]},
            "kind": {"anyOf": [{"enum": ["paper"]}, {"type": "string", "maxLength": 20}]},
            "lender": {"type": "string"},
            "due": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string", "x-any-character": true},
        }
    });
    for (name, declared) in &changed.declares {
        schema["properties"][name] = declared.clone();
    }
    schema
}

fn error_rule(rule: &ErrorCase) -> ErrorRule {
    ErrorRule {
        status: rule.status,
        code_at: Some(at(&rule.code_at)),
        code: Some(rule.code.clone()),
        class: ErrorClass::parse(&rule.class).unwrap(),
        reason: ReasonCode::parse(&rule.reason).unwrap(),
    }
}

fn response(changed: &Overrides) -> Response {
    let is_mail = changed.parse.as_deref() == Some("mail");
    let plain = is_mail || changed.schema.is_some();
    let schema = match &changed.schema {
        Some(schema) => schema.clone(),
        None if is_mail => json!({"type": "object"}),
        None => book_schema(changed),
    };
    let not_lendable = ErrorCase {
        status: 409,
        code_at: "/error/code".to_owned(),
        code: "not_lendable".to_owned(),
        class: "non_retryable".to_owned(),
        reason: "tool_refused".to_owned(),
    };
    let invariant = Rule {
        id: "lent_within_copies".to_owned(),
        rule: expr("!has(result.lent) || result.lent <= result.copies"),
    };
    let errors = changed.errors.as_deref().unwrap_or(std::slice::from_ref(&not_lendable));
    Response {
        status: changed.status.clone().unwrap_or_else(|| [200, 201].into()),
        content_type: changed.content_type.clone().unwrap_or("application/json".to_owned()),
        parse: if is_mail { BodyFormat::Mail } else { BodyFormat::Json },
        schema: Schema::compile(schema).unwrap(),
        outcome: changed.outcome.then(|| expr(r#"result.state == "lent" ? "done" : "pending""#)),
        echo: if plain { Vec::new() } else { vec![at("/book_id")] },
        errors: errors.iter().map(error_rule).collect(),
        invariants: if plain { Vec::new() } else { vec![invariant] },
        project: Projection {
            full: (!plain).then(|| vec![at("/book_id"), at("/title"), at("/state")]),
            claimed: Some(vec![at("/state")]),
        },
        datum: DatumSpec {
            kind: "book".to_owned(),
            display: (!plain).then(|| expr("result.book_id")),
        },
        labels: BTreeMap::from([
            (at(""), FieldLabel { integrity: Integrity::Internal, readers: Readers::Public }),
            (
                at("/title"),
                FieldLabel { integrity: Integrity::Untrusted, readers: Readers::Public },
            ),
        ]),
        max_bytes: changed.max_bytes.unwrap_or(1 << 20),
    }
}

/// The read of one book.
pub(super) fn get_book(changed: &Overrides) -> Contract {
    let path = ["\"v1\"", "\"books\"", "args.book_id"].map(expr).into();
    Contract {
        name: "get_book".to_owned(),
        version: 1,
        description: "One book of the library.".to_owned(),
        digest: Digest::of(b"get_book"),
        risks: [Risk::Read].into(),
        states: BTreeSet::new(),
        acts: BTreeMap::new(),
        resource: None,
        input: Input {
            schema: Schema::compile(json!({"type": "object"})).unwrap(),
            roles: BTreeMap::new(),
            defaults: Vec::new(),
        },
        facts: BTreeMap::new(),
        fact_waves: Vec::new(),
        serves_facts: true,
        relation: changed.relation.then(|| expr("result.lender == subject.id")),
        names: None,
        effect: None,
        executor: Executor {
            call: Call::Http(HttpCall {
                endpoint: "library".to_owned(),
                method: HttpMethod::Get,
                path,
                query: None,
                body: None,
                headers: BTreeMap::new(),
                idempotency_header: None,
            }),
            timeout: Duration::from_secs(2),
        },
        response: response(changed),
        verify: None,
        fallback: None,
        allowed_roles: BTreeSet::new(),
    }
}
