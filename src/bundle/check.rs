//! Rules that hold between the parts of a bundle.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Approvals, Workflow,
    contract::{Call, Contract, Endorsement, HttpCall},
    read::{File, is_name},
    template::Template,
    yaml::Node,
};
use crate::{
    domain::{
        contract_terms::{EffectClass, Risk, RoleKind},
        label::Integrity,
        pointer::Pointer,
    },
    policy::Policies,
};

/// The files, for the places of errors.
pub(super) struct Around<'a> {
    pub(super) files: &'a BTreeMap<&'a str, (File<'a>, &'a Node)>,
    pub(super) words_may_ask: &'a BTreeSet<Risk>,
}

type Contracts = BTreeMap<String, Arc<Contract>>;

pub(super) fn check(
    around: &Around<'_>,
    contracts: &Contracts,
    workflow: &Workflow,
    approvals: &Approvals,
    policies: &Policies,
) {
    for contract in contracts.values() {
        let here = Here { around, contract };
        here.is_reachable(workflow);
        here.has_an_approver(approvals);
        here.endorsements_can_work();
        here.class_fits_the_call();
        here.words_can_ask();
        for other in contracts.values() {
            here.labels_hold_against(other);
        }
        if policies.unpermitted.contains(&contract.name) {
            here.warn(
                "contract",
                "nothing permits this tool".to_owned(),
                "add `allow: { roles: […] }`, or a permit in the bundle's policies",
            );
        }
    }
}

struct Here<'a> {
    around: &'a Around<'a>,
    contract: &'a Contract,
}

impl Here<'_> {
    /// Reports at the node of a JSON Pointer into the contract's file, or the nearest one above it.
    fn report(&self, pointer: &str, text: String, remedy: &str, is_error: bool) {
        let Some((file, node)) = self.around.files.get(self.contract.name.as_str()) else { return };
        let at = node.nearest(pointer).at;
        if is_error { file.error(at, text, remedy) } else { file.warn(at, text, remedy) }
    }

    fn error(&self, pointer: &str, text: String, remedy: &str) {
        self.report(pointer, text, remedy, true);
    }

    fn warn(&self, pointer: &str, text: String, remedy: &str) {
        self.report(&format!("/{pointer}"), text, remedy, false);
    }

    /// A tool runs where its contract and the workflow's table both allow it.
    fn is_reachable(&self, workflow: &Workflow) {
        let name = &self.contract.name;
        if !workflow.scope.tools.contains(name) {
            self.warn(
                "contract",
                format!("the workflow's scope leaves `{name}` out"),
                "add it to `scope: tools`, or remove the contract",
            );
            return;
        }
        let runs = workflow
            .states
            .iter()
            .any(|(state, tools)| tools.contains(name) && self.contract.states.contains(state));
        if !runs {
            self.error(
                "/states",
                format!("`{name}` runs in no state: contract and workflow have none in common"),
                "name it in the workflow's table for a state of its contract",
            );
        }
    }

    fn has_an_approver(&self, approvals: &Approvals) {
        let can_need = self.contract.class() == EffectClass::Once
            || self.contract.risks.iter().any(|risk| *risk != Risk::Read);
        if can_need && approvals.rule_for(&self.contract.name, &self.contract.risks).is_none() {
            self.error(
                "/risk",
                format!(
                    "`{}` can need an approval and no approval rule is for it",
                    self.contract.name
                ),
                "add a rule to the approvals file whose `for` matches it",
            );
        }
    }

    /// `reconciled` needs a fact that selects a record by the argument and says whose it is.
    fn endorsements_can_work(&self) {
        for (at, role) in &self.contract.input.roles {
            if !role.endorse.contains(&Endorsement::Reconciled) {
                continue;
            }
            let path = format!("args{}", at.as_str().replace('/', "."));
            let selects = self.contract.facts.values().any(|fact| {
                fact.relation.is_some()
                    && fact.args.values().any(|expr| expr.reads().contains(&path))
            });
            if !selects {
                self.error(
                    &format!("/input/roles/{}", at.as_str().replace('/', "~1")),
                    format!("`reconciled` cannot work: no fact with a relation is looked up by `{at}`"),
                    "add a fact whose `args` read it and whose `relation` ties the record to the subject",
                );
            }
        }
    }

    fn class_fits_the_call(&self) {
        let Call::Http(call) = &self.contract.executor.call;
        match self.contract.class() {
            EffectClass::Keyed if call.idempotency_header.is_none() => self.error(
                "/executor/http",
                "class `keyed` needs an `idempotency_header`".to_owned(),
                "name the header that carries the tool's idempotency key, or choose another class",
            ),
            EffectClass::Read
            | EffectClass::Idempotent
            | EffectClass::Keyed
            | EffectClass::Reconcilable
            | EffectClass::Once => {}
        }
    }

    fn words_can_ask(&self) {
        let has_words = self.contract.acts.values().any(|act| !act.words.is_empty());
        let may = self.contract.risks.iter().all(|risk| self.around.words_may_ask.contains(risk));
        if has_words && !may {
            self.warn(
                "acts",
                "the words of these acts never ask for anything: the bundle does not permit it for these risks".to_owned(),
                "remove the words, or add the risks to `words_may_ask` in bundle.yaml",
            );
        }
        for act in self.contract.acts.keys().filter(|act| !is_name(act)) {
            self.error(
                "/acts",
                format!("`{act}` is not a name"),
                "use lower-case letters, digits and `_`",
            );
        }
    }

    /// A field that `other` can write from content that anybody may send cannot be labelled above `untrusted` here.
    fn labels_hold_against(&self, other: &Contract) {
        let (Call::Http(mine), Call::Http(theirs)) =
            (&self.contract.executor.call, &other.executor.call);
        let same_record = match (&self.contract.resource, &other.resource) {
            (Some(mine), Some(theirs)) => mine.ty == theirs.ty,
            (Some(_) | None, _) => true,
        };
        if other.is_read() || mine.endpoint != theirs.endpoint || !same_record {
            return;
        }
        for (member, argument) in contents_written(other, theirs) {
            for field in fields_named(self.contract.response.schema.source(), &member) {
                let label = self.contract.response.label_at(&field);
                if label.is_none_or(|label| label.integrity == Integrity::Untrusted) {
                    continue;
                }
                self.error(
                    "/response/labels",
                    format!("`{field}` is labelled above `untrusted`, and `{}` writes `{member}` from the argument `{argument}`, which anybody can fill", other.name),
                    &format!("add `{field}: {{ integrity: untrusted, readers: […] }}` to the labels"),
                );
            }
        }
    }
}

