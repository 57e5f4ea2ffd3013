//! One contract file.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    File, Wanted, effect, executor, facts, input, optional, response, roots::ContractRoots,
};
use crate::{
    bundle::{
        contract::{Act, Contract, Fallback, FallbackStep, Names, Resource, Rule, Verify},
        outline::Outlines,
        yaml::Node,
    },
    domain::{canonical::Digest, contract_terms::Risk, session::SessionState},
    expr::{Roots, Shape},
};

const KEYS: &[&str] = &[
    "contract",
    "version",
    "description",
    "risk",
    "states",
    "acts",
    "resource",
    "input",
    "facts",
    "relation",
    "names",
    "effect",
    "executor",
    "response",
    "verify",
    "fallback",
    "allow",
];
/// The states in which reads run when a contract names none.
const READ_STATES: [SessionState; 6] = [
    SessionState::Analyzing,
    SessionState::Resolving,
    SessionState::AwaitingConfirmation,
    SessionState::Escalated,
    SessionState::Executing,
    SessionState::Verifying,
];

/// Reads a contract that the bundle calls `name`. `None` after errors.
pub(crate) fn read(
    file: &File<'_>,
    node: &Node,
    name: &str,
    outlines: &Outlines,
    case: &Arc<Shape>,
) -> Option<Contract> {
    if !file.map(node, "a contract", KEYS) {
        return None;
    }
    let outline = outlines.get(name)?;
    let roots = ContractRoots::new(outline, facts::shapes(node, outlines), Arc::clone(case));
    let reader = Reader { file, node, outlines, is_read: outline.is_read, roots };
    let tool = reader.tool(name);
    let version = file.required(node, "version", "a contract").and_then(|n| file.count(n, 1));
    let risks = reader.risks();
    let states = reader.states();
    let acts = reader.acts();
    let resource = reader.resource();
    let input = file
        .required(node, "input", "a contract")
        .and_then(|n| input::read(file, n, outline.is_read));
    let facts = facts::read(file, node, outlines, &reader.roots);
    let relation = reader.relation();
    let names = reader.names();
    let effect = reader.effect(name);
    let executor = file
        .required(node, "executor", "a contract")
        .and_then(|n| executor::read(file, n, outline.is_read, &reader.roots));
    let response = file
        .required(node, "response", "a contract")
        .and_then(|n| response::read(file, n, name, outline, &reader.roots));
    let verify = reader.verify();
    let fallback = reader.fallback();
    let allowed_roles = reader.allowed_roles();
    Some(Contract {
        name: tool?,
        version: version?,
        description: reader.description(name)?,
        digest: Digest::of(file.text.as_bytes()),
        risks: risks?,
        states: states?,
        acts: acts?,
        resource: resource?,
        input: input?,
        fact_waves: facts.as_ref()?.waves.clone(),
        facts: facts?.uses,
        serves_facts: outline.serves_facts,
        relation: relation?,
        names: names?,
        effect: effect?,
        executor: executor?,
        response: response?,
        verify: verify?,
        fallback: fallback?,
        allowed_roles: allowed_roles?,
    })
}

struct Reader<'a, 'p> {
    file: &'a File<'p>,
    node: &'a Node,
    outlines: &'a Outlines,
    is_read: bool,
    roots: ContractRoots,
}

impl Reader<'_, '_> {
    fn member(&self, name: &str) -> Option<&Node> {
        optional(self.node, name)
    }

    fn tool(&self, expected: &str) -> Option<String> {
        let node = self.file.required(self.node, "contract", "a contract")?;
        let name = self.file.name(node)?;
        if name != expected {
            self.file.error(
                node.at,
                format!("this file is listed as `{expected}` and defines `{name}`"),
                "make the name in the file, its file name and the bundle's list equal",
            );
            return None;
        }
        Some(name)
    }

    fn description(&self, name: &str) -> Option<String> {
        self.member("description")
            .map_or(Some(name.replace('_', " ")), |node| self.file.text(node).map(str::to_owned))
    }

    fn risks(&self) -> Option<BTreeSet<Risk>> {
        let node = self.file.required(self.node, "risk", "a contract")?;
        let items = self.file.one_or_more(node);
        let count = items.len();
        let risks: BTreeSet<Risk> = items
            .into_iter()
            .filter_map(|item| self.file.member(item, Risk::ALL, Risk::as_str))
            .collect();
        if count == 0 {
            self.file.error(
                node.at,
                "no risk is given",
                "write `risk: [read]`, or the risk of the write",
            );
        }
        for risk in &risks {
            if risk.is_read() != self.is_read {
                let (text, remedy) = if self.is_read {
                    (
                        format!(
                            "`{risk}` is the risk of a write, and this contract has no `effect`"
                        ),
                        "add `effect: {key, same, class}`, or make it `risk: [read]`",
                    )
                } else {
                    (
                        format!(
                            "`{risk}` is the risk of a read, and this contract has an `effect`"
                        ),
                        "name the risk of the write, such as `reversible`, or remove `effect`",
                    )
                };
                self.file.error(node.at, text, remedy);
                return None;
            }
        }
        (count > 0 && !risks.is_empty()).then_some(risks)
    }

