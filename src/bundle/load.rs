//! Loading: all or nothing, everything compiled once, every error with file, place and remedy.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    Approvals, Bundle, LoadErrors, LoadProblem, Place, Workflow, check,
    contract::Contract,
    outline::{Outline, Outlines},
    policies,
    problem::Problems,
    read::{
        File, approvals, contract, manifest,
        manifest::{Manifest, Named},
        roots::{self, ContractRoots},
        workflow,
    },
    yaml::{self, Node},
};
use crate::{
    domain::canonical::{self, Digest},
    expr::{Roots, Shape},
};

/// The name of the base rules among a bundle's sources.
pub const BASE_FILE: &str = "base.cedar";
/// The base rules of this version.
const BASE: &str = include_str!("../../policies/base.cedar");

impl Bundle {
    /// Loads the bundle of a folder, with the base rules of this version.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(folder: &Path) -> Result<Self, LoadErrors> {
        let problems = Problems::default();
        let mut sources = BTreeMap::new();
        take(folder, manifest::FILE, &mut sources, &problems);
        if let Some(manifest) =
            sources.get(manifest::FILE).and_then(|bytes| yaml::parse(bytes).ok())
        {
            for path in named_files(&manifest) {
                take(folder, &path, &mut sources, &problems);
            }
        }
        problems.settle().map_err(|errors| LoadErrors(errors.0))?;
        Self::from_sources(sources)
    }

    /// Loads a bundle from its files, by path relative to its folder. A `base.cedar` among them wins over the base
    /// rules of this version, so that a stored decision is evaluated again with those of its time.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_sources(mut sources: BTreeMap<String, Vec<u8>>) -> Result<Self, LoadErrors> {
        sources.entry(BASE_FILE.to_owned()).or_insert_with(|| BASE.as_bytes().to_vec());
        let problems = Problems::default();
        let bundle = Loader { sources: &sources, problems: &problems }.load();
        let warnings = problems.settle()?;
        match bundle {
            Some(parts) => Ok(parts.assemble(sources, warnings)),
            None => Err(LoadErrors(vec![LoadProblem {
                file: manifest::FILE.to_owned(),
                place: Place::default(),
                text: "the bundle does not load and no error was recorded".to_owned(),
                remedy: "report this as a defect of the loader".to_owned(),
            }])),
        }
    }
}

/// Every path the manifest names, without checking it: the readers report what is wrong.
fn named_files(manifest: &Node) -> BTreeSet<String> {
    let texts = |name: &str| -> Vec<String> {
        let node = manifest.get(name);
        let items = node.and_then(Node::items).unwrap_or_default().iter().chain(node);
        items.filter_map(Node::text).map(str::to_owned).collect()
    };
    let contracts = texts("contracts").into_iter().map(|name| format!("contracts/{name}.yaml"));
    let files = ["workflow", "policies", "approvals", "fixtures"].into_iter().flat_map(texts);
    contracts.chain(files).filter(|path| is_inside(path)).collect()
}

/// Whether a path stays inside the bundle's folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
        && !path.contains('\\')
}

/// Reads one file of a folder; a missing one is reported by whoever names it.
fn take(folder: &Path, path: &str, into: &mut BTreeMap<String, Vec<u8>>, problems: &Problems) {
    match fs::read(folder.join(path)) {
        Ok(bytes) => drop(into.insert(path.to_owned(), bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => problems.error(LoadProblem {
            file: path.to_owned(),
            place: Place::default(),
            text: format!("cannot be read: {error}"),
            remedy: "make the file readable".to_owned(),
        }),
    }
}

struct Loader<'a> {
    sources: &'a BTreeMap<String, Vec<u8>>,
    problems: &'a Problems,
}

/// A file that parsed, kept for its places.
struct Parsed<'a> {
    file: File<'a>,
    node: Node,
}

