//! Fixture files.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Map, Value};

use super::{File, optional, response};
use crate::{
    bundle::{
        Bundle,
        fixtures::{
            Expected, Fixture, Given, GivenCitation, GivenContent, GivenCounters, GivenDatum,
            GivenFact, GivenPrincipal, GivenScope, Proposal,
        },
        problem::Place,
        yaml::Node,
    },
    domain::{
        clock::Timestamp,
        contract_terms::{Need, PartKind, PrincipalKind, ScopeSource, Verdict},
        pointer::Pointer,
        reason::ReasonCode,
        session::SessionState,
    },
};

const GIVEN: &[&str] = &[
    "now",
    "state",
    "principal",
    "scope",
    "data",
    "unseen",
    "statements",
    "case",
    "facts",
    "fact_ages",
    "sums",
    "before",
    "corrupted",
    "duplicate",
    "answered",
    "answer",
    "after",
];
const STATES: &[SessionState] =
    &[SessionState::Analyzing, SessionState::Resolving, SessionState::Halted, SessionState::Closed];
/// The oldest age a fixture may give anything.
const AGES: Duration = Duration::from_secs(366 * 24 * 3_600);
/// What the effect's verification may be expected to show.
const SHOWN: &[&str] = &["verified", "missing", "duplicated", "mismatched"];

/// Reads the cases of one file into `cases`.
pub(crate) fn read(file: &File<'_>, node: &Node, bundle: &Bundle, cases: &mut Vec<Fixture>) {
    if !file.map(node, "a fixture file", &["fixtures", "cases"]) {
        return;
    }
    file.required(node, "fixtures", "a fixture file").and_then(|n| file.name(n));
    let Some(list) = file.required(node, "cases", "a fixture file") else { return };
    let known = bundle.rule_names();
    for item in file.list(list) {
        let reader = Reader { file, bundle, known: &known };
        if let Some(case) = reader.case(item) {
            if cases.iter().any(|other| other.id == case.id) {
                file.error(
                    item.at,
                    format!("the case `{}` stands here twice", case.id),
                    "give it another id",
                );
            }
            cases.push(case);
        }
    }
}

struct Reader<'a, 'p> {
    file: &'a File<'p>,
    bundle: &'a Bundle,
    known: &'a BTreeSet<String>,
}

impl Reader<'_, '_> {
    fn case(&self, node: &Node) -> Option<Fixture> {
        let keys = ["id", "passes", "stops", "given", "intent", "expect"];
        if !self.file.map(node, "a case", &keys) {
            return None;
        }
        let id = self.file.required(node, "id", "a case").and_then(|n| self.file.name(n));
        let passes = self.rules(node, "passes");
        let stops = self.rules(node, "stops");
        let given = self.file.required(node, "given", "a case").and_then(|n| self.given(n));
        let intent = self.file.required(node, "intent", "a case").and_then(|n| self.intent(n));
        let expect = self.file.required(node, "expect", "a case").and_then(|n| self.expect(n));
        Some(Fixture {
            file: self.file.name.to_owned(),
            place: node.at,
            id: id?,
            passes: passes?,
            stops: stops?,
            given: given?,
            intent: intent?,
            expect: expect?,
        })
    }

    /// Names of rules that exist and can apply to a tool of the bundle.
    fn rules(&self, node: &Node, name: &str) -> Option<Vec<(String, Place)>> {
        let mut rules = Vec::new();
        for item in optional(node, name).map(|n| self.file.list(n)).unwrap_or_default() {
            let rule = self.file.text(item)?;
            if !self.known.contains(rule) {
                let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
                self.file.error(
                    item.at,
                    format!("no rule `{rule}` applies to a tool of this bundle"),
                    super::suggestion(rule, &known),
                );
                return None;
            }
            rules.push((rule.to_owned(), item.at));
        }
        Some(rules)
    }

