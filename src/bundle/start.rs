//! First files: a bundle that loads, and a contract that loads in it. Their comments teach.

use std::collections::BTreeMap;

use super::{Bundle, contract::Contract};
use crate::domain::pointer::Pointer;

/// The files of a new bundle, by relative path.
#[must_use]
pub fn new_bundle(name: &str) -> BTreeMap<String, String> {
    let fill = |text: &str| text.replace("NAME", name);
    [
        ("bundle.yaml", fill(include_str!("start/bundle.yaml"))),
        ("contracts/get_item.yaml", fill(include_str!("start/get_item.yaml"))),
        ("authorization.cedar", fill(include_str!("start/authorization.cedar"))),
        ("fixtures/first.yaml", fill(include_str!("start/first.yaml"))),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .into()
}

/// What a new contract does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Changes nothing.
    Read,
    /// Changes something.
    Write,
}

/// A new contract, and the bundle's manifest with its name added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContract {
    /// The path of the contract.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The new text of `bundle.yaml`.
    pub manifest: String,
    /// What is left to do by hand.
    pub next: Vec<String>,
}

/// Why there is no new contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Not a name.
    #[error("`{0}` is not a name: use lower-case letters, digits and `_`, beginning with a letter")]
    Name(String),
    /// It exists.
    #[error("the bundle already has a contract `{0}`")]
    Exists(String),
    /// A write needs a read that can answer its fact.
    #[error(
        "a write needs a read with a `resource` and `facts: true` to look its record up: write one first"
    )]
    NoRead,
    /// The manifest's list could not be found.
    #[error("no `contracts:` list was found in bundle.yaml: add `{0}` to it by hand")]
    NoList(String),
}

/// Drafts a contract for a bundle.
///
/// # Errors
/// A bad name, one that exists, a write without a read to look its record up, or a manifest that cannot be amended.
pub fn new_contract(bundle: &Bundle, name: &str, kind: Kind) -> Result<NewContract, StartError> {
    if !super::read::is_name(name) {
        return Err(StartError::Name(name.to_owned()));
    }
    if bundle.contracts.contains_key(name) {
        return Err(StartError::Exists(name.to_owned()));
    }
    let text = match kind {
        Kind::Read => include_str!("start/read.yaml").replace("NAME", name),
        Kind::Write => write_contract(bundle, name)?,
    };
    let manifest = bundle.sources.get("bundle.yaml").map(|bytes| String::from_utf8_lossy(bytes));
    let manifest = amended(manifest.as_deref().unwrap_or_default(), "contracts:", name)
        .ok_or_else(|| StartError::NoList(name.to_owned()))?;
    let mut next = Vec::new();
    if bundle.sources.contains_key("workflow.yaml") {
        next.push(format!("name `{name}` in workflow.yaml, under `scope: tools` and under the states in which it runs"));
    }
    if kind == Kind::Write
        && bundle.approvals.rules.iter().all(|rule| !rule.applies.tools.is_empty())
    {
        next.push(format!(
            "name `{name}` in the approvals file, in the rule that is to decide about it"
        ));
    }
    next.push("change what the comments ask for, then run `stateguard policy check`".to_owned());
    next.push(format!(
        "add a case for `{name}` to a fixture file and run `stateguard policy test`"
    ));
    Ok(NewContract { path: format!("contracts/{name}.yaml"), text, manifest, next })
}

/// A write about the record that an existing read answers.
fn write_contract(bundle: &Bundle, name: &str) -> Result<String, StartError> {
    let read = bundle
        .contracts
        .values()
        .find(|c| c.serves_facts && c.resource.is_some() && first_argument(c).is_some())
        .ok_or(StartError::NoRead)?;
    let (Some(resource), Some(argument)) = (&read.resource, first_argument(read)) else {
        return Err(StartError::NoRead);
    };
    let property = argument_schema(read, &argument);
    let fact = read.name.trim_start_matches("get_").trim_start_matches("read_");
    let echo = read.response.schema.source().pointer(&format!("/properties/{argument}")).is_some();
    let (answer, rule) = if echo {
        (argument.clone(), format!("after.{argument} == args.{argument}"))
    } else {
        ("id".to_owned(), "true".to_owned())
    };
    let relation = match owner(read) {
        Some(field) => format!("    relation: 'facts.{fact}.{field} == subject.id'      # false: a refusal; whose record is it?\n"),
        None => "    # relation: 'facts.….owner_id == subject.id'         # false: a refusal; whose record is it?\n".to_owned(),
    };
    let endorse = if owner(read).is_some() { ", endorse: [reconciled]" } else { "" };
    let super::contract::Call::Http(call) = &read.executor.call;
    Ok(include_str!("start/write.yaml")
        .replace("NAME", name)
        .replace("READ", &read.name)
        .replace("TYPE", &resource.ty)
        .replace("FACT", fact)
        .replace("ENDPOINT", &call.endpoint)
        .replace("PROPERTY", &property)
        .replace("ENDORSE", endorse)
        .replace("RELATION\n", &relation)
        .replace("ANSWER", &answer)
        .replace("RULE", &rule)
        .replace("ARGUMENT", &argument))
}

/// The one required argument of a read.
fn first_argument(contract: &Contract) -> Option<String> {
    let required = contract.input.schema.source().get("required")?.as_array()?;
    match required.as_slice() {
        [only] => only.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Its schema in one line of YAML (JSON is YAML).
fn argument_schema(contract: &Contract, argument: &str) -> String {
    let at = Pointer::root().child("properties").child(argument);
    at.get(contract.input.schema.source()).map(ToString::to_string).unwrap_or_default()
}

/// The field of an answer that says whose record it is.
fn owner(contract: &Contract) -> Option<String> {
    let properties = contract.response.schema.source().get("properties")?.as_object()?;
    let required = contract.response.schema.source().get("required")?.as_array()?;
    let names = ["owner_id", "customer_id", "member_id", "user_id", "account_id"];
    let found = names.into_iter().find(|name| {
        properties.contains_key(*name) && required.iter().any(|r| r.as_str() == Some(name))
    });
    found.map(str::to_owned)
}

/// The manifest with one more fixture file; `None` when it has no list of them.
#[must_use]
pub fn with_fixtures(manifest: &str, file: &str) -> Option<String> {
    amended(manifest, "fixtures:", file)
}

/// The manifest with one more item in one of its lists.
fn amended(manifest: &str, list: &str, name: &str) -> Option<String> {
    let mut lines: Vec<String> = manifest.lines().map(str::to_owned).collect();
    let start = lines.iter().position(|line| line.starts_with(list))?;
    let first = lines.get_mut(start)?;
    if let Some(end) = first.find(']') {
        let separator = if first.get(..end)?.trim_end().ends_with('[') { "" } else { ", " };
        first.insert_str(end, &format!("{separator}{name}"));
    } else {
        let items =
            lines.iter().skip(start + 1).take_while(|line| line.trim_start().starts_with("- "));
        let count = items.count();
        let last = lines.get(start + count)?.clone();
        let indent: String = last.chars().take_while(|c| c.is_whitespace()).collect();
        if count == 0 {
            return None;
        }
        lines.insert(start + count + 1, format!("{indent}- {name}"));
    }
    Some(lines.join("\n") + "\n")
}
