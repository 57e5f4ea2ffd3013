//! How a tool is called.

use std::{collections::BTreeMap, time::Duration};

use super::{File, Wanted, optional, roots::ContractRoots};
use crate::{
    bundle::{
        contract::{Call, Executor, HttpCall, HttpMethod},
        template::{Member, Template},
        yaml::{Node, NodeKind},
    },
    expr::{Expr, Roots},
};

/// Longest deadline of one attempt.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);
/// Headers that belong to the transport or to the endpoint's configuration.
const RESERVED_HEADERS: &[&str] = &[
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "accept",
    "cookie",
    "expect",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "accept-encoding",
];

pub(super) fn read(
    file: &File<'_>,
    node: &Node,
    is_read: bool,
    roots: &ContractRoots,
) -> Option<Executor> {
    if !file.map(node, "an executor", &["http", "timeout"]) {
        return None;
    }
    let roots = if is_read { roots.read_request() } else { roots.request() };
    let http =
        file.required(node, "http", "an executor").and_then(|n| http(file, n, is_read, &roots));
    let timeout = optional(node, "timeout")
        .map_or(Some(Duration::from_secs(3)), |n| file.duration(n, MAX_TIMEOUT));
    Some(Executor { call: Call::Http(http?), timeout: timeout? })
}

fn http(file: &File<'_>, node: &Node, is_read: bool, roots: &Roots) -> Option<HttpCall> {
    let keys = ["endpoint", "method", "path", "query", "headers", "body", "idempotency_header"];
    if !file.map(node, "an HTTP call", &keys) {
        return None;
    }
    let endpoint = file.required(node, "endpoint", "an HTTP call").and_then(|n| file.word(n));
    let method = method(file, node, is_read);
    let path = path(file, node, roots);
    let query = match optional(node, "query") {
        Some(n) => query(file, n, roots).map(Some),
        None => Some(None),
    };
    let headers = headers(file, node, roots);
    let body = match optional(node, "body") {
        Some(n) => template(file, n, roots).map(Some),
        None => Some(None),
    };
    if let (Some(HttpMethod::Get | HttpMethod::Delete), Some(n)) = (method, node.get("body")) {
        file.error(n.at, "a request of this method has no body", "use `query`, or another method");
    }
    let idempotency_header = match optional(node, "idempotency_header") {
        Some(n) if is_read => {
            file.error(n.at, "a read has no idempotency key", "remove it");
            None
        }
        Some(n) => header_name(file, n).map(Some),
        None => Some(None),
    };
    Some(HttpCall {
        endpoint: endpoint?,
        method: method?,
        path: path?,
        query: query?,
        body: body?,
        headers: headers?,
        idempotency_header: idempotency_header?,
    })
}

fn method(file: &File<'_>, node: &Node, is_read: bool) -> Option<HttpMethod> {
    let found = optional(node, "method");
    let Some(method_node) = found else {
        if is_read {
            return Some(HttpMethod::Get);
        }
        return file.required(node, "method", "a write's HTTP call").and(None);
    };
    let method = file.member(method_node, HttpMethod::ALL, HttpMethod::as_str)?;
    match (is_read, method) {
        (true, HttpMethod::Get) => {}
        (true, HttpMethod::Post) => file.warn(
            method_node.at,
            "a read by POST",
            "make sure that it changes nothing; otherwise describe its `effect`",
        ),
        (true, HttpMethod::Put | HttpMethod::Patch | HttpMethod::Delete) => {
            file.error(
                method_node.at,
                format!("`{method}` changes something, and this is a read"),
                "use GET, or describe its `effect`",
            );
            return None;
        }
        (false, HttpMethod::Get) => {
            file.error(method_node.at, "a write by GET", "use POST, PUT, PATCH or DELETE");
            return None;
        }
        (false, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch | HttpMethod::Delete) => {}
    }
    Some(method)
}

fn path(file: &File<'_>, node: &Node, roots: &Roots) -> Option<Vec<Expr>> {
    let path_node = file.required(node, "path", "an HTTP call")?;
    let items = file.list(path_node);
    let segments: Vec<Expr> =
        items.iter().filter_map(|item| file.expr(item, roots, Wanted::Scalar)).collect();
    (segments.len() == items.len()).then_some(segments)
}