    fn given(&self, node: &Node) -> Option<Given> {
        if !self.file.map(node, "`given`", GIVEN) {
            return None;
        }
        let now = self.file.required(node, "now", "`given`").and_then(|n| self.time(n));
        let state = optional(node, "state").map_or(Some(SessionState::Resolving), |n| {
            self.file.member(n, STATES, SessionState::as_str)
        });
        let principal =
            self.file.required(node, "principal", "`given`").and_then(|n| self.principal(n));
        let scope = self.scope(optional(node, "scope"));
        let data = self.data(optional(node, "data"));
        let case = self.case_records(optional(node, "case"), data.as_ref());
        let unseen = optional(node, "unseen").map(|n| self.file.words(n)).unwrap_or_default();
        let facts = self.facts(node);
        let statements = self.statements(optional(node, "statements"));
        let sums = self.numbers(optional(node, "sums"));
        let before = self.before(optional(node, "before"));
        let corrupted = self.tools(optional(node, "corrupted"));
        let duplicate = optional(node, "duplicate").map_or(Some(false), |n| self.file.boolean(n));
        let answered: Option<BTreeSet<Need>> = optional(node, "answered")
            .map(|n| self.file.list(n))
            .unwrap_or_default()
            .iter()
            .map(|item| self.file.member(item, Need::ALL, Need::as_str))
            .collect();
        Some(Given {
            now: now?,
            state: state?,
            principal: principal?,
            scope: scope?,
            data: data?,
            unseen,
            statements: statements?,
            case: case?,
            facts: facts?,
            sums: sums?,
            before: before?,
            corrupted: corrupted?,
            duplicate: duplicate?,
            answered: answered?,
            answer: optional(node, "answer").map(Node::to_json),
            after: optional(node, "after").map(Node::to_json),
        })
    }

    fn time(&self, node: &Node) -> Option<Timestamp> {
        let text = self.file.text(node)?;
        let time = Timestamp::from_rfc3339(text);
        if time.is_none() {
            self.file.error(
                node.at,
                format!("`{text}` is not a time"),
                "write it as in `2026-01-05T09:00:00Z`",
            );
        }
        time
    }

    fn principal(&self, node: &Node) -> Option<GivenPrincipal> {
        let Some(members) = node.members() else {
            self.file.map(node, "a principal", &[]);
            return None;
        };
        let file = self.file;
        let kind = optional(node, "kind").map_or(Some(PrincipalKind::Person), |n| {
            file.member(n, PrincipalKind::ALL, PrincipalKind::as_str)
        });
        let sub = file.required(node, "sub", "a principal").and_then(|n| file.word(n));
        let tenant = optional(node, "tenant").map_or(Some("acme".to_owned()), |n| file.word(n));
        let roles = optional(node, "roles").map(|n| file.words(n)).unwrap_or_default();
        let channel = file.required(node, "channel", "a principal").and_then(|n| file.word(n));
        let auth_age = match optional(node, "auth_age") {
            Some(n) => file.duration(n, AGES).map(Some),
            None => Some(None),
        };
        let own = ["kind", "sub", "tenant", "roles", "channel", "auth_age"];
        let claims: Map<String, Value> = members
            .iter()
            .filter(|member| !own.contains(&member.name.as_str()))
            .map(|member| (member.name.clone(), member.value.to_json()))
            .collect();
        Some(GivenPrincipal {
            kind: kind?,
            sub: sub?,
            tenant: tenant?,
            roles,
            channel: channel?,
            auth_age: auth_age?,
            claims,
        })
    }

    fn scope(&self, node: Option<&Node>) -> Option<GivenScope> {
        let Some(node) = node else {
            return Some(GivenScope {
                source: ScopeSource::Workflow,
                tools: None,
                acts: BTreeSet::new(),
                targets: BTreeMap::new(),
                limits: BTreeMap::new(),
            });
        };
        if !self.file.map(node, "a scope", &["source", "tools", "acts", "targets", "limits"]) {
            return None;
        }
        let source = self
            .file
            .required(node, "source", "a scope")
            .and_then(|n| self.file.member(n, ScopeSource::ALL, ScopeSource::as_str));
        let tools = match optional(node, "tools") {
            Some(n) => self.tools(Some(n)).map(Some),
            None => Some(None),
        };
        let acts = optional(node, "acts").map(|n| self.file.words(n)).unwrap_or_default();
        let mut targets = BTreeMap::new();
        for member in optional(node, "targets").and_then(Node::members).unwrap_or_default() {
            targets.insert(member.name.clone(), self.file.words(&member.value));
        }
        let limits = self.numbers(optional(node, "limits"));
        Some(GivenScope { source: source?, tools: tools?, acts, targets, limits: limits? })
    }

    fn tools(&self, node: Option<&Node>) -> Option<BTreeSet<String>> {
        let mut tools = BTreeSet::new();
        for item in node.map(|n| self.file.list(n)).unwrap_or_default() {
            let tool = self.file.text(item)?;
            if !self.bundle.contracts.contains_key(tool) {
                let known: Vec<&str> = self.bundle.contracts.keys().map(String::as_str).collect();
                self.file.error(
                    item.at,
                    format!("`{tool}` is not a contract of this bundle"),
                    super::suggestion(tool, &known),
                );
                return None;
            }
            tools.insert(tool.to_owned());
        }
        Some(tools)
    }