/// The checked parts of a bundle.
struct Parts {
    manifest: Manifest,
    contracts: BTreeMap<String, Arc<Contract>>,
    workflow: Workflow,
    approvals: Approvals,
    policies: crate::policy::Policies,
}

impl<'a> Loader<'a> {
    fn load(&self) -> Option<Parts> {
        let parsed = self.parse(manifest::FILE, None)?;
        let manifest = manifest::read(&parsed.file, &parsed.node)?;
        let files: BTreeMap<String, Parsed<'a>> = manifest
            .contracts
            .iter()
            .filter_map(|(name, named)| {
                Some((name.clone(), self.parse(&named.path, Some((&parsed.file, named)))?))
            })
            .collect();
        if files.len() < manifest.contracts.len() {
            // What names the missing ones would only repeat the error.
            return None;
        }
        let outlines: Outlines =
            files.iter().map(|(name, parsed)| (name.clone(), Outline::of(&parsed.node))).collect();
        let workflow_file = match &manifest.workflow {
            Ok(named) => self.parse(&named.path, Some((&parsed.file, named))),
            Err(_) => None,
        };
        let case_tools = match (&manifest.workflow, &workflow_file) {
            (_, Some(file)) => workflow::case_tools(&file.node),
            (Err(name), None) if name == workflow::CASE => workflow::built_in_case(&outlines)
                .into_iter()
                .map(|(name, record)| (name, record.tool))
                .collect(),
            (Ok(_) | Err(_), None) => BTreeMap::new(),
        };
        let case = roots::case_shape(&case_tools, &outlines);
        let contracts = self.contracts(&files, &outlines, &case);
        let workflow = match (&manifest.workflow, &workflow_file) {
            (Ok(_), Some(file)) => self.workflow(file, &files, &outlines, &case),
            (Ok(_), None) => None,
            (Err(name), _) => workflow::built_in(name, &outlines),
        };
        let approvals = match &manifest.approvals {
            Some(named) => self
                .parse(&named.path, Some((&parsed.file, named)))
                .and_then(|p| approvals::read(&p.file, &p.node, &outlines)),
            None => Some(approvals::default_rules(&manifest.name)),
        };
        self.check_fixtures(&manifest, &parsed.file);
        // A contract that failed has reported why; policies over half of the tools would only repeat it.
        let contracts = contracts?;
        let policies =
            policies::compile(&manifest, &parsed.file, &contracts, self.sources, self.problems);
        let parts = Parts {
            manifest,
            contracts,
            workflow: workflow?,
            approvals: approvals?,
            policies: policies?,
        };
        let around = check::Around {
            files: &files
                .iter()
                .map(|(name, parsed)| (name.as_str(), (parsed.file, &parsed.node)))
                .collect(),
            words_may_ask: &parts.manifest.words_may_ask,
        };
        check::check(&around, &parts.contracts, &parts.workflow, &parts.approvals, &parts.policies);
        Some(parts)
    }

