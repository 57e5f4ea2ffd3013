//! What a sound answer is, what of it may leave, and how it is labelled.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{File, Wanted, contract, input, optional, roots::ContractRoots};
use crate::{
    bundle::{
        contract::{
            BodyFormat, DatumSpec, ErrorClass, ErrorRule, FieldLabel, Projection, Response,
        },
        outline::{self, Outline},
        schema::Schema,
        yaml::Node,
    },
    domain::{
        label::{Integrity, Readers},
        pointer::Pointer,
        reason::ReasonCode,
    },
};

/// Largest body a contract may accept, in bytes.
const MAX_BYTES: u32 = 8 << 20;
/// Largest body unless a contract says otherwise, in bytes.
const DEFAULT_BYTES: u64 = 1 << 20;
const KEYS: &[&str] = &[
    "status",
    "content_type",
    "parse",
    "schema",
    "outcome",
    "echo",
    "errors",
    "invariants",
    "project",
    "datum",
    "labels",
    "max_bytes",
];

pub(super) fn read(
    file: &File<'_>,
    node: &Node,
    tool: &str,
    outline: &Outline,
    roots: &ContractRoots,
) -> Option<Response> {
    if !file.map(node, "a response", KEYS) {
        return None;
    }
    let answer = roots.answer(outline.is_read);
    let parse = optional(node, "parse")
        .map_or(Some(BodyFormat::Json), |n| file.member(n, BodyFormat::ALL, BodyFormat::as_str));
    let schema = schema(file, node, parse?);
    let reader = Reader { file, node, response: &outline.response, input: &outline.input };
    let outcome = match optional(node, "outcome") {
        Some(n) if outline.is_read => {
            file.error(n.at, "a read has no `outcome`", "remove it");
            None
        }
        Some(n) => file.expr(n, &answer, Wanted::Text).map(Some),
        None => Some(None),
    };
    let invariants = optional(node, "invariants").map(|n| contract::rules(file, n, &answer));
    let datum = reader.datum(tool, &answer);
    let max_bytes = optional(node, "max_bytes").map_or(Some(DEFAULT_BYTES), |n| {
        let bytes = file.count(n, 1)?;
        if bytes > MAX_BYTES {
            file.error(n.at, "the body may be too large", format!("write at most {MAX_BYTES}"));
            return None;
        }
        Some(u64::from(bytes))
    });
    Some(Response {
        status: reader.status()?,
        content_type: reader.content_type(parse?)?,
        parse: parse?,
        outcome: outcome?,
        echo: reader.echo()?,
        errors: reader.errors()?,
        invariants: invariants.unwrap_or_default(),
        project: reader.projection()?,
        datum: datum?,
        labels: reader.labels()?,
        max_bytes: max_bytes?,
        schema: schema?,
    })
}

fn schema(file: &File<'_>, node: &Node, parse: BodyFormat) -> Option<Schema> {
    match (optional(node, "schema"), parse) {
        (Some(found), BodyFormat::Json | BodyFormat::Mail) => input::compile(file, found),
        (None, BodyFormat::Mail) => Schema::compile(outline::mail_schema()).ok(),
        (None, BodyFormat::Json) => file.required(node, "schema", "a response").and(None),
    }
}

struct Reader<'a, 'p> {
    file: &'a File<'p>,
    node: &'a Node,
    response: &'a Value,
    input: &'a Value,
}

impl Reader<'_, '_> {
    fn status(&self) -> Option<BTreeSet<u16>> {
        let Some(node) = optional(self.node, "status") else { return Some(BTreeSet::from([200])) };
        let mut statuses = BTreeSet::new();
        for item in self.file.one_or_more(node) {
            let status = self.file.integer(item)?;
            match u16::try_from(status) {
                Ok(status) if (200..300).contains(&status) => drop(statuses.insert(status)),
                _ => {
                    self.file.error(
                        item.at,
                        format!("`{status}` is no status of success"),
                        "write statuses from 200 to 299; failures belong under `errors`",
                    );
                    return None;
                }
            }
        }
        Some(statuses)
    }