    fn data(&self, node: Option<&Node>) -> Option<BTreeMap<String, GivenDatum>> {
        let mut data = BTreeMap::new();
        for member in node.and_then(Node::members).unwrap_or_default() {
            let value = &member.value;
            if !self.file.map(value, "a datum", &["kind", "tool", "text", "content"]) {
                return None;
            }
            let tool = match optional(value, "tool") {
                Some(n) => {
                    let text = self.file.text(n)?;
                    if !self.bundle.contracts.contains_key(text) {
                        self.file.error(
                            n.at,
                            format!("`{text}` is not a contract of this bundle"),
                            "name the read that answered it",
                        );
                        return None;
                    }
                    Some(text.to_owned())
                }
                None => None,
            };
            let content = match (optional(value, "text"), optional(value, "content")) {
                (Some(n), None) => GivenContent::Text(self.file.text(n)?.to_owned()),
                (None, Some(n)) => GivenContent::Json(n.to_json()),
                (Some(_), Some(_)) | (None, None) => {
                    self.file.error(
                        value.at,
                        "a datum has a `text` or a `content`",
                        "give one of the two",
                    );
                    return None;
                }
            };
            let kind = match (optional(value, "kind"), &tool) {
                (Some(n), _) => self.file.name(n)?,
                (None, Some(tool)) => self.bundle.contracts.get(tool)?.response.datum.kind.clone(),
                (None, None) => "text".to_owned(),
            };
            data.insert(member.name.clone(), GivenDatum { kind, tool, content });
        }
        Some(data)
    }

    fn case_records(
        &self,
        node: Option<&Node>,
        data: Option<&BTreeMap<String, GivenDatum>>,
    ) -> Option<BTreeMap<String, String>> {
        let mut records = BTreeMap::new();
        for member in node.and_then(Node::members).unwrap_or_default() {
            let datum = self.file.text(&member.value)?;
            if data.is_some_and(|data| !data.contains_key(datum)) {
                self.file.error(
                    member.value.at,
                    format!("there is no datum `{datum}`"),
                    "name one of `data`",
                );
                return None;
            }
            records.insert(member.name.clone(), datum.to_owned());
        }
        Some(records)
    }

    fn facts(&self, given: &Node) -> Option<BTreeMap<String, GivenFact>> {
        let mut ages = BTreeMap::new();
        for member in optional(given, "fact_ages").and_then(Node::members).unwrap_or_default() {
            ages.insert(member.name.as_str(), self.file.duration(&member.value, AGES)?);
        }
        let mut facts = BTreeMap::new();
        for member in optional(given, "facts").and_then(Node::members).unwrap_or_default() {
            let fact = match member.value.text() {
                Some("absent") => GivenFact::Absent,
                Some("unavailable") => GivenFact::Unavailable,
                Some(_) | None if member.value.members().is_some() => GivenFact::Present {
                    value: member.value.to_json(),
                    age: ages.get(member.name.as_str()).copied().unwrap_or_default(),
                },
                Some(_) | None => {
                    self.file.error(
                        member.value.at,
                        "a fact is a record, `absent` or `unavailable`",
                        "write what reading it brings",
                    );
                    return None;
                }
            };
            facts.insert(member.name.clone(), fact);
        }
        Some(facts)
    }

    fn statements(&self, node: Option<&Node>) -> Option<Vec<Vec<(PartKind, String)>>> {
        let mut statements = Vec::new();
        for item in node.map(|n| self.file.list(n)).unwrap_or_default() {
            let mut parts = Vec::new();
            if let Some(text) = item.text() {
                parts.push((PartKind::Typed, text.to_owned()));
            } else {
                let kinds: Vec<&str> = PartKind::ALL.iter().map(|kind| kind.as_str()).collect();
                if !self.file.map(item, "a statement", &kinds) {
                    return None;
                }
                for member in item.members().unwrap_or_default() {
                    parts.push((
                        PartKind::parse(&member.name)?,
                        self.file.text(&member.value)?.to_owned(),
                    ));
                }
            }
            statements.push(parts);
        }
        Some(statements)
    }

    fn numbers(&self, node: Option<&Node>) -> Option<BTreeMap<String, i64>> {
        let mut numbers = BTreeMap::new();
        for member in node.and_then(Node::members).unwrap_or_default() {
            numbers.insert(member.name.clone(), self.file.integer(&member.value)?);
        }
        Some(numbers)
    }

