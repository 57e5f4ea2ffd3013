//! The workflow file, and the two built-in workflows.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{File, Wanted, optional, response, roots};
use crate::{
    bundle::{
        outline::Outlines,
        workflow::{
            BudgetAnswer, BudgetScope, Budgets, Case, CaseRecord, CaseSource, Close, Questions,
            SumBudget, Workflow, WorkflowScope,
        },
        yaml::{Node, NodeKind},
    },
    domain::{limits::SESSION_MAX_LIFE, reason::ReasonCode, session::SessionState},
    expr::{Expr, Roots, Shape},
};

const KEYS: &[&str] = &[
    "workflow",
    "version",
    "purposes",
    "expires_after",
    "scope",
    "case",
    "states",
    "resolve",
    "close",
    "chain",
    "unusual",
    "budgets",
    "questions",
];
/// Longest window of a sum.
const MAX_WINDOW: Duration = Duration::from_secs(366 * 24 * 3_600);
/// The states of a workflow's table; in the others nothing is proposed.
const STATES: [SessionState; 6] = [
    SessionState::Analyzing,
    SessionState::Resolving,
    SessionState::AwaitingConfirmation,
    SessionState::Escalated,
    SessionState::Executing,
    SessionState::Verifying,
];

/// What else a workflow is checked against.
pub(crate) struct Surroundings<'a> {
    pub(crate) outlines: &'a Outlines,
    /// The acts of all contracts.
    pub(crate) acts: BTreeSet<String>,
    /// The roots of each write's budget values.
    pub(crate) budget_roots: BTreeMap<String, Roots>,
}

/// The case records a workflow declares, as name and tool; a first, silent look.
pub(crate) fn case_tools(node: &Node) -> BTreeMap<String, String> {
    let records = node.get("case").and_then(Node::members).unwrap_or_default();
    records
        .iter()
        .filter_map(|r| Some((r.name.clone(), r.value.get("tool")?.text()?.to_owned())))
        .collect()
}

/// Reads a workflow file. `None` after errors.
pub(crate) fn read(
    file: &File<'_>,
    node: &Node,
    around: &Surroundings<'_>,
    case: &Arc<Shape>,
) -> Option<Workflow> {
    if !file.map(node, "a workflow", KEYS) {
        return None;
    }
    let reader =
        Reader { file, node, around, roots: roots::workflow(Arc::clone(case), around.outlines) };
    let name = file.required(node, "workflow", "a workflow").and_then(|n| file.name(n));
    let version = file.required(node, "version", "a workflow").and_then(|n| file.count(n, 1));
    let purposes = reader.purposes();
    let expires_after = optional(node, "expires_after")
        .map_or(Some(SESSION_MAX_LIFE), |n| file.duration(n, SESSION_MAX_LIFE));
    let scope = reader.scope();
    let case = reader.case();
    let states = reader.states();
    let resolve = match optional(node, "resolve") {
        Some(n) => file.expr(n, &reader.roots, Wanted::Condition).map(Some),
        None => Some(None),
    };
    if let (Some(Case::Records(_)), Some(None)) = (&case, &resolve) {
        file.error(
            node.at,
            "a workflow with a case needs `resolve`",
            "add the condition over `case`, such as `resolve: 'has(case.loan)'`",
        );
    }
    let close = reader.close();
    let chain = optional(node, "chain").map_or(Some(Vec::new()), |n| reader.tools(n, true));
    let unusual = reader.unusual();
    let budgets = reader.budgets();
    let questions = reader.questions();
    Some(Workflow {
        name: name?,
        version: version?,
        purposes: purposes?,
        expires_after: expires_after?,
        scope: scope?,
        case: case?,
        states: states?,
        resolve: resolve?,
        close: close?,
        chain: chain?,
        unusual: unusual?,
        budgets: budgets?,
        questions: questions?,
    })
}

struct Reader<'a, 'p> {
    file: &'a File<'p>,
    node: &'a Node,
    around: &'a Surroundings<'a>,
    roots: Roots,
}

impl Reader<'_, '_> {
    fn purposes(&self) -> Option<BTreeSet<String>> {
        let node = self.file.required(self.node, "purposes", "a workflow")?;
        let purposes: BTreeSet<String> =
            self.file.list(node).iter().filter_map(|item| self.file.name(item)).collect();
        if purposes.is_empty() {
            self.file.error(
                node.at,
                "no purpose is given",
                "name at least one purpose that an intent may have",
            );
        }
        (!purposes.is_empty()).then_some(purposes)
    }