    /// Parses a file; a missing one is an error at the place that names it.
    fn parse(&self, path: &str, named: Option<(&File<'_>, &Named)>) -> Option<Parsed<'a>> {
        let Some((path, bytes)) = self.sources.get_key_value(path) else {
            let problem = match named {
                Some((file, named)) => {
                    file.error(named.at, format!("there is no file `{path}`"), "create it, or remove its name here");
                    return None;
                }
                None => LoadProblem {
                    file: path.to_owned(),
                    place: Place::default(),
                    text: "there is no such file".to_owned(),
                    remedy: "a bundle is a folder with a bundle.yaml; `stateguard bundle new` writes one".to_owned(),
                },
            };
            self.problems.error(problem);
            return None;
        };
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let file = File { name: path, text, problems: self.problems };
        match yaml::parse(bytes) {
            Ok(node) => Some(Parsed { file, node }),
            Err((place, text)) => {
                file.error(
                    place,
                    text,
                    "write YAML with each name once; CEL and prose stand in single quotes",
                );
                None
            }
        }
    }

    /// Every contract, or `None` when one failed.
    fn contracts(
        &self,
        files: &BTreeMap<String, Parsed<'_>>,
        outlines: &Outlines,
        case: &Arc<Shape>,
    ) -> Option<BTreeMap<String, Arc<Contract>>> {
        let read: Vec<Option<Contract>> = files
            .iter()
            .map(|(name, parsed)| contract::read(&parsed.file, &parsed.node, name, outlines, case))
            .collect();
        let contracts: Option<Vec<Contract>> = read.into_iter().collect();
        Some(contracts?.into_iter().map(|c| (c.name.clone(), Arc::new(c))).collect())
    }

    fn workflow(
        &self,
        parsed: &Parsed<'_>,
        files: &BTreeMap<String, Parsed<'_>>,
        outlines: &Outlines,
        case: &Arc<Shape>,
    ) -> Option<Workflow> {
        let acts = files
            .values()
            .filter_map(|file| file.node.get("acts"))
            .flat_map(|acts| {
                let names = acts.members().unwrap_or_default().iter().map(|m| m.name.clone());
                let items = acts
                    .items()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|i| i.text().map(str::to_owned));
                names.chain(items).collect::<Vec<_>>()
            })
            .collect();
        let budget_roots: BTreeMap<String, Roots> = outlines
            .iter()
            .filter_map(|(name, outline)| {
                let shapes = contract::fact_shapes(&files.get(name)?.node, outlines);
                Some((name.clone(), ContractRoots::new(outline, shapes, Arc::clone(case)).budget()))
            })
            .collect();
        let around = workflow::Surroundings { outlines, acts, budget_roots };
        workflow::read(&parsed.file, &parsed.node, &around, case)
    }

    /// Fixture files must be there and be YAML; what they say is checked by whoever runs them.
    fn check_fixtures(&self, manifest: &Manifest, file: &File<'_>) {
        for named in &manifest.fixtures {
            self.parse(&named.path, Some((file, named)));
        }
    }
}

impl Parts {
    fn assemble(self, sources: BTreeMap<String, Vec<u8>>, warnings: Vec<LoadProblem>) -> Bundle {
        let manifest = self.manifest;
        let mut used: BTreeSet<&str> = BTreeSet::from([manifest::FILE, BASE_FILE]);
        used.extend(manifest.contracts.iter().map(|(_, named)| named.path.as_str()));
        used.extend(manifest.workflow.iter().map(|named| named.path.as_str()));
        let lists = manifest.policies.iter().chain(&manifest.approvals).chain(&manifest.fixtures);
        used.extend(lists.map(|named| named.path.as_str()));
        let sources: BTreeMap<String, Vec<u8>> =
            sources.into_iter().filter(|(path, _)| used.contains(path.as_str())).collect();
        Bundle {
            digest: digest(&sources),
            name: manifest.name,
            version: manifest.version,
            contracts: self.contracts,
            workflow: self.workflow,
            approvals: self.approvals,
            subject: manifest.subject,
            channels: manifest.channels,
            words_may_ask: manifest.words_may_ask,
            replace: manifest.replace.into_iter().map(|(replacement, _)| replacement).collect(),
            policies: self.policies,
            fixtures: manifest.fixtures.into_iter().map(|named| named.path).collect(),
            sources,
            warnings,
        }
    }
}

/// The digest over the canonical list of files with their digests.
fn digest(sources: &BTreeMap<String, Vec<u8>>) -> Digest {
    let files: Map<String, Value> = sources
        .iter()
        .map(|(path, bytes)| (path.clone(), Value::String(Digest::of(bytes).as_str().to_owned())))
        .collect();
    let list = Value::Object(files);
    // A list of texts always has canonical bytes.
    canonical::digest(&list).unwrap_or_else(|_| Digest::of(list.to_string().as_bytes()))
}
