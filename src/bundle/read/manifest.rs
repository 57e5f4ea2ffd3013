//! `bundle.yaml`: what belongs to the bundle.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{File, Wanted, optional, roots};
use crate::{
    bundle::{Channel, Replacement, SubjectBinding, problem::Place, yaml::Node},
    domain::contract_terms::{Assurance, Risk},
};

/// The file every bundle has.
pub(crate) const FILE: &str = "bundle.yaml";
const KEYS: &[&str] = &[
    "bundle",
    "version",
    "contracts",
    "workflow",
    "policies",
    "approvals",
    "fixtures",
    "replace",
    "subject",
    "words_may_ask",
    "channels",
];

/// A file that the manifest names.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) path: String,
    pub(crate) at: Place,
}

/// What a manifest says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Tool and file.
    pub(crate) contracts: Vec<(String, Named)>,
    /// A file, or the name of a built-in workflow.
    pub(crate) workflow: Result<Named, String>,
    pub(crate) policies: Vec<Named>,
    pub(crate) approvals: Option<Named>,
    pub(crate) fixtures: Vec<Named>,
    pub(crate) replace: Vec<(Replacement, Place)>,
    pub(crate) subject: Option<SubjectBinding>,
    pub(crate) words_may_ask: BTreeSet<Risk>,
    pub(crate) channels: BTreeMap<String, Channel>,
}

pub(crate) fn read(file: &File<'_>, node: &Node) -> Option<Manifest> {
    if !file.map(node, "a bundle", KEYS) {
        return None;
    }
    let reader = Reader { file, node };
    let name = reader.name();
    let version = reader.version();
    let contracts = reader.contracts();
    let files = |name: &str| match optional(node, name) {
        Some(n) => file.list(n).iter().map(|item| reader.file_name(item)).collect(),
        None => Some(Vec::new()),
    };
    let policies = files("policies");
    let fixtures = files("fixtures");
    let approvals = match optional(node, "approvals") {
        Some(n) => reader.file_name(n).map(Some),
        None => Some(None),
    };
    let workflow = match optional(node, "workflow") {
        None => Some(Err(super::workflow::ASSISTANT.to_owned())),
        Some(n) if super::workflow::is_file(n) => reader.file_name(n).map(Ok),
        Some(n) => file.text(n).map(|text| Err(text.to_owned())),
    };
    let replace = reader.replace();
    let subject = reader.subject();
    let words_may_ask = reader.words_may_ask();
    let channels = reader.channels();
    Some(Manifest {
        name: name?,
        version: version?,
        contracts: contracts?,
        workflow: workflow?,
        policies: policies?,
        approvals: approvals?,
        fixtures: fixtures?,
        replace: replace?,
        subject: subject?,
        words_may_ask: words_may_ask?,
        channels: channels?,
    })
}

struct Reader<'a, 'p> {
    file: &'a File<'p>,
    node: &'a Node,
}

impl Reader<'_, '_> {
    fn name(&self) -> Option<String> {
        let node = self.file.required(self.node, "bundle", "a bundle")?;
        let text = self.file.text(node)?;
        let sound = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && text.len() <= 64;
        if !sound || text == "base" || text == "policy" || text == "probe" {
            self.file.error(
                node.at,
                format!("`{text}` is not a name for a bundle"),
                "use lower-case letters, digits and `-`, such as `library-desk`",
            );
            return None;
        }
        Some(text.to_owned())
    }

    fn version(&self) -> Option<String> {
        let node = self.file.required(self.node, "version", "a bundle")?;
        let text = self.file.text(node)?;
        let parts: Vec<&str> = text.split('.').collect();
        let sound = parts.len() == 3
            && parts
                .iter()
                .all(|p| !p.is_empty() && p.len() <= 9 && p.bytes().all(|b| b.is_ascii_digit()));
        if !sound {
            self.file.error(
                node.at,
                format!("`{text}` is not a version"),
                "write three numbers, such as `1.0.0`",
            );
            return None;
        }
        Some(text.to_owned())
    }