    /// A name of a contract.
    fn tool(&self, node: &Node, writes_only: bool) -> Option<String> {
        let text = self.file.text(node)?;
        let Some(outline) = self.around.outlines.get(text) else {
            let known: Vec<&str> = self.around.outlines.keys().map(String::as_str).collect();
            self.file.error(
                node.at,
                format!("`{text}` is not a contract of this bundle"),
                super::suggestion(text, &known),
            );
            return None;
        };
        if writes_only && outline.is_read {
            self.file.error(node.at, format!("`{text}` is a read"), "name writes here");
            return None;
        }
        Some(text.to_owned())
    }

    fn tools(&self, node: &Node, writes_only: bool) -> Option<Vec<String>> {
        let items = self.file.list(node);
        let tools: Vec<String> =
            items.iter().filter_map(|item| self.tool(item, writes_only)).collect();
        (tools.len() == items.len()).then_some(tools)
    }

    fn scope(&self) -> Option<WorkflowScope> {
        let all = || self.around.outlines.keys().cloned().collect();
        let Some(node) = optional(self.node, "scope") else {
            return Some(WorkflowScope { tools: all(), acts: BTreeSet::new(), writes: None });
        };
        if !self.file.map(node, "a scope", &["tools", "acts", "limits"]) {
            return None;
        }
        let tools = match optional(node, "tools") {
            Some(n) => self.tools(n, false).map(|tools| tools.into_iter().collect()),
            None => Some(all()),
        };
        let mut acts = BTreeSet::new();
        for item in optional(node, "acts").map(|n| self.file.list(n)).unwrap_or_default() {
            let act = self.file.text(item)?;
            if !self.around.acts.contains(act) {
                let known: Vec<&str> = self.around.acts.iter().map(String::as_str).collect();
                self.file.error(
                    item.at,
                    format!("no contract has the act `{act}`"),
                    super::suggestion(act, &known),
                );
                return None;
            }
            acts.insert(act.to_owned());
        }
        let writes = match optional(node, "limits") {
            Some(limits) if self.file.map(limits, "limits", &["writes"]) => {
                optional(limits, "writes").map_or(Some(None), |n| self.file.count(n, 0).map(Some))
            }
            Some(_) => None,
            None => Some(None),
        };
        Some(WorkflowScope { tools: tools?, acts, writes: writes? })
    }

    fn case(&self) -> Option<Case> {
        let node = self.file.required(self.node, "case", "a workflow")?;
        if node.text() == Some("none") {
            return Some(Case::None);
        }
        let Some(members) = node.members().filter(|members| !members.is_empty()) else {
            self.file.error(
                node.at,
                "a case is a map of records, or `none`",
                "write `case: none`, or `case: { loan: { type: Loan, tool: get_loan } }`",
            );
            return None;
        };
        let mut records = BTreeMap::new();
        for member in members {
            if !super::is_name(&member.name) {
                self.file.error(
                    member.at,
                    format!("`{}` is not a name", member.name),
                    "use lower-case letters, digits and `_`",
                );
                return None;
            }
            records.insert(member.name.clone(), self.record(&member.value)?);
        }
        Some(Case::Records(records))
    }

    fn record(&self, node: &Node) -> Option<CaseRecord> {
        if !self.file.map(node, "a case record", &["type", "tool", "from"]) {
            return None;
        }
        let type_node = self.file.required(node, "type", "a case record")?;
        let ty = self.file.type_name(type_node)?;
        let tool_node = self.file.required(node, "tool", "a case record")?;
        let tool = self.tool(tool_node, false)?;
        let from = optional(node, "from").map_or(Some(CaseSource::Any), |n| {
            self.file.member(n, CaseSource::ALL, CaseSource::as_str)
        })?;
        let outline = self.around.outlines.get(&tool)?;
        if !outline.is_read {
            self.file.error(
                tool_node.at,
                format!("`{tool}` is not a read"),
                "a case record is bound by a read",
            );
            return None;
        }
        if outline.resource_type.as_ref() != Some(&ty) {
            self.file.error(
                type_node.at,
                format!("`{tool}` does not answer a `{ty}`"),
                format!("write `resource: {{ type: {ty}, id: … }}` in the contract of `{tool}`, or name its type here"),
            );
            return None;
        }
        Some(CaseRecord { ty, tool, from })
    }

    fn states(&self) -> Option<BTreeMap<SessionState, BTreeSet<String>>> {
        let node = self.file.required(self.node, "states", "a workflow")?;
        let Some(members) = node.members() else {
            self.file.map(node, "states", &[]);
            return None;
        };
        let mut states = BTreeMap::new();
        for member in members {
            let state = SessionState::parse(&member.name).filter(|state| STATES.contains(state));
            let Some(state) = state else {
                let known: Vec<&str> = STATES.iter().map(|state| state.as_str()).collect();
                self.file.error(
                    member.at,
                    format!("no tool runs in `{}`", member.name),
                    super::suggestion(&member.name, &known),
                );
                return None;
            };
            let tools: BTreeSet<String> = self.tools(&member.value, false)?.into_iter().collect();
            for tool in &tools {
                let is_write =
                    self.around.outlines.get(tool).is_some_and(|outline| !outline.is_read);
                if is_write && state != SessionState::Resolving {
                    self.file.error(
                        member.value.at,
                        format!("the write `{tool}` cannot run in `{state}`"),
                        "name writes under RESOLVING only",
                    );
                    return None;
                }
            }
            states.insert(state, tools);
        }
        fill_busy_states(&mut states, self.around.outlines);
        Some(states)
    }

