//! Fixtures: decisions that a bundle's author expects, as data. `hook::fixtures` runs them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Map, Value};

use super::{
    Bundle, Channel, Contract, LoadErrors, Place,
    matrix::{self, Column},
    problem::Problems,
    read, yaml,
};
use crate::{
    domain::{
        clock::Timestamp,
        contract_terms::{
            Assurance, Need, PartKind, PrincipalKind, Risk, RoleKind, ScopeSource, Verdict,
        },
        pointer::Pointer,
        reason::ReasonCode,
        session::SessionState,
    },
    policy::{self, Guard},
};

/// One expected decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// The file it stands in.
    pub file: String,
    /// Where.
    pub place: Place,
    /// Its name, unique in the bundle.
    pub id: String,
    /// Rules that let this case pass.
    pub passes: Vec<(String, Place)>,
    /// Rules that stop this case, or ask.
    pub stops: Vec<(String, Place)>,
    /// The world before.
    pub given: Given,
    /// What the model proposes.
    pub intent: Proposal,
    /// What must come of it.
    pub expect: Expected,
}

/// The world before the proposal.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The time.
    pub now: Timestamp,
    /// The session's state.
    pub state: SessionState,
    /// For whom the session acts.
    pub principal: GivenPrincipal,
    /// What the session may do.
    pub scope: GivenScope,
    /// Data of the session, by a name that citations and evidence use.
    pub data: BTreeMap<String, GivenDatum>,
    /// Data whose content the model has not seen; all others it has.
    pub unseen: BTreeSet<String>,
    /// What the principal said, in parts; citations name them `statement_1`, `statement_2`, ….
    pub statements: Vec<Vec<(PartKind, String)>>,
    /// The bound records, by name; the datum each was bound from.
    pub case: BTreeMap<String, String>,
    /// The facts, by name.
    pub facts: BTreeMap<String, GivenFact>,
    /// The sums of the workflow's budgets so far.
    pub sums: BTreeMap<String, i64>,
    /// Intents, writes, sensitive writes so far.
    pub before: GivenCounters,
    /// Tools whose last answer about the case was corrupt.
    pub corrupted: BTreeSet<String>,
    /// The same business effect is already claimed by another action.
    pub duplicate: bool,
    /// Questions that were answered yes, for all the rules that ask them.
    pub answered: BTreeSet<Need>,
    /// What the tool answers, if the answer is to be judged too.
    pub answer: Option<Value>,
    /// What the verifying read finds, if the effect is to be judged too.
    pub after: Option<Value>,
}

/// For whom a session acts.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenPrincipal {
    /// Person or service.
    pub kind: PrincipalKind,
    /// The issuer's name for him.
    pub sub: String,
    /// Tenant.
    pub tenant: String,
    /// Roles.
    pub roles: BTreeSet<String>,
    /// Channel; decides the assurance.
    pub channel: String,
    /// How long ago he signed in; `None`: never.
    pub auth_age: Option<Duration>,
    /// All other claims of his token.
    pub claims: Map<String, Value>,
}

/// What a session may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenScope {
    /// Who set it.
    pub source: ScopeSource,
    /// Tools; `None`: the workflow's.
    pub tools: Option<BTreeSet<String>>,
    /// Acts that were asked for.
    pub acts: BTreeSet<String>,
    /// Targets that were named, by type.
    pub targets: BTreeMap<String, BTreeSet<String>>,
    /// Caps.
    pub limits: BTreeMap<String, i64>,
}

/// One datum.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenDatum {
    /// Its kind.
    pub kind: String,
    /// The read that answered it; `None`: handed in by the agent.
    pub tool: Option<String>,
    /// Its content.
    pub content: GivenContent,
}

/// What a datum holds.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenContent {
    /// A text.
    Text(String),
    /// A JSON document.
    Json(Value),
}

/// What reading a fact brought.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenFact {
    /// The record.
    Present {
        /// The whole answer.
        value: Value,
        /// How old it is.
        age: Duration,
    },
    /// There is none.
    Absent,
    /// It could not be read.
    Unavailable,
}

/// What was used up before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GivenCounters {
    /// Intents.
    pub steps: u32,
    /// Dispatched writes.
    pub writes: u32,
    /// Dispatched sensitive writes.
    pub sensitive: u32,
}

/// What the model proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The purpose.
    pub purpose: String,
    /// The tool.
    pub tool: String,
    /// The arguments; names of data stand for their handles under evidence roles and in `$datum`.
    pub arguments: Value,
    /// What is said of where they come from.
    pub citations: Vec<GivenCitation>,
    /// Data shown beside.
    pub evidence: Vec<String>,
}

/// One citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenCitation {
    /// The argument.
    pub argument: Pointer,
    /// The datum's name.
    pub datum: String,
    /// The place.
    pub pointer: Pointer,
    /// The quoted passage, if the place is a text.
    pub exact: Option<String>,
}

