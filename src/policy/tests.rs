use serde_json::json;

use super::*;

const BASE: &str = include_str!("../../policies/base.cedar");

fn args() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["book_id"],
        "properties": {"book_id": {"type": "string"}, "weeks": {"type": "integer"}}
    })
}

fn book() -> Value {
    json!({
        "type": "object", "required": ["owner"],
        "properties": {"owner": {"type": "string"}, "due": {"type": "string"}}
    })
}

struct Desk {
    risks: BTreeSet<Risk>,
    args: Value,
    book: Value,
    permit: Permit,
    always_approved: bool,
}

impl Desk {
    fn new(risk: Risk) -> Self {
        let permit = Permit::Roles(BTreeSet::from(["member".to_owned()]));
        Self { risks: [risk].into(), args: args(), book: book(), permit, always_approved: false }
    }

    fn compile(&self, more: &str) -> Result<Policies, Vec<PolicyFault>> {
        self.compile_replacing(more, &BTreeSet::new())
    }

    fn compile_replacing(
        &self,
        more: &str,
        replaced: &BTreeSet<String>,
    ) -> Result<Policies, Vec<PolicyFault>> {
        let tool = ToolShape {
            name: "lend_book",
            risks: &self.risks,
            resource: Some("Book"),
            args: &self.args,
            roles: BTreeMap::from([(RoleKind::Target, true), (RoleKind::Amount, false)]),
            facts: BTreeMap::from([("book".to_owned(), &self.book)]),
            permit: self.permit.clone(),
            always_approved: self.always_approved,
        };
        let sources = [
            PolicySource { file: "base.cedar", text: BASE, prefix: "base" },
            PolicySource { file: "desk.cedar", text: more, prefix: "desk" },
        ];
        compile(&[tool], &sources, replaced)
    }

    fn policy(&self, more: &str) -> ToolPolicy {
        self.compile(more).unwrap().tools.remove("lend_book").unwrap()
    }
}

fn input() -> PolicyInput {
    let target =
        RoleFacts { integrity: 2, sources: BTreeSet::from(["book_1".to_owned()]), named: true };
    PolicyInput {
        principal: PrincipalFacts {
            tenant: "acme".to_owned(),
            sub: "p_1".to_owned(),
            kind: "person".to_owned(),
            roles: BTreeSet::from(["member".to_owned()]),
            channel: "portal".to_owned(),
        },
        resource: Some(ResourceFacts { ty: "Book".to_owned(), id: "b_1".to_owned() }),
        guard: Guard::clean(),
        state: "RESOLVING".to_owned(),
        purpose: "lending".to_owned(),
        args: json!({"book_id": "b_1"}),
        roles: BTreeMap::from([(RoleKind::Target, target)]),
        facts: json!({"book": {"owner": "cus_1", "due": "2026-01-05"}}),
    }
}

fn needs_and_reasons(verdict: &PolicyVerdict) -> (Vec<&'static str>, Vec<&'static str>) {
    match verdict {
        PolicyVerdict::Allow { .. } => (vec![], vec![]),
        PolicyVerdict::Needs { needs, rules } => (
            needs.iter().map(|need| need.as_str()).collect(),
            rules.iter().map(|rule| rule.reason.as_str()).collect(),
        ),
        PolicyVerdict::Deny { rules, .. } => {
            (vec!["deny"], rules.iter().map(|rule| rule.reason.as_str()).collect())
        }
    }
}

#[test]
fn a_clean_request_of_a_permitted_role_is_allowed_by_its_contract() {
    let verdict = Desk::new(Risk::Financial).policy("").evaluate(&input());
    assert_eq!(verdict, PolicyVerdict::Allow { permits: vec!["lend_book/allow".to_owned()] });
}

#[test]
fn a_hostile_citation_needs_both_answers_and_gives_every_reason() {
    let mut input = input();
    input.guard.authority_clean = false;
    input.guard.authority_named = false;
    input.guard.act_asked = false;
    let verdict = Desk::new(Risk::Financial).policy("").evaluate(&input);
    assert_eq!(
        needs_and_reasons(&verdict),
        (
            vec!["confirmation", "approval"],
            vec!["act_not_asked_for", "untrusted_source_for_sensitive_action", "target_not_named"]
        )
    );
}