fn query(file: &File<'_>, node: &Node, roots: &Roots) -> Option<Template> {
    let template = template(file, node, roots)?;
    let flat = |value: &Template| match value {
        Template::Expr(_) => true,
        Template::Literal(value) => value.is_string() || value.is_i64() || value.is_boolean(),
        Template::List(_) | Template::Object(_) => false,
    };
    match &template {
        Template::Object(members) if members.values().all(|member| flat(&member.value)) => {
            Some(template)
        }
        Template::Object(_) | Template::List(_) | Template::Expr(_) | Template::Literal(_) => {
            file.error(
                node.at,
                "a query is a map of single values",
                "write `query: { name: '…' }`",
            );
            None
        }
    }
}

fn headers(file: &File<'_>, node: &Node, roots: &Roots) -> Option<BTreeMap<String, Expr>> {
    let Some(headers_node) = optional(node, "headers") else { return Some(BTreeMap::new()) };
    let Some(members) = headers_node.members() else {
        file.map(headers_node, "headers", &[]);
        return None;
    };
    let mut headers = BTreeMap::new();
    for member in members {
        let name = check_header(file, member.at, &member.name)?;
        headers.insert(name, file.expr(&member.value, roots, Wanted::Text)?);
    }
    Some(headers)
}

fn header_name(file: &File<'_>, node: &Node) -> Option<String> {
    let text = file.text(node)?;
    check_header(file, node.at, text)
}

fn check_header(file: &File<'_>, at: crate::bundle::problem::Place, text: &str) -> Option<String> {
    let token = !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !token {
        file.error(at, format!("`{text}` is not a header name"), "use letters, digits and `-`");
        return None;
    }
    if RESERVED_HEADERS.contains(&text.to_ascii_lowercase().as_str()) {
        file.error(
            at,
            format!("a contract does not set `{text}`"),
            "secrets and transport headers belong to the daemon's configuration of the endpoint",
        );
        return None;
    }
    Some(text.to_owned())
}

/// A value whose texts are expressions; a member name that ends in `?` may be left out.
fn template(file: &File<'_>, node: &Node, roots: &Roots) -> Option<Template> {
    match &node.kind {
        NodeKind::Text(_) => file.expr(node, roots, Wanted::Anything).map(Template::Expr),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {
            Some(Template::Literal(node.to_json()))
        }
        NodeKind::List(items) => {
            let parts: Vec<Template> =
                items.iter().filter_map(|item| template(file, item, roots)).collect();
            (parts.len() == items.len()).then_some(Template::List(parts))
        }
        NodeKind::Map(members) => {
            let mut parts = BTreeMap::new();
            let mut sound = true;
            for member in members {
                let (name, optional) = match member.name.strip_suffix('?') {
                    Some(name) => (name.to_owned(), true),
                    None => (member.name.clone(), false),
                };
                let value = if optional {
                    optional_value(file, &member.value, roots)
                } else {
                    template(file, &member.value, roots)
                };
                match value {
                    Some(value) => drop(parts.insert(name, Member { optional, value })),
                    None => sound = false,
                }
            }
            sound.then_some(Template::Object(parts))
        }
    }
}

/// The value of a `name?` member: one path, which may be absent; then the member is left out.
fn optional_value(file: &File<'_>, node: &Node, roots: &Roots) -> Option<Template> {
    let source = file.text(node)?;
    let path = source.split('.').collect::<Vec<_>>();
    let is_path = path.len() > 1
        && path.iter().all(|step| {
            !step.is_empty() && step.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
    if !is_path {
        file.error(
            node.at,
            format!("`{source}` is not a path"),
            "a member that may be left out takes one path, such as `args.note`",
        );
        return None;
    }
    // Guarded here, and left out by `Template::render` when the path is absent.
    let guards: Vec<String> = (2..=path.len())
        .filter_map(|steps| Some(format!("has({})", path.get(..steps)?.join("."))))
        .collect();
    match Expr::compile(&format!("{} ? {source} : null", guards.join(" && ")), roots) {
        Ok(expr) => Some(Template::Expr(expr)),
        Err(error) => {
            file.error(node.at, error.to_string(), format!("the path is `{source}`"));
            None
        }
    }
}