    fn before(&self, node: Option<&Node>) -> Option<GivenCounters> {
        let Some(node) = node else { return Some(GivenCounters::default()) };
        if !self.file.map(node, "`before`", &["steps", "writes", "sensitive"]) {
            return None;
        }
        let count = |name: &str| optional(node, name).map_or(Some(0), |n| self.file.count(n, 0));
        Some(GivenCounters {
            steps: count("steps")?,
            writes: count("writes")?,
            sensitive: count("sensitive")?,
        })
    }

    fn intent(&self, node: &Node) -> Option<Proposal> {
        let keys = ["purpose", "tool", "arguments", "citations", "evidence"];
        if !self.file.map(node, "an intent", &keys) {
            return None;
        }
        let default = self.bundle.workflow.purposes.iter().next().cloned().unwrap_or_default();
        let purpose = optional(node, "purpose")
            .map_or(Some(default), |n| self.file.text(n).map(str::to_owned));
        let tool = self.file.required(node, "tool", "an intent").and_then(|n| self.file.text(n));
        let arguments =
            optional(node, "arguments").map_or(Value::Object(Map::new()), Node::to_json);
        let citations: Option<Vec<GivenCitation>> = optional(node, "citations")
            .map(|n| self.file.list(n))
            .unwrap_or_default()
            .iter()
            .map(|item| self.citation(item))
            .collect();
        let evidence = optional(node, "evidence").map(|n| self.file.list(n)).unwrap_or_default();
        let evidence: Option<Vec<String>> =
            evidence.iter().map(|item| self.file.text(item).map(str::to_owned)).collect();
        Some(Proposal {
            purpose: purpose?,
            tool: tool?.to_owned(),
            arguments,
            citations: citations?,
            evidence: evidence?,
        })
    }

    fn citation(&self, node: &Node) -> Option<GivenCitation> {
        if !self.file.map(node, "a citation", &["argument", "datum", "pointer", "text"]) {
            return None;
        }
        let argument = self
            .file
            .required(node, "argument", "a citation")
            .and_then(|n| self.file.pointer(n))?;
        let datum = self
            .file
            .required(node, "datum", "a citation")
            .and_then(|n| self.file.text(n))?
            .to_owned();
        if let Some(span) = optional(node, "text") {
            if !self.file.map(span, "a passage", &["exact", "pointer"]) {
                return None;
            }
            let exact = self
                .file
                .required(span, "exact", "a passage")
                .and_then(|n| self.file.text(n))?
                .to_owned();
            let pointer = optional(span, "pointer")
                .map_or(Some(Pointer::root()), |n| self.file.pointer(n))?;
            return Some(GivenCitation { argument, datum, pointer, exact: Some(exact) });
        }
        let pointer =
            self.file.required(node, "pointer", "a citation").and_then(|n| self.file.pointer(n))?;
        Some(GivenCitation { argument, datum, pointer, exact: None })
    }

    fn expect(&self, node: &Node) -> Option<Expected> {
        let file = self.file;
        let keys = ["decision", "needs", "reasons", "reasons_include", "answer", "effect"];
        if !file.map(node, "`expect`", &keys) {
            return None;
        }
        let decision = file
            .required(node, "decision", "`expect`")
            .and_then(|n| file.member(n, Verdict::ALL, Verdict::as_str));
        let needs = match optional(node, "needs") {
            Some(n) => {
                let items = file.list(n).iter();
                Some(
                    items
                        .map(|item| file.member(item, Need::ALL, Need::as_str))
                        .collect::<Option<_>>()?,
                )
            }
            None => None,
        };
        let codes = |name: &str| -> Option<Option<BTreeSet<ReasonCode>>> {
            match optional(node, name) {
                Some(n) => file
                    .list(n)
                    .iter()
                    .map(|item| response::reason(file, item))
                    .collect::<Option<_>>()
                    .map(Some),
                None => Some(None),
            }
        };
        let (reasons, reasons_include) = (codes("reasons"), codes("reasons_include"));
        let answer = match optional(node, "answer") {
            Some(n) if n.text() == Some("accepted") => Some(Some(None)),
            Some(n) => response::reason(file, n).map(|code| Some(Some(code))),
            None => Some(None),
        };
        let effect = match optional(node, "effect") {
            Some(n) => {
                let text = file.text(n)?;
                if !SHOWN.contains(&text) {
                    file.error(
                        n.at,
                        format!("`{text}` is not something a verification shows"),
                        super::suggestion(text, SHOWN),
                    );
                    return None;
                }
                Some(text.to_owned())
            }
            None => None,
        };
        Some(Expected {
            decision: decision?,
            needs,
            reasons: reasons?,
            reasons_include: reasons_include?.unwrap_or_default(),
            answer: answer?,
            effect,
        })
    }
}