    fn content_type(&self, parse: BodyFormat) -> Option<String> {
        let Some(node) = optional(self.node, "content_type") else {
            return Some(match parse {
                BodyFormat::Json => "application/json".to_owned(),
                BodyFormat::Mail => "message/rfc822".to_owned(),
            });
        };
        let text = self.file.text(node)?;
        let sound = text.split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"/+.-".contains(&b));
        if !sound {
            self.file.error(
                node.at,
                format!("`{text}` is not a media type"),
                "write it in lower case without parameters, such as `application/json`",
            );
            return None;
        }
        Some(text.to_owned())
    }

    fn echo(&self) -> Option<Vec<Pointer>> {
        let Some(node) = optional(self.node, "echo") else { return Some(Vec::new()) };
        let mut echo = Vec::new();
        for item in self.file.list(node) {
            let pointer = self.file.pointer(item)?;
            for (schema, of) in [(self.input, "argument"), (self.response, "field of the answer")] {
                if input::property(schema, &pointer).is_none() {
                    self.file.error(
                        item.at,
                        format!("`{pointer}` is no {of}"),
                        "echo what the answer repeats of the arguments, at the same pointer",
                    );
                    return None;
                }
            }
            echo.push(pointer);
        }
        Some(echo)
    }

    fn errors(&self) -> Option<Vec<ErrorRule>> {
        let Some(node) = optional(self.node, "errors") else { return Some(Vec::new()) };
        self.file.list(node).iter().map(|item| self.error_rule(item)).collect()
    }

    fn error_rule(&self, node: &Node) -> Option<ErrorRule> {
        let file = self.file;
        if !file.map(node, "an error", &["status", "code_at", "code", "class", "reason"]) {
            return None;
        }
        let status = file.required(node, "status", "an error").and_then(|n| file.count(n, 100));
        let code_at = match optional(node, "code_at") {
            Some(n) => Some(file.pointer(n)?),
            None => None,
        };
        let code = match optional(node, "code") {
            Some(n) => Some(file.text(n)?.to_owned()),
            None => None,
        };
        if code.is_some() != code_at.is_some() {
            file.error(
                node.at,
                "`code` and `code_at` go together",
                "give both: where the code stands, and which it is",
            );
        }
        let class = file
            .required(node, "class", "an error")
            .and_then(|n| file.member(n, ErrorClass::ALL, ErrorClass::as_str));
        let reason =
            optional(node, "reason").map_or(Some(ReasonCode::ToolErrorMapped), |n| reason(file, n));
        let status = u16::try_from(status?).ok().filter(|status| *status < 600);
        if status.is_none() {
            file.error(node.at, "not an HTTP status", "write a status below 600");
        }
        Some(ErrorRule { status: status?, code_at, code, class: class?, reason: reason? })
    }

    fn projection(&self) -> Option<Projection> {
        let Some(node) = optional(self.node, "project") else { return Some(Projection::default()) };
        if node.items().is_some() {
            return Some(Projection { full: Some(self.fields(node)?), claimed: None });
        }
        if !self.file.map(node, "a projection", &["", "claimed"]) {
            return None;
        }
        let side = |name: &str| match optional(node, name) {
            Some(n) => self.fields(n).map(Some),
            None => Some(None),
        };
        let (full, claimed) = (side(""), side("claimed"));
        Some(Projection { full: full?, claimed: claimed? })
    }

    fn fields(&self, node: &Node) -> Option<Vec<Pointer>> {
        self.file.list(node).iter().map(|item| self.field(item.at, self.file.text(item)?)).collect()
    }

    /// A pointer to a field that the response schema has.
    fn field(&self, at: crate::bundle::problem::Place, text: &str) -> Option<Pointer> {
        let pointer = self.file.pointer_text(at, text)?;
        if pointer == Pointer::root() || field_schema(self.response, &pointer).is_some() {
            return Some(pointer);
        }
        let known: Vec<String> =
            input::arguments(self.response).iter().map(ToString::to_string).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        self.file.error(
            at,
            format!("the answer has no field `{pointer}`"),
            super::suggestion(text, &known),
        );
        None
    }

    fn datum(&self, tool: &str, roots: &crate::expr::Roots) -> Option<DatumSpec> {
        let Some(node) = optional(self.node, "datum") else {
            return Some(DatumSpec { kind: tool.to_owned(), display: None });
        };
        if !self.file.map(node, "a datum", &["kind", "display"]) {
            return None;
        }
        let kind = optional(node, "kind").map_or(Some(tool.to_owned()), |n| self.file.name(n));
        let display = match optional(node, "display") {
            Some(n) => self.file.expr(n, roots, Wanted::Scalar).map(Some),
            None => Some(None),
        };
        Some(DatumSpec { kind: kind?, display: display? })
    }

    fn labels(&self) -> Option<BTreeMap<Pointer, FieldLabel>> {
        let Some(node) = optional(self.node, "labels") else { return Some(BTreeMap::new()) };
        let Some(members) = node.members() else {
            self.file.map(node, "labels", &[]);
            return None;
        };
        let mut labels = BTreeMap::new();
        for member in members {
            let pointer = self.field(member.at, &member.name)?;
            labels.insert(pointer, self.label(&member.value)?);
        }
        Some(labels)
    }

    fn label(&self, node: &Node) -> Option<FieldLabel> {
        if !self.file.map(node, "a label", &["integrity", "readers"]) {
            return None;
        }
        let integrity_node = self.file.required(node, "integrity", "a label")?;
        let integrity = self.file.member(integrity_node, Integrity::ALL, Integrity::as_str)?;
        if matches!(integrity, Integrity::Endorsed | Integrity::System) {
            self.file.error(
                integrity_node.at,
                format!("no answer is `{integrity}` by itself"),
                "write untrusted, user or internal: who can write this field",
            );
            return None;
        }
        let readers = optional(node, "readers").map(|n| self.file.words(n)).unwrap_or_default();
        Some(FieldLabel { integrity, readers: Readers::from(readers) })
    }
}

/// The schema of the field at a pointer; an index passes through `items`.
pub(crate) fn field_schema<'s>(schema: &'s Value, at: &Pointer) -> Option<&'s Value> {
    at.tokens().try_fold(schema, |schema, token| {
        let named = schema.get("properties").and_then(|properties| properties.get(&token));
        let is_index = token == "*" || token.bytes().all(|b| b.is_ascii_digit());
        named.or_else(|| schema.get("items").filter(|_| is_index))
    })
}

/// A code of the reason table.
pub(super) fn reason(file: &File<'_>, node: &Node) -> Option<ReasonCode> {
    let text = file.text(node)?;
    let code = ReasonCode::parse(text);
    if code.is_none() {
        let known: Vec<&str> = ReasonCode::ALL.iter().map(|code| code.as_str()).collect();
        let hint = super::suggestion(text, &known);
        let remedy = if hint.starts_with("did") {
            hint
        } else {
            "use a code of the reason table".to_owned()
        };
        file.error(node.at, format!("`{text}` is not a reason code"), remedy);
    }
    code
}