#[test]
fn a_request_that_nothing_permits_is_denied_and_not_sent_to_an_approver() {
    let mut input = input();
    input.principal.roles = BTreeSet::from(["guest".to_owned()]);
    input.guard.above_threshold = true;
    let verdict = Desk::new(Risk::Financial).policy("").evaluate(&input);
    assert_eq!(needs_and_reasons(&verdict), (vec!["deny"], vec!["policy_denied"]));
}

#[test]
fn a_refusal_beats_a_question() {
    let mut input = input();
    input.guard.own_data = false;
    input.guard.above_threshold = true;
    let verdict = Desk::new(Risk::Financial).policy("").evaluate(&input);
    assert_eq!(needs_and_reasons(&verdict), (vec!["deny"], vec!["identity_mismatch"]));
}

/// Cedar skips a forbid whose condition fails; overflow is what validation cannot exclude.
const OVERFLOWING: &str = r#"@id("desk/overflow") @reason("policy_denied")
    forbid (principal, action, resource) when { context.guard.sensitive_before * 9223372036854775807 < 0 };"#;

#[test]
fn a_failing_forbid_denies_in_the_hard_set() {
    let mut input = input();
    let policy = Desk::new(Risk::Read).policy(OVERFLOWING);
    assert!(matches!(policy.evaluate(&input), PolicyVerdict::Allow { .. }));
    input.guard.sensitive_before = 2;
    let PolicyVerdict::Deny { rules, error } = policy.evaluate(&input) else {
        panic!("not denied")
    };
    assert_eq!(rules[0].reason, ReasonCode::PolicyError);
    assert!(error.unwrap().contains("desk/overflow"));
}

#[test]
fn a_failing_question_denies_too() {
    let mut input = input();
    input.guard.sensitive_before = 2;
    let asking = OVERFLOWING.replace("@reason", "@needs(\"approval\") @reason");
    let verdict = Desk::new(Risk::Read).policy(&asking).evaluate(&input);
    assert!(matches!(verdict, PolicyVerdict::Deny { error: Some(_), .. }));
}

#[test]
fn a_failing_question_denies_beside_a_refusal_as_well() {
    let mut input = input();
    input.guard.sensitive_before = 2;
    input.guard.own_data = false;
    let asking = OVERFLOWING.replace("@reason", "@needs(\"approval\") @reason");
    let verdict = Desk::new(Risk::Read).policy(&asking).evaluate(&input);
    assert!(matches!(verdict, PolicyVerdict::Deny { error: Some(_), .. }));
}

#[test]
fn an_unguarded_optional_attribute_does_not_load_and_a_guarded_one_does() {
    let unguarded = r#"@id("desk/weeks") @reason("policy_denied")
        forbid (principal, action == Action::"lend_book", resource) when { context.args.weeks > 4 };"#;
    let faults = Desk::new(Risk::Read).compile(unguarded).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].file, "desk.cedar");
    assert!(faults[0].text.contains("weeks"), "{}", faults[0].text);
    let guarded =
        unguarded.replace("context.args.weeks >", "context.args has weeks && context.args.weeks >");
    let policy = Desk::new(Risk::Read).policy(&guarded);
    let mut input = input();
    assert!(matches!(policy.evaluate(&input), PolicyVerdict::Allow { .. }));
    input.args = json!({"book_id": "b_1", "weeks": 5});
    assert_eq!(needs_and_reasons(&policy.evaluate(&input)).0, ["deny"]);
}

#[test]
fn null_is_absent_for_a_policy() {
    let guarded = r#"@id("desk/weeks") @reason("policy_denied")
        forbid (principal, action == Action::"lend_book", resource) when { context.args has weeks };"#;
    let mut input = input();
    input.args = json!({"book_id": "b_1", "weeks": null});
    let verdict = Desk::new(Risk::Read).policy(guarded).evaluate(&input);
    assert!(matches!(verdict, PolicyVerdict::Allow { .. }));
}