    fn contracts(&self) -> Option<Vec<(String, Named)>> {
        let node = self.file.required(self.node, "contracts", "a bundle")?;
        let mut seen = BTreeSet::new();
        let mut contracts = Vec::new();
        for item in self.file.list(node) {
            let name = self.file.name(item)?;
            if !seen.insert(name.clone()) {
                self.file.error(
                    item.at,
                    format!("`{name}` is listed twice"),
                    "remove one of the two",
                );
                return None;
            }
            let path = format!("contracts/{name}.yaml");
            contracts.push((name, Named { path, at: item.at }));
        }
        if contracts.is_empty() {
            self.file.error(
                node.at,
                "a bundle has at least one contract",
                "run `stateguard contract new`",
            );
            return None;
        }
        Some(contracts)
    }

    /// A relative path inside the bundle's folder.
    fn file_name(&self, node: &Node) -> Option<Named> {
        let text = self.file.text(node)?;
        let sound = !text.is_empty()
            && text.len() <= 256
            && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "/_-.".contains(c));
        if !sound {
            self.file.error(
                node.at,
                format!("`{text}` is not a file of this bundle"),
                "write a path relative to the bundle's folder, such as `fixtures/lending.yaml`",
            );
            return None;
        }
        Some(Named { path: text.to_owned(), at: node.at })
    }

    fn replace(&self) -> Option<Vec<(Replacement, Place)>> {
        let Some(node) = optional(self.node, "replace") else { return Some(Vec::new()) };
        let mut list = Vec::new();
        for item in self.file.list(node) {
            if !self.file.map(item, "a replacement", &["policy", "because"]) {
                return None;
            }
            let policy =
                self.file.required(item, "policy", "a replacement").and_then(|n| self.file.text(n));
            let because = self
                .file
                .required(item, "because", "a replacement")
                .and_then(|n| self.file.text(n));
            let (policy, because) = (policy?.to_owned(), because?.trim().to_owned());
            if because.is_empty() {
                self.file.error(
                    item.at,
                    "a base rule is not replaced without a reason",
                    "say why under `because`",
                );
                return None;
            }
            list.push((Replacement { policy, because }, item.at));
        }
        Some(list)
    }

    fn subject(&self) -> Option<Option<SubjectBinding>> {
        let Some(node) = optional(self.node, "subject") else { return Some(None) };
        if !self.file.map(node, "a subject", &["type", "id"]) {
            return None;
        }
        let ty = self.file.required(node, "type", "a subject").and_then(|n| self.file.type_name(n));
        let id = self
            .file
            .required(node, "id", "a subject")
            .and_then(|n| self.file.expr(n, &roots::token(), Wanted::Scalar));
        Some(Some(SubjectBinding { ty: ty?, id: id? }))
    }

    fn words_may_ask(&self) -> Option<BTreeSet<Risk>> {
        let Some(node) = optional(self.node, "words_may_ask") else { return Some(BTreeSet::new()) };
        self.file
            .list(node)
            .iter()
            .map(|item| self.file.member(item, Risk::ALL, Risk::as_str))
            .collect()
    }

    fn channels(&self) -> Option<BTreeMap<String, Channel>> {
        let Some(node) = optional(self.node, "channels") else { return Some(BTreeMap::new()) };
        let Some(members) = node.members() else {
            self.file.map(node, "channels", &[]);
            return None;
        };
        let mut channels = BTreeMap::new();
        for member in members {
            if !self.file.map(&member.value, "a channel", &["assurance", "max_auth_age"]) {
                return None;
            }
            let assurance = self
                .file
                .required(&member.value, "assurance", "a channel")
                .and_then(|n| self.file.member(n, Assurance::ALL, Assurance::as_str));
            let max_auth_age = match optional(&member.value, "max_auth_age") {
                Some(n) => Some(self.file.duration(n, Duration::from_secs(24 * 3_600))?),
                None => None,
            };
            channels.insert(member.name.clone(), Channel { assurance: assurance?, max_auth_age });
        }
        Some(channels)
    }
}
