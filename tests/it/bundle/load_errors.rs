//! One mistake a case, and exactly what is said about it.

use stateguard::bundle::Bundle;

use super::changed;

/// A mistake: file, passage, replacement, and the problems as `file:line:column: text`.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

const EXTEND: &str = "contracts/extend_loan.yaml";
const LOAN: &str = "contracts/get_loan.yaml";

const CASES: &[Case] = &[
    // YAML and keys
    (
        EXTEND,
        "version: 2",
        "version: 2\nversion: 3",
        &["contracts/extend_loan.yaml:3:1: the name `version` stands here twice"],
    ),
    (
        EXTEND,
        "risk: [reversible]",
        "risc: [reversible]",
        &[
            "contracts/extend_loan.yaml:1:1: a contract needs `risk`",
            "contracts/extend_loan.yaml:4:1: `risc` is not a key of a contract",
        ],
    ),
    (
        EXTEND,
        "risk: [reversible]",
        "risk: [reversable]",
        &[
            "contracts/extend_loan.yaml:4:8: `reversable` is not one of read, read_sensitive, reversible, sensitive, financial, irreversible, grant, egress",
        ],
    ),
    (
        EXTEND,
        "version: 2",
        "version: two",
        &["contracts/extend_loan.yaml:2:10: this is a text where an integer is needed"],
    ),
    (EXTEND, "version: 2\n", "", &["contracts/extend_loan.yaml:1:1: a contract needs `version`"]),
    (
        EXTEND,
        "contract: extend_loan",
        "contract: renew_loan",
        &[
            "contracts/extend_loan.yaml:1:11: this file is listed as `extend_loan` and defines `renew_loan`",
        ],
    ),
    (
        "bundle.yaml",
        "contracts: [get_loan,",
        "contracts: [get_lone, get_loan,",
        &["bundle.yaml:3:13: there is no file `contracts/get_lone.yaml`"],
    ),
    (
        "bundle.yaml",
        "version: 1.0.0",
        "version: one",
        &["bundle.yaml:2:10: `one` is not a version"],
    ),
    (
        "bundle.yaml",
        "policies: [authorization.cedar]",
        "policies: [../authorization.cedar]",
        &["bundle.yaml:5:12: `../authorization.cedar` is not a file of this bundle"],
    ),
    (
        "bundle.yaml",
        "words_may_ask: [reversible]",
        "replace: [{ policy: base/nothing, because: 'why not' }]",
        &["bundle.yaml:9:11: `replace` names `base/nothing`, which is no base rule"],
    ),
    (
        "bundle.yaml",
        "words_may_ask: [reversible]",
        "replace: [{ policy: base/reversible-claimed, because: '' }]",
        &["bundle.yaml:9:11: a base rule is not replaced without a reason"],
    ),
    // risks, acts, effect
    (
        EXTEND,
        "risk: [reversible]",
        "risk: [read]",
        &[
            "contracts/extend_loan.yaml:4:7: `read` is the risk of a read, and this contract has an `effect`",
        ],
    ),
    (
        EXTEND,
        "acts: { extend_loan: { words: { en: [extend, renew], fr: [prolonger], uk: [продовжити] } } }\n",
        "",
        &[
            "contracts/extend_loan.yaml:1:1: a write needs `acts`: the kinds of doing that somebody entitled must have asked for",
        ],
    ),
    (
        EXTEND,
        "  key: '[\"extend\", session.id, args.loan_id, facts.loan.extensions]'\n",
        "",
        &["contracts/extend_loan.yaml:27:3: an effect needs `key`"],
    ),
    (
        EXTEND,
        "  same: '[\"extend\", args.loan_id, facts.loan.extensions]'\n",
        "",
        &["contracts/extend_loan.yaml:27:3: an effect needs `same`"],
    ),
    (EXTEND, "  class: keyed\n", "", &["contracts/extend_loan.yaml:27:3: an effect needs `class`"]),
    (
        EXTEND,
        "class: keyed",
        "class: read",
        &["contracts/extend_loan.yaml:29:10: an effect is never of class `read`"],
    ),
    (
        EXTEND,
        "class: keyed",
        "class: reconcilable",
        &["contracts/extend_loan.yaml:27:3: class `reconcilable` needs `reconcile`"],
    ),
    (
        EXTEND,
        "    idempotency_header: Idempotency-Key\n",
        "",
        &["contracts/extend_loan.yaml:32:5: class `keyed` needs an `idempotency_header`"],
    ),
    (
        EXTEND,
        "same: '[\"extend\", args.loan_id, facts.loan.extensions]'",
        "same: '[\"extend\", session.id, args.loan_id]'",
        &[
            "contracts/extend_loan.yaml:28:21: `session` does not exist here; there is args, facts, principal, subject",
        ],
    ),
    (
        EXTEND,
        "key: '[\"extend\", session.id, args.loan_id, facts.loan.extensions]'",
        "key: '\"extend\" + args.loan_id'",
        &[
            "contracts/extend_loan.yaml:27:8: `\"extend\" + args.loan_id` is a text where a list, such as `[\"lend\", args.id]` is needed",
        ],
    ),
    (
        EXTEND,
        "same: '[\"extend\", args.loan_id, facts.loan.extensions]'",
        "same: '[\"extend\"]'",
        &["contracts/extend_loan.yaml:28:9: `same` is the same for every call"],
    ),
    // roles and schemas
    (
        EXTEND,
        "    /weeks: { role: control, endorse: [enumerated], harmless: true, because: 'one to four weeks, and each extension can be taken back' }\n",
        "",
        &["contracts/extend_loan.yaml:16:5: the argument `/weeks` has no role"],
    ),
    (
        EXTEND,
        "because: 'one to four weeks, and each extension can be taken back' }",
        "because: '' }",
        &["contracts/extend_loan.yaml:17:13: `harmless` needs a reason"],
    ),
    (
        EXTEND,
        "weeks: { type: integer, minimum: 1, maximum: 4, default: 2 }",
        "weeks: { type: integer, minimum: 1, default: 2 }",
        &["contracts/extend_loan.yaml:17:13: `enumerated` needs a closed list or a bounded range"],
    ),
    (
        EXTEND,
        "weeks: { type: integer, minimum: 1, maximum: 4, default: 2 }",
        "weeks: { type: integer, minimum: 1, maximum: 4, default: 5 }",
        &["contracts/extend_loan.yaml:14:14: the default of `/weeks` does not fit its own schema"],
    ),
    (
        EXTEND,
        "weeks: { type: integer, minimum: 1, maximum: 4, default: 2 }",
        "weeks: { minimum: 1, maximum: 4, anyOf: [{ type: integer, default: 2 }, { type: 'null' }] }",
        &[
            "contracts/extend_loan.yaml:14:74: a default under a combinator depends on what matches",
            "contracts/extend_loan.yaml:17:13: `enumerated` needs a closed list or a bounded range",
            "contracts/extend_loan.yaml:35:25: `args.weeks` may be absent: guard it, as in `has(args.weeks) && …`",
            "workflow.yaml:19:63: `args.weeks` may be absent: guard it, as in `has(args.weeks) && …`",
        ],
    ),
    (
        EXTEND,
        "role: target, type: Loan, endorse",
        "role: target, endorse",
        &["contracts/extend_loan.yaml:16:15: a target needs the type of its record"],
    ),
    (
        EXTEND,
        "    additionalProperties: false\n    required: [loan_id]\n    properties:\n      loan_id: { type: string, pattern: '^LN-[0-9]{6}$' }\n      weeks",
        "    required: [loan_id]\n    properties:\n      loan_id: { type: string, pattern: '^LN-[0-9]{6}$' }\n      weeks",
        &["contracts/extend_loan.yaml:9:5: unknown arguments would be accepted"],
    ),
    (
        EXTEND,
        "    /weeks:",
        "    /months:",
        &["contracts/extend_loan.yaml:17:5: there is no argument `/months`"],
    ),
    (
        LOAN,
        "pattern: '^m_[0-9]{1,9}$'",
        "pattern: '^(?=m)m_[0-9]{1,9}$'",
        &[
            "contracts/get_loan.yaml:26:43: not a usable JSON Schema: \"^(?=m)m_[0-9]{1,9}$\" is not a \"regex\"",
        ],
    ),
    // facts and look-ups
    (
        EXTEND,
        "    tool: get_loan\n",
        "    tool: get_lone\n",
        &["contracts/extend_loan.yaml:20:11: `get_lone` is not a contract of this bundle"],
    ),
    (
        EXTEND,
        "args: { loan_id: 'args.loan_id' }\n    relation",
        "args: {}\n    relation",
        &["contracts/extend_loan.yaml:21:11: `get_loan` needs the argument `loan_id`"],
    ),
    (
        EXTEND,
        "args: { loan_id: 'args.loan_id' }\n    relation",
        "args: { loan_id: 'args.loan_id', weeks: 'args.weeks' }\n    relation",
        &["contracts/extend_loan.yaml:21:38: `weeks` is not a key of the arguments of `get_loan`"],
    ),
    (
        EXTEND,
        "    relation: 'facts.loan.member_id == subject.id'\n",
        "",
        &[
            "contracts/extend_loan.yaml:16:15: `reconciled` cannot work: no fact with a relation is looked up by `/loan_id`",
        ],
    ),
    (
        EXTEND,
        "relation: 'facts.loan.member_id == subject.id'",
        "relation: 'facts.loan.membr_id == subject.id'",
        &[
            "contracts/extend_loan.yaml:22:26: `facts.loan.membr_id` does not exist; there is due, extensions, extensions_left, loan_id, member_id, remark, reserved, state, title",
        ],
    ),
    (
        EXTEND,
        "rule: 'facts.loan.extensions_left > 0'",
        "rule: 'facts.loan.extensions_left'",
        &[
            "contracts/extend_loan.yaml:25:38: `facts.loan.extensions_left` is an integer where true or false is needed",
        ],
    ),
    (
        EXTEND,
        "rule: 'facts.loan.extensions_left > 0'",
        "rule: 'facts.loan.remark != \"\"'",
        &[
            "contracts/extend_loan.yaml:25:49: `facts.loan.remark` may be absent: guard it, as in `has(facts.loan.remark) && …`",
        ],
    ),
    (
        EXTEND,
        "rule: 'facts.loan.extensions_left > 0'",
        "rule: 'facts.loan.state == \"lent\"'",
        &[
            "contracts/extend_loan.yaml:25:59: `lent` is not a member of `facts.loan.state`; there is out, overdue, returned",
        ],
    ),
    (
        EXTEND,
        "rule: 'facts.loan.extensions_left > 0'",
        "rule: 'facts.loan.extensions_left > 0 &&'",
        &["contracts/extend_loan.yaml:25:72: not an expression: mismatched input '<EOF>'"],
    ),
    (
        EXTEND,
        "id: extensions_left",
        "id: nobody_waits",
        &["contracts/extend_loan.yaml:25:15: the rule `nobody_waits` stands here twice"],
    ),
    (
        LOAN,
        "facts: true\n",
        "",
        &["contracts/extend_loan.yaml:20:11: answers of `get_loan` do not serve as facts"],
    ),
    (
        LOAN,
        "loan_id: { type: string, pattern: '^LN-[0-9]{6}$' }\n  roles",
        "loan_id: { type: string, maxLength: 80 }\n  roles",
        &[
            "contracts/extend_loan.yaml:21:22: `loan_id` of `get_loan` comes from an intent and is not bounded",
            "contracts/extend_loan.yaml:56:44: `loan_id` of `get_loan` comes from an intent and is not bounded",
        ],
    ),
    (
        LOAN,
        "loan_id: { type: string, pattern: '^LN-[0-9]{6}$' }\n  roles",
        "loan_id: { type: string, pattern: 'LN-[0-9]{6}' }\n  roles",
        &[
            "contracts/extend_loan.yaml:21:22: `loan_id` of `get_loan` comes from an intent and is not bounded",
            "contracts/extend_loan.yaml:56:44: `loan_id` of `get_loan` comes from an intent and is not bounded",
        ],
    ),
    // executor, response, labels, verification
    (EXTEND, "method: POST", "method: GET", &["contracts/extend_loan.yaml:33:13: a write by GET"]),
    (
        EXTEND,
        "path: ['\"loans\"', 'args.loan_id', '\"extensions\"']",
        "path: ['loans', 'args.loan_id']",
        &[
            "contracts/extend_loan.yaml:34:13: `loans` does not exist here; there is args, effect, facts, principal, session, subject",
        ],
    ),
    (
        EXTEND,
        "body: { weeks: 'args.weeks' }",
        "body: { weeks: 'args.weeks' }\n    headers: { Authorization: '\"secret\"' }",
        &["contracts/extend_loan.yaml:36:16: a contract does not set `Authorization`"],
    ),
    (
        EXTEND,
        "  echo: [/loan_id]",
        "  echo: [/loan]",
        &["contracts/extend_loan.yaml:46:10: `/loan` is no argument"],
    ),
    (
        EXTEND,
        "reason: tool_refused",
        "reason: tool_refuses",
        &["contracts/extend_loan.yaml:48:84: `tool_refuses` is not a reason code"],
    ),
    (
        EXTEND,
        "status: [200]",
        "status: [404]",
        &["contracts/extend_loan.yaml:38:12: `404` is no status of success"],
    ),
    (
        LOAN,
        "project:\n    '': [/loan_id,",
        "project:\n    '': [/loanid,",
        &["contracts/get_loan.yaml:36:10: the answer has no field `/loanid`"],
    ),
    (
        LOAN,
        "'': { integrity: internal,",
        "'': { integrity: system,",
        &["contracts/get_loan.yaml:40:22: no answer is `system` by itself"],
    ),
    (
        EXTEND,
        "  rules:\n    - { id: one_extension_more",
        "  rules: []\n  rulez:\n    - { id: one_extension_more",
        &[
            "contracts/extend_loan.yaml:56:3: no rule says what the effect looks like",
            "contracts/extend_loan.yaml:58:3: `rulez` is not a key of verify",
        ],
    ),
    (
        EXTEND,
        "rule: 'after.extensions == facts.loan.extensions + 1'",
        "rule: 'before.extensions < after.extensions'",
        &[
            "contracts/extend_loan.yaml:58:40: `before` does not exist here; there is after, args, effect, facts, principal, result, session, subject",
        ],
    ),
    (
        "contracts/find_letters.yaml",
        "    '/letters/*/text': { integrity: untrusted, readers: [subject, staff] }\n",
        "",
        &[
            "contracts/find_letters.yaml:35:5: `/letters/*/text` is labelled above `untrusted`, and `send_letter` writes `text` from the argument `/text`, which anybody can fill",
        ],
    ),
    // workflow and approvals
    (
        "workflow.yaml",
        "ANALYZING: [get_loan,",
        "ANALYZING: [extend_loan, get_loan,",
        &["workflow.yaml:9:14: the write `extend_loan` cannot run in `ANALYZING`"],
    ),
    (
        "workflow.yaml",
        "find_letters, extend_loan, change_email,",
        "find_letters, extend_lone, change_email,",
        &["workflow.yaml:10:51: `extend_lone` is not a contract of this bundle"],
    ),
    (
        "workflow.yaml",
        "find_letters, extend_loan, change_email,",
        "find_letters, change_email,",
        &[
            "contracts/extend_loan.yaml:1:1: `extend_loan` runs in no state: contract and workflow have none in common",
        ],
    ),
    (
        "workflow.yaml",
        "  ESCALATED:",
        "  CLOSED:",
        &["workflow.yaml:12:3: no tool runs in `CLOSED`"],
    ),
    (
        "workflow.yaml",
        "loan: { type: Loan, tool: get_loan }",
        "loan: { type: Book, tool: get_loan }",
        &["workflow.yaml:6:17: `get_loan` does not answer a `Book`"],
    ),
    (
        "workflow.yaml",
        "case.loan.state != \"returned\"",
        "case.loan.state != \"back\"",
        &[
            "workflow.yaml:13:49: `back` is not a member of `case.loan.state`; there is out, overdue, returned",
        ],
    ),
    (
        "workflow.yaml",
        "verified.extend_loan >= 1",
        "verified.extend_lone >= 1",
        &[
            "workflow.yaml:14:25: `verified.extend_lone` does not exist; there is change_email, delete_account, extend_loan, grant_helper, send_letter",
        ],
    ),
    (
        "workflow.yaml",
        "window: 90d, at_least: 8",
        "window: 90 days, at_least: 8",
        &["workflow.yaml:19:94: `90 days` is not a span of time up to 31622400 s"],
    ),
    (
        "approvals.yaml",
        "  - id: everything_else\n    factors: [{ name: librarian, roles: [librarian] }]\n",
        "",
        &[
            "contracts/extend_loan.yaml:4:7: `extend_loan` can need an approval and no approval rule is for it",
            "contracts/get_member.yaml:4:7: `get_member` can need an approval and no approval rule is for it",
            "contracts/send_letter.yaml:4:7: `send_letter` can need an approval and no approval rule is for it",
        ],
    ),
    (
        "approvals.yaml",
        "roles: [head_librarian], approvals: 1",
        "roles: [head_librarian], approvals: 0",
        &["approvals.yaml:8:59: `0` is out of range"],
    ),
    // policies
    (
        "authorization.cedar",
        "context.args.weeks > 2",
        "context.args.months > 2",
        &[
            "authorization.cedar:6:75: for policy `library-desk/late-and-long`, attribute `args.months` in context for Action::\"extend_loan\" not found",
        ],
    ),
    (
        "authorization.cedar",
        "@reason(\"policy_denied\")",
        "@reason(\"not_allowed\")",
        &[
            "authorization.cedar:9:1: `not_allowed` is not a reason code (policy `library-desk/account-by-program`)",
        ],
    ),
    (
        "authorization.cedar",
        "@id(\"library-desk/account-by-program\")",
        "@id(\"library-desk/late-and-long\")",
        &["authorization.cedar:9:1: the id `library-desk/late-and-long` is used twice"],
    ),
    (
        "authorization.cedar",
        "principal.kind == \"service\"",
        "principal.kind == 7",
        &["authorization.cedar:11:8: the types Long and String are not compatible"],
    ),
    (
        "authorization.cedar",
        "when { principal.kind",
        "wen { principal.kind",
        &["authorization.cedar:11:1: invalid policy condition: wen"],
    ),
];

fn problems(case: &Case) -> Vec<String> {
    let (file, from, to, _) = case;
    match Bundle::from_sources(changed("library-desk", file, from, to)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .0
            .iter()
            .map(|p| format!("{}:{}:{}: {}", p.file, p.place.line, p.place.column, p.text))
            .collect(),
    }
}

#[test]
fn every_mistake_is_told_with_its_place() {
    let halves = CASES.split_at(CASES.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| wrong_answers(halves.0));
        let mut wrong = wrong_answers(halves.1);
        wrong.extend(other.join().unwrap());
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn wrong_answers(cases: &[Case]) -> Vec<String> {
    let answers = cases.iter().map(|case| (case, problems(case)));
    answers
        .filter(|(case, found)| *found != case.3)
        .map(|(case, found)| format!("{}: {:?}\n{found:#?}", case.0, case.2))
        .collect()
}
