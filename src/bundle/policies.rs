//! From contracts to what policies may know, and from policy faults to load problems.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use super::{
    contract::Contract,
    load::BASE_FILE,
    outline,
    problem::{LoadProblem, Place, Problems},
    read::{
        File,
        manifest::{Manifest, Named},
    },
};
use crate::{
    domain::contract_terms::{EffectClass, RoleKind},
    policy::{self, BASE_PREFIX, Permit, Policies, PolicyFault, PolicySource, ToolShape},
};

pub(super) fn compile(
    manifest: &Manifest,
    manifest_file: &File<'_>,
    contracts: &BTreeMap<String, Arc<Contract>>,
    sources: &BTreeMap<String, Vec<u8>>,
    problems: &Problems,
) -> Option<Policies> {
    let mut texts = vec![PolicySource {
        file: BASE_FILE,
        text: text_of(sources, BASE_FILE)?,
        prefix: BASE_PREFIX,
    }];
    let mut complete = true;
    for Named { path, at } in &manifest.policies {
        match text_of(sources, path) {
            Some(text) => texts.push(PolicySource { file: path, text, prefix: &manifest.name }),
            None => {
                manifest_file.error(
                    *at,
                    format!("there is no readable file `{path}`"),
                    "create it, or remove its name here",
                );
                complete = false;
            }
        }
    }
    let args: Vec<Value> =
        contracts.values().map(|c| outline::defaulted(c.input.schema.source())).collect();
    let shapes: Vec<ToolShape<'_>> =
        contracts.values().zip(&args).map(|(c, args)| shape(c, args, contracts)).collect();
    let replaced: BTreeSet<String> =
        manifest.replace.iter().map(|(r, _)| r.policy.clone()).collect();
    let compiled = policy::compile(&shapes, &texts, &replaced);
    match compiled {
        Ok(policies) => complete.then_some(policies),
        Err(faults) => {
            for fault in faults {
                problems.error(problem(fault, manifest, manifest_file, sources));
            }
            None
        }
    }
}

fn text_of<'s>(sources: &'s BTreeMap<String, Vec<u8>>, path: &str) -> Option<&'s str> {
    sources.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
}

fn shape<'c>(
    contract: &'c Contract,
    args: &'c Value,
    contracts: &'c BTreeMap<String, Arc<Contract>>,
) -> ToolShape<'c> {
    let facts = contract
        .facts
        .iter()
        .filter_map(|(name, fact)| {
            Some((name.clone(), contracts.get(&fact.tool)?.response.schema.source()))
        })
        .collect();
    let permit = if !contract.allowed_roles.is_empty() {
        Permit::Roles(contract.allowed_roles.clone())
    } else if contract.is_read() {
        Permit::Everyone
    } else {
        Permit::Nobody
    };
    ToolShape {
        name: &contract.name,
        risks: &contract.risks,
        resource: contract.resource.as_ref().map(|resource| resource.ty.as_str()),
        args,
        roles: roles(contract, args),
        facts,
        permit,
        always_approved: contract.class() == EffectClass::Once,
    }
}

/// The roles of a tool, and whether a call always has an argument of each: one that is required at the top.
fn roles(contract: &Contract, args: &Value) -> BTreeMap<RoleKind, bool> {
    let required: BTreeSet<&str> = args
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut roles = BTreeMap::new();
    for (at, role) in &contract.input.roles {
        let mut tokens = at.tokens();
        let always = tokens.next().is_some_and(|name| required.contains(name.as_str()))
            && tokens.next().is_none();
        *roles.entry(role.kind).or_insert(false) |= always;
    }
    roles
}

fn problem(
    fault: PolicyFault,
    manifest: &Manifest,
    manifest_file: &File<'_>,
    sources: &BTreeMap<String, Vec<u8>>,
) -> LoadProblem {
    if fault.file.is_empty() {
        // Only `replace` can be wrong without a policy file being so.
        let named =
            manifest.replace.iter().find(|(r, _)| fault.text.contains(&format!("`{}`", r.policy)));
        return LoadProblem {
            file: manifest_file.name.to_owned(),
            place: named.map(|(_, at)| *at).unwrap_or_default(),
            text: fault.text,
            remedy: fault.remedy,
        };
    }
    let place = match (text_of(sources, &fault.file), fault.offset) {
        (Some(text), Some(offset)) => Place::of_offset(text, offset),
        (Some(_) | None, _) => Place::default(),
    };
    LoadProblem { file: fault.file, place, text: fault.text, remedy: fault.remedy }
}