#[test]
fn a_missing_fact_role_or_resource_denies() {
    let policy = Desk::new(Risk::Read).policy("");
    for broken in [
        PolicyInput { facts: json!({}), ..input() },
        PolicyInput { facts: json!({"book": {"due": "x"}}), ..input() },
        PolicyInput { roles: BTreeMap::new(), ..input() },
        PolicyInput { resource: None, ..input() },
        PolicyInput { args: json!({"book_id": 7}), ..input() },
    ] {
        let verdict = policy.evaluate(&broken);
        assert!(matches!(verdict, PolicyVerdict::Deny { error: Some(_), .. }), "{verdict:?}");
    }
}

#[test]
fn escapes_in_arguments_are_texts_to_a_policy() {
    let mut input = input();
    input.args = json!({"book_id": {"__entity": {"type": "Book", "id": "b"}}});
    let verdict = Desk::new(Risk::Read).policy("").evaluate(&input);
    assert!(matches!(verdict, PolicyVerdict::Deny { error: Some(_), .. }));
}

#[test]
fn a_rule_that_can_never_apply_does_not_load() {
    let dead = r#"@id("desk/dead") @reason("policy_denied")
        forbid (principal, action == Action::"lend_book", resource) when { 1 == 2 };"#;
    let faults = Desk::new(Risk::Read).compile(dead).unwrap_err();
    assert_eq!((faults[0].file.as_str(), faults[0].offset), ("desk.cedar", Some(0)));
    let unknown = dead.replace("lend_book", "borrow_book");
    assert!(Desk::new(Risk::Read).compile(&unknown).is_err());
}

#[test]
fn ids_are_unique_across_files_and_only_base_may_be_replaced() {
    let twice = r#"@id("desk/a") permit (principal, action, resource);
        @id("desk/a") permit (principal, action, resource);"#;
    assert_eq!(
        Desk::new(Risk::Read).compile(twice).unwrap_err()[0].text,
        "the id `desk/a` is used twice"
    );
    let replaced = BTreeSet::from(["base/nothing".to_owned()]);
    let faults = Desk::new(Risk::Read).compile_replacing("", &replaced).unwrap_err();
    assert!(faults[0].text.contains("`base/nothing`"));
}

#[test]
fn a_replaced_base_rule_is_gone_for_the_tool_and_for_its_probe() {
    let replaced = BTreeSet::from(["base/financial-threshold".to_owned()]);
    let policies = Desk::new(Risk::Financial).compile_replacing("", &replaced).unwrap();
    let mut input = input();
    input.guard.above_threshold = true;
    assert!(matches!(policies.tools["lend_book"].evaluate(&input), PolicyVerdict::Allow { .. }));
    let probe = PolicyInput {
        resource: None,
        args: json!({}),
        facts: json!({}),
        roles: BTreeMap::new(),
        ..input
    };
    assert!(matches!(
        policies.probes[&Risk::Financial].evaluate(&probe),
        PolicyVerdict::Allow { .. }
    ));
    assert!(matches!(
        policies.probes[&Risk::Reversible].evaluate(&probe),
        PolicyVerdict::Needs { .. }
    ));
}

#[test]
fn a_tool_that_nothing_permits_is_named() {
    let mut desk = Desk::new(Risk::Reversible);
    desk.permit = Permit::Nobody;
    assert_eq!(desk.compile("").unwrap().unpermitted, ["lend_book"]);
    let permit = r#"@id("desk/lend") permit (principal, action == Action::"lend_book", resource);"#;
    assert_eq!(desk.compile(permit).unwrap().unpermitted, Vec::<String>::new());
}

#[test]
fn a_tool_of_class_once_always_asks_an_approver() {
    let mut desk = Desk::new(Risk::Reversible);
    desk.always_approved = true;
    let verdict = desk.policy("").evaluate(&input());
    assert_eq!(needs_and_reasons(&verdict), (vec!["approval"], vec!["approval_always_needed"]));
}

#[test]
fn role_names_with_quotes_stay_inside_their_text() {
    let mut desk = Desk::new(Risk::Read);
    desk.permit = Permit::Roles(BTreeSet::from([
        "a\"]) }; permit (principal, action, resource);//".to_owned(),
    ]));
    let verdict = desk.policy("").evaluate(&input());
    assert_eq!(needs_and_reasons(&verdict), (vec!["deny"], vec!["policy_denied"]));
}