    fn close(&self) -> Option<Option<Close>> {
        let Some(node) = optional(self.node, "close") else { return Some(None) };
        if !self.file.map(node, "close", &["when", "outcome"]) {
            return None;
        }
        let when = self
            .file
            .required(node, "when", "close")
            .and_then(|n| self.file.expr(n, &self.roots, Wanted::Condition));
        let outcome = self.file.required(node, "outcome", "close").and_then(|n| self.file.name(n));
        Some(Some(Close { when: when?, outcome: outcome? }))
    }

    /// Combinations may name tools of other bundles: they simply never occur here.
    fn unusual(&self) -> Option<Vec<Vec<String>>> {
        let Some(node) = optional(self.node, "unusual") else { return Some(Vec::new()) };
        let mut combinations = Vec::new();
        for item in self.file.list(node) {
            let mut names = Vec::new();
            for name in self.file.list(item) {
                let text = self.file.name(name)?;
                if !self.around.outlines.contains_key(&text) {
                    self.file.warn(name.at, format!("`{text}` is not a contract of this bundle, so this combination never occurs"), "remove it, or add the contract");
                }
                names.push(text);
            }
            if names.len() < 2 {
                self.file.error(
                    item.at,
                    "a combination has at least two tools",
                    "name the tools that are unusual together",
                );
                return None;
            }
            combinations.push(names);
        }
        Some(combinations)
    }

    fn budgets(&self) -> Option<Budgets> {
        let Some(node) = optional(self.node, "budgets") else { return Some(default_budgets()) };
        if !self.file.map(node, "budgets", &["steps", "identical_calls", "calls", "sums"]) {
            return None;
        }
        let defaults = default_budgets();
        let steps = optional(node, "steps").map_or(Some(defaults.steps), |n| self.file.count(n, 1));
        let identical_calls = optional(node, "identical_calls")
            .map_or(Some(defaults.identical_calls), |n| self.file.count(n, 1));
        let mut calls = BTreeMap::new();
        if let Some(calls_node) = optional(node, "calls") {
            let known: Vec<&str> = self.around.outlines.keys().map(String::as_str).collect();
            if !self.file.map(calls_node, "calls", &known) {
                return None;
            }
            for member in calls_node.members().unwrap_or_default() {
                calls.insert(member.name.clone(), self.file.count(&member.value, 1)?);
            }
        }
        let mut sums = Vec::new();
        let mut seen = BTreeSet::new();
        for item in optional(node, "sums").map(|n| self.file.list(n)).unwrap_or_default() {
            let sum = self.sum(item)?;
            if !seen.insert(sum.id.clone()) {
                self.file.error(
                    item.at,
                    format!("the sum `{}` stands here twice", sum.id),
                    "give it another id",
                );
            }
            sums.push(sum);
        }
        Some(Budgets { steps: steps?, identical_calls: identical_calls?, calls, sums })
    }

    fn sum(&self, node: &Node) -> Option<SumBudget> {
        let file = self.file;
        let keys = ["id", "of", "value", "per", "window", "at_least", "then", "reason"];
        if !file.map(node, "a sum", &keys) {
            return None;
        }
        let need = |name: &str| file.required(node, name, "a sum");
        let id = need("id").and_then(|n| file.name(n));
        let of: Option<BTreeSet<String>> =
            need("of").and_then(|n| self.tools(n, true)).map(|tools| tools.into_iter().collect());
        let value = need("value").and_then(|n| self.sum_values(n, of.as_ref()?));
        let per = need("per").and_then(|n| file.member(n, BudgetScope::ALL, BudgetScope::as_str));
        let window = need("window").and_then(|n| file.duration(n, MAX_WINDOW));
        let at_least = need("at_least").and_then(|n| file.integer(n));
        let then =
            need("then").and_then(|n| file.member(n, BudgetAnswer::ALL, BudgetAnswer::as_str));
        let reason = match optional(node, "reason") {
            Some(n) => response::reason(file, n),
            None => then.map(|then| match then {
                BudgetAnswer::Approval => ReasonCode::AmountAboveThreshold,
                BudgetAnswer::Deny => ReasonCode::BudgetExceeded,
            }),
        };
        Some(SumBudget {
            id: id?,
            of: of?,
            value: value?,
            per: per?,
            window: window?,
            at_least: at_least?,
            then: then?,
            reason: reason?,
        })
    }