/// The members of a write's body that carry an argument without authority, with that argument.
fn contents_written(contract: &Contract, call: &HttpCall) -> Vec<(String, Pointer)> {
    let mut found = Vec::new();
    if let Some(body) = &call.body {
        collect_contents(contract, body, "", &mut found);
    }
    found
}

fn collect_contents(
    contract: &Contract,
    template: &Template,
    name: &str,
    found: &mut Vec<(String, Pointer)>,
) {
    match template {
        Template::Expr(expr) => {
            for path in expr.reads() {
                let Some(rest) = path.strip_prefix("args.") else { continue };
                let argument = rest.split('.').fold(Pointer::root(), |at, token| at.child(token));
                let is_content =
                    contract.role_of(&argument).is_some_and(|role| role.kind == RoleKind::Content);
                if is_content && !name.is_empty() {
                    found.push((name.to_owned(), argument));
                }
            }
        }
        Template::Literal(_) => {}
        Template::List(items) => {
            items.iter().for_each(|item| collect_contents(contract, item, name, found))
        }
        Template::Object(members) => {
            for (name, member) in members {
                collect_contents(contract, &member.value, name, found);
            }
        }
    }
}

/// The places of all fields of this name in an answer; `*` stands for any index.
fn fields_named(schema: &Value, name: &str) -> Vec<Pointer> {
    let mut found = Vec::new();
    collect_fields(schema, name, &Pointer::root(), 0, &mut found);
    found
}

fn collect_fields(
    schema: &Value,
    name: &str,
    at: &Pointer,
    depth: usize,
    found: &mut Vec<Pointer>,
) {
    if depth > 16 {
        return;
    }
    for (property, below) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let here = at.child(property);
        if property == name {
            found.push(here.clone());
        }
        collect_fields(below, name, &here, depth + 1, found);
    }
    if let Some(items) = schema.get("items") {
        collect_fields(items, name, &at.child("*"), depth + 1, found);
    }
}