/// What must come of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The verdict, or the next question.
    pub decision: Verdict,
    /// Everything that is still needed; `None`: not compared.
    pub needs: Option<BTreeSet<Need>>,
    /// Exactly these reasons; `None`: not compared.
    pub reasons: Option<BTreeSet<ReasonCode>>,
    /// At least these reasons.
    pub reasons_include: BTreeSet<ReasonCode>,
    /// What becomes of the answer: accepted, or stopped for this reason; `None`: not compared.
    pub answer: Option<Option<ReasonCode>>,
    /// What the system of record shows: `verified`, `missing`, `duplicated`, `mismatched`; `None`: not compared.
    pub effect: Option<String>,
}

impl Fixture {
    /// The case that a JSON value describes as a fixture file would; `None` when it describes none.
    #[must_use]
    pub fn from_json(bundle: &Bundle, case: &Value) -> Option<Self> {
        let text = serde_json::json!({"fixtures": "drafted", "cases": [case]}).to_string();
        let node = yaml::parse(text.as_bytes()).ok()?;
        let problems = Problems::default();
        let file = read::File { name: "drafted", text: &text, problems: &problems };
        let mut cases = Vec::new();
        read::fixtures::read(&file, &node, bundle, &mut cases);
        problems.settle().ok()?;
        cases.pop()
    }
}

impl Bundle {
    /// The cases of all fixture files, in order.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn fixture_cases(&self) -> Result<Vec<Fixture>, LoadErrors> {
        let problems = Problems::default();
        let mut cases: Vec<Fixture> = Vec::new();
        for path in &self.fixtures {
            let Some(bytes) = self.sources.get(path) else { continue };
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            let file = read::File { name: path, text, problems: &problems };
            match yaml::parse(bytes) {
                Ok(node) => read::fixtures::read(&file, &node, self, &mut cases),
                Err((place, text)) => file.error(place, text, "write YAML with each name once"),
            }
        }
        problems.settle().map(|_| cases)
    }

    /// The names of all rules that a fixture can stop at or pass: policies by `@id`, `TOOL.relation`, `TOOL.RULE` for
    /// agree rules, invariants and verify rules, and the ids of sums.
    #[must_use]
    pub fn rule_names(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self
            .policies
            .rules
            .iter()
            .filter(|rule| !rule.file.is_empty())
            .filter(|rule| self.policies.tools.values().any(|tool| tool.can_apply(&rule.id)))
            .map(|rule| rule.id.clone())
            .collect();
        for contract in self.contracts.values() {
            let of = |id: &str| format!("{}.{id}", contract.name);
            if contract.relation.is_some() || contract.facts.values().any(|f| f.relation.is_some())
            {
                names.insert(of("relation"));
            }
            let agree = contract.facts.values().flat_map(|fact| &fact.agree);
            let verify = contract.verify.iter().flat_map(|verify| &verify.rules);
            names.extend(
                agree.chain(&contract.response.invariants).chain(verify).map(|rule| of(&rule.id)),
            );
        }
        names.extend(self.workflow.budgets.sums.iter().map(|sum| sum.id.clone()));
        names
    }

    /// The rules that fixtures must cover: all but base rules for situations that no tool of the bundle can come into,
    /// such as a threshold where nothing is summed.
    #[must_use]
    pub fn rules_to_cover(&self) -> BTreeSet<String> {
        let mut reachable: BTreeSet<String> = BTreeSet::new();
        for contract in self.contracts.values() {
            for risk in &contract.risks {
                let Some(probe) = self.policies.probes.get(risk) else { continue };
                let situations = Column::ALL.iter().flat_map(|column| column.situations(*risk));
                for (_, guard) in situations.filter(|(_, guard)| self.can_occur(contract, guard)) {
                    reachable.extend(matrix::rules_of(probe, guard));
                }
            }
        }
        let is_base = |name: &String| name.starts_with(&format!("{}/", policy::BASE_PREFIX));
        self.rule_names().into_iter().filter(|n| !is_base(n) || reachable.contains(n)).collect()
    }

    /// Whether a call of this tool can come into the situation of a guard that differs from the clean one in one field.
    fn can_occur(&self, contract: &Contract, guard: &Guard) -> bool {
        let clean = Guard::clean();
        let roles = || contract.input.roles.values().map(|role| role.kind);
        let has_relation = contract.facts.values().any(|fact| fact.relation.is_some());
        let needs_no_act = contract.is_read() && !contract.risks.contains(&Risk::ReadSensitive)
            || contract.risks.iter().all(|risk| *risk == Risk::Reversible) && has_relation;
        let channel = |test: &dyn Fn(&Channel) -> bool| self.channels.values().any(test);
        let assurance = guard.assurance;
        (assurance == clean.assurance
            || assurance == Assurance::Claimed
            || channel(&|channel| channel.assurance == assurance))
            && (guard.authentication_fresh || channel(&|channel| channel.max_auth_age.is_some()))
            && (guard.authority_clean || roles().any(RoleKind::has_authority))
            && (guard.authority_named || roles().any(RoleKind::must_be_named))
            && (guard.act_asked || !needs_no_act)
            && (guard.in_scope || contract.resource.is_some())
            && (guard.facts_agree || contract.facts.values().any(|fact| !fact.agree.is_empty()))
            && (!guard.above_threshold
                || self.workflow.budgets.sums.iter().any(|sum| sum.of.contains(&contract.name)))
            && (guard.own_data || has_relation)
            && (guard.inputs_intact || contract.resource.is_some() || !contract.facts.is_empty())
    }
}