    fn states(&self) -> Option<BTreeSet<SessionState>> {
        let Some(node) = self.member("states") else {
            return Some(if self.is_read {
                READ_STATES.into()
            } else {
                BTreeSet::from([SessionState::Resolving])
            });
        };
        let mut states = BTreeSet::new();
        for item in self.file.list(node) {
            let state = self.file.member(item, SessionState::ALL, SessionState::as_str)?;
            let runs = if self.is_read {
                READ_STATES.contains(&state)
            } else {
                state == SessionState::Resolving
            };
            if !runs {
                self.file.error(
                    item.at,
                    format!("no {} runs in `{state}`", if self.is_read { "read" } else { "write" }),
                    "writes run in RESOLVING; reads in every state but HALTED and CLOSED",
                );
                return None;
            }
            states.insert(state);
        }
        Some(states)
    }

    fn acts(&self) -> Option<BTreeMap<String, Act>> {
        let Some(node) = self.member("acts") else {
            if !self.is_read {
                self.file.error(
                    self.node.at,
                    "a write needs `acts`: the kinds of doing that somebody entitled must have asked for",
                    "add for example `acts: [renew_loan]`",
                );
                return None;
            }
            return Some(BTreeMap::new());
        };
        if self.is_read && !self.is_sensitive_read() {
            let remedy = "remove it; only a `read_sensitive` tool is asked for";
            self.file.error(node.at, "a plain read has no `acts`", remedy);
            return None;
        }
        let mut acts = BTreeMap::new();
        match node.members() {
            Some(members) => {
                for member in members {
                    if !super::is_name(&member.name) {
                        self.file.error(
                            member.at,
                            format!("`{}` is not a name", member.name),
                            "use lower-case letters, digits and `_`",
                        );
                    }
                    acts.insert(member.name.clone(), self.act(&member.value)?);
                }
            }
            None => {
                for item in self.file.list(node) {
                    acts.insert(self.file.name(item)?, Act { words: BTreeMap::new() });
                }
            }
        }
        if acts.is_empty() {
            self.file.error(node.at, "no act is given", "name at least one");
        }
        (!acts.is_empty()).then_some(acts)
    }

    fn is_sensitive_read(&self) -> bool {
        let risks = self.member("risk").map(|node| self.file.one_or_more(node)).unwrap_or_default();
        risks.iter().any(|risk| risk.text() == Some(Risk::ReadSensitive.as_str()))
    }

    fn act(&self, node: &Node) -> Option<Act> {
        let mut words = BTreeMap::new();
        if node.kind != crate::bundle::yaml::NodeKind::Null
            && self.file.map(node, "an act", &["words"])
        {
            let languages = optional(node, "words").and_then(Node::members).unwrap_or_default();
            for language in languages {
                let phrases: Vec<String> = self
                    .file
                    .list(&language.value)
                    .iter()
                    .filter_map(|phrase| self.file.text(phrase).map(str::to_owned))
                    .collect();
                words.insert(language.name.clone(), phrases);
            }
        }
        Some(Act { words })
    }

    fn resource(&self) -> Option<Option<Resource>> {
        let Some(node) = self.member("resource") else { return Some(None) };
        if !self.file.map(node, "a resource", &["type", "id"]) {
            return None;
        }
        let ty =
            self.file.required(node, "type", "a resource").and_then(|n| self.file.type_name(n));
        let id = self
            .file
            .required(node, "id", "a resource")
            .and_then(|n| self.file.expr(n, &self.roots.resource(), Wanted::Scalar));
        Some(Some(Resource { ty: ty?, id: id? }))
    }

    fn relation(&self) -> Option<Option<crate::expr::Expr>> {
        let Some(node) = self.member("relation") else { return Some(None) };
        if !self.is_read {
            self.file.error(
                node.at,
                "`relation` over `result` belongs to a read",
                "give the write's relation with its fact: `facts: { NAME: { …, relation: '…' } }`",
            );
            return None;
        }
        self.file.expr(node, &self.roots.relation(), Wanted::Condition).map(Some)
    }