    /// The value, compiled for each tool it sums.
    fn sum_values(&self, node: &Node, of: &BTreeSet<String>) -> Option<BTreeMap<String, Expr>> {
        of.iter()
            .map(|tool| {
                let roots = self.around.budget_roots.get(tool)?;
                Some((tool.clone(), self.file.expr(node, roots, Wanted::Integer)?))
            })
            .collect()
    }

    fn questions(&self) -> Option<Questions> {
        let Some(node) = optional(self.node, "questions") else { return Some(default_questions()) };
        let keys = ["refused_before_silence", "unbacked_before_quiet"];
        if !self.file.map(node, "questions", &keys) {
            return None;
        }
        let defaults = default_questions();
        let count = |name: &str, default: u32| {
            optional(node, name).map_or(Some(default), |n| self.file.count(n, 1))
        };
        let refused = count("refused_before_silence", defaults.refused_before_silence);
        let unbacked = count("unbacked_before_quiet", defaults.unbacked_before_quiet);
        Some(Questions { refused_before_silence: refused?, unbacked_before_quiet: unbacked? })
    }
}

/// Reads always run: while a write is carried out or verified, those of RESOLVING do.
fn fill_busy_states(states: &mut BTreeMap<SessionState, BTreeSet<String>>, outlines: &Outlines) {
    let is_read = |tool: &&String| outlines.get(*tool).is_some_and(|outline| outline.is_read);
    let reads: BTreeSet<String> = states
        .get(&SessionState::Resolving)
        .into_iter()
        .flatten()
        .filter(is_read)
        .cloned()
        .collect();
    for state in [SessionState::Executing, SessionState::Verifying] {
        states.entry(state).or_insert_with(|| reads.clone());
    }
}

fn default_budgets() -> Budgets {
    Budgets { steps: 40, identical_calls: 3, calls: BTreeMap::new(), sums: Vec::new() }
}

fn default_questions() -> Questions {
    Questions { refused_before_silence: 1, unbacked_before_quiet: 5 }
}

/// The name of the built-in workflow without a case.
pub(crate) const ASSISTANT: &str = "assistant";
/// The name of the built-in workflow whose case is any record that a read answers.
pub(crate) const CASE: &str = "case";

/// The case records of the built-in workflow `case`: one per record type that a fact-serving read answers.
pub(crate) fn built_in_case(outlines: &Outlines) -> BTreeMap<String, CaseRecord> {
    let mut records = BTreeMap::new();
    for (tool, outline) in outlines.iter().filter(|(_, o)| o.is_read && o.serves_facts) {
        if let Some(ty) = &outline.resource_type {
            let record = CaseRecord { ty: ty.clone(), tool: tool.clone(), from: CaseSource::Any };
            records.entry(snake(ty)).or_insert(record);
        }
    }
    records
}

fn snake(ty: &str) -> String {
    let mut name = String::new();
    for c in ty.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// A built-in workflow over all contracts; `None` for an unknown name.
pub(crate) fn built_in(name: &str, outlines: &Outlines) -> Option<Workflow> {
    let reads: BTreeSet<String> =
        outlines.iter().filter(|(_, o)| o.is_read).map(|(name, _)| name.clone()).collect();
    let all: BTreeSet<String> = outlines.keys().cloned().collect();
    let (case, resolve) = match name {
        ASSISTANT => (Case::None, None),
        CASE => {
            let records = built_in_case(outlines);
            let any: Vec<String> = records.keys().map(|name| format!("has(case.{name})")).collect();
            let shape =
                Shape::optional_record(records.keys().map(|name| (name.clone(), Shape::Any)));
            let roots = Roots::new().with("case", shape);
            (Case::Records(records), Some(Expr::compile(&any.join(" || "), &roots).ok()?))
        }
        _ => return None,
    };
    let states = STATES.into_iter().map(|state| {
        (state, if state == SessionState::Resolving { all.clone() } else { reads.clone() })
    });
    Some(Workflow {
        name: name.to_owned(),
        version: 1,
        purposes: BTreeSet::from([name.to_owned()]),
        expires_after: SESSION_MAX_LIFE,
        scope: WorkflowScope { tools: all.clone(), acts: BTreeSet::new(), writes: None },
        case,
        states: states.collect(),
        resolve,
        close: None,
        chain: Vec::new(),
        unusual: Vec::new(),
        budgets: default_budgets(),
        questions: default_questions(),
    })
}

/// Whether a value of `workflow:` names a file.
pub(crate) fn is_file(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Text(text) if text != ASSISTANT && text != CASE)
}