    fn names(&self) -> Option<Option<Names>> {
        let Some(node) = self.member("names") else { return Some(None) };
        if !self.is_read {
            self.file.error(
                node.at,
                "a naming look-up is a read",
                "move `names` to the read that looks up",
            );
            return None;
        }
        if !self.file.map(node, "names", &["by", "complete"]) {
            return None;
        }
        let by = self.file.required(node, "by", "names").and_then(|n| self.file.pointer(n));
        let complete = optional(node, "complete").map_or(Some(false), |n| self.file.boolean(n));
        Some(Some(Names { by: by?, complete: complete? }))
    }

    fn effect(&self, name: &str) -> Option<Option<crate::bundle::contract::Effect>> {
        match self.member("effect") {
            None => Some(None),
            Some(node) => effect::read(self.file, node, name, self.outlines, &self.roots).map(Some),
        }
    }

    fn verify(&self) -> Option<Option<Verify>> {
        let Some(node) = self.member("verify") else {
            if !self.is_read {
                self.file.error(
                    self.node.at,
                    "a write needs `verify`: a 200 is not success",
                    "add `verify: { read: { tool: …, args: {…} }, rules: [{ id: …, rule: '…' }] }`",
                );
                return None;
            }
            return Some(None);
        };
        if self.is_read {
            self.file.error(node.at, "a read has no `verify`", "remove it");
            return None;
        }
        if !self.file.map(node, "verify", &["read", "within", "rules"]) {
            return None;
        }
        let read = self.file.required(node, "read", "verify")?;
        if !self.file.map(read, "the read that verifies", &["tool", "args"]) {
            return None;
        }
        let look_up = facts::look_up(self.file, read, self.outlines, &self.roots.verify_args());
        let within = optional(node, "within").map_or(Some(Duration::from_secs(5)), |n| {
            self.file.duration(n, Duration::from_secs(300))
        });
        let after = look_up
            .as_ref()
            .and_then(|l| self.outlines.get(&l.tool))
            .map_or(Shape::Any, |o| Shape::from_schema(&o.response));
        let rules_node = self.file.required(node, "rules", "verify");
        let rules = rules_node.map(|n| rules(self.file, n, &self.roots.verify_rules(after)))?;
        if rules.is_empty() {
            self.file.error(
                node.at,
                "no rule says what the effect looks like",
                "add at least one rule over `after`",
            );
        }
        let look_up = look_up?;
        (!rules.is_empty()).then_some(Some(Verify {
            tool: look_up.tool,
            args: look_up.args,
            within: within?,
            rules,
        }))
    }

    fn fallback(&self) -> Option<Option<Fallback>> {
        let Some(node) = self.member("fallback") else { return Some(None) };
        if !self.file.map(node, "a fallback", &["next", "message"]) {
            return None;
        }
        let next = self
            .file
            .required(node, "next", "a fallback")
            .and_then(|n| self.file.member(n, FallbackStep::ALL, FallbackStep::as_str));
        let message =
            self.file.required(node, "message", "a fallback").and_then(|n| self.file.name(n));
        Some(Some(Fallback { next: next?, message: message? }))
    }

    fn allowed_roles(&self) -> Option<BTreeSet<String>> {
        let Some(node) = self.member("allow") else { return Some(BTreeSet::new()) };
        if !self.file.map(node, "allow", &["roles"]) {
            return None;
        }
        let roles_node = self.file.required(node, "roles", "allow")?;
        let roles = self.file.words(roles_node);
        if roles.is_empty() {
            self.file.error(
                roles_node.at,
                "no role is given",
                "name at least one role, or remove `allow`",
            );
        }
        (!roles.is_empty()).then_some(roles)
    }
}

/// The shapes of a contract's facts.
pub(crate) fn fact_shapes(node: &Node, outlines: &Outlines) -> BTreeMap<String, Arc<Shape>> {
    facts::shapes(node, outlines)
}

/// A list of `{id, rule}` with unique ids.
pub(super) fn rules(file: &File<'_>, node: &Node, roots: &Roots) -> Vec<Rule> {
    let mut seen = BTreeSet::new();
    let mut rules = Vec::new();
    for item in file.list(node) {
        if !file.map(item, "a rule", &["id", "rule"]) {
            continue;
        }
        let id_node = file.required(item, "id", "a rule");
        let id = id_node.and_then(|n| file.name(n));
        let rule = file
            .required(item, "rule", "a rule")
            .and_then(|n| file.expr(n, roots, Wanted::Condition));
        if let (Some(node), Some(id)) = (id_node, &id)
            && !seen.insert(id.clone())
        {
            file.error(node.at, format!("the rule `{id}` stands here twice"), "give it another id");
        }
        if let (Some(id), Some(rule)) = (id, rule) {
            rules.push(Rule { id, rule });
        }
    }
    rules
}
