//! Reading policy files: statements with their annotations and places.

use std::collections::BTreeSet;

use cedar_policy::{Effect, Policy, PolicyId, PolicySet};
use miette::Diagnostic;

use super::PolicySource;
use crate::domain::{contract_terms::Need, reason::ReasonCode};

/// What is wrong with a policy file, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFault {
    /// The file; empty when no single file is to blame.
    pub file: String,
    /// Where in it, in bytes.
    pub offset: Option<usize>,
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub remedy: String,
}

/// One statement that can be used.
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) file: String,
    pub(super) offset: Option<usize>,
    pub(super) policy: Policy,
    pub(super) reason: Option<ReasonCode>,
    pub(super) needs: BTreeSet<Need>,
}

/// The usable statements of a file; what is wrong with the others goes to `faults`.
pub(super) fn read(source: &PolicySource<'_>, faults: &mut Vec<PolicyFault>) -> Vec<Rule> {
    let set: PolicySet = match source.text.parse() {
        Ok(set) => set,
        Err(errors) => {
            let errors: &cedar_policy::ParseErrors = &errors;
            faults.extend(errors.iter().map(|error| PolicyFault {
                file: source.file.to_owned(),
                offset: place(error),
                text: error.to_string(),
                remedy: "write it as Cedar: `@id(\"…\") forbid (principal, action, resource) when { … };`"
                    .to_owned(),
            }));
            return Vec::new();
        }
    };
    let starts = statement_starts(source.text);
    let mut reader = Reader { source, faults };
    for template in set.templates() {
        let offset = number(template.id()).and_then(|n| starts.get(n).copied());
        reader.fault(
            offset,
            "a template with slots",
            "write a policy without `?principal` and `?resource`",
        );
    }
    let mut numbered: Vec<(usize, &Policy)> =
        set.policies().filter_map(|policy| Some((number(policy.id())?, policy))).collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
        .into_iter()
        .filter_map(|(number, policy)| reader.rule(policy, starts.get(number).copied()))
        .collect()
}

struct Reader<'a, 'f> {
    source: &'a PolicySource<'a>,
    faults: &'f mut Vec<PolicyFault>,
}

impl Reader<'_, '_> {
    fn fault(&mut self, offset: Option<usize>, text: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(PolicyFault {
            file: self.source.file.to_owned(),
            offset,
            text: text.into(),
            remedy: remedy.into(),
        });
    }

    fn rule(&mut self, policy: &Policy, offset: Option<usize>) -> Option<Rule> {
        let before = self.faults.len();
        let id = self.id(policy, offset)?;
        for (name, _) in policy.annotations() {
            if !matches!(name, "id" | "reason" | "needs") {
                self.fault(
                    offset,
                    format!("policy `{id}` has an annotation `@{name}`"),
                    "use @id, @reason and @needs only",
                );
            }
        }
        let reason = self.reason(policy, &id, offset);
        let needs = self.needs(policy, &id, offset);
        if self.faults.len() > before {
            return None;
        }
        let renamed = policy.new_id(PolicyId::new(&id));
        Some(Rule { id, file: self.source.file.to_owned(), offset, policy: renamed, reason, needs })
    }

    fn id(&mut self, policy: &Policy, offset: Option<usize>) -> Option<String> {
        let prefix = self.source.prefix;
        let remedy =
            format!("give it an @id(\"{prefix}/…\") of lower-case letters, digits and `-`");
        let Some(id) = policy.annotation("id") else {
            self.fault(offset, "a policy without an @id", remedy);
            return None;
        };
        let name = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
        let sound = name.is_some_and(|name| {
            let allowed =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            !name.is_empty() && name.chars().all(allowed)
        });
        if !sound {
            self.fault(offset, format!("`{id}` is not an id of this file"), remedy);
            return None;
        }
        Some(id.to_owned())
    }

    fn reason(&mut self, policy: &Policy, id: &str, offset: Option<usize>) -> Option<ReasonCode> {
        match (policy.effect(), policy.annotation("reason")) {
            (Effect::Permit, None) => None,
            (Effect::Permit, Some(_)) => {
                self.fault(
                    offset,
                    format!("permit `{id}` has a @reason"),
                    "leave it out: only a forbid gives a reason",
                );
                None
            }
            (Effect::Forbid, None) => {
                self.fault(
                    offset,
                    format!("forbid `{id}` has no @reason"),
                    "add one of the codes of the reason table, such as @reason(\"policy_denied\")",
                );
                None
            }
            (Effect::Forbid, Some(code)) => {
                let known = ReasonCode::parse(code);
                if known.is_none() {
                    self.fault(
                        offset,
                        format!("`{code}` is not a reason code (policy `{id}`)"),
                        format!("use a code of the reason table{}", similar(code)),
                    );
                }
                known
            }
        }
    }

    fn needs(&mut self, policy: &Policy, id: &str, offset: Option<usize>) -> BTreeSet<Need> {
        let Some(text) = policy.annotation("needs") else { return BTreeSet::new() };
        if policy.effect() == Effect::Permit {
            self.fault(
                offset,
                format!("permit `{id}` has @needs"),
                "write it on a forbid: a question is a forbid until it is answered",
            );
        }
        let mut needs = BTreeSet::new();
        for part in text.split(',').map(str::trim) {
            match Need::parse(part) {
                Some(need) => {
                    needs.insert(need);
                }
                None => self.fault(
                    offset,
                    format!("`{part}` is not something a decision can need (policy `{id}`)"),
                    "use confirmation, approval or both, separated by a comma",
                ),
            }
        }
        needs
    }
}

/// ` , such as …` for a code that begins alike.
fn similar(code: &str) -> String {
    let begin: String = code.chars().take(4).collect();
    ReasonCode::ALL
        .iter()
        .find(|known| !begin.is_empty() && known.as_str().starts_with(&begin))
        .map(|known| format!(", such as `{known}`"))
        .unwrap_or_default()
}

/// The number that parsing gave a statement (`policy0`, `policy1`, …).
fn number(id: &PolicyId) -> Option<usize> {
    AsRef::<str>::as_ref(id).strip_prefix("policy")?.parse().ok()
}

/// Where an error points, in bytes.
pub(super) fn place(error: &dyn Diagnostic) -> Option<usize> {
    error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset())
}

/// Where each statement begins, in bytes; comments and texts are passed over.
fn statement_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut begun = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '/' if chars.peek().is_some_and(|(_, next)| *next == '/') => {
                for (_, c) in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '"' => {
                while let Some((_, c)) = chars.next() {
                    match c {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ';' => begun = false,
            c if !c.is_whitespace() && !begun => {
                begun = true;
                starts.push(at);
            }
            _ => {}
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(text: &str) -> Vec<(Option<usize>, String)> {
        let mut faults = Vec::new();
        read(&PolicySource { file: "a.cedar", text, prefix: "desk" }, &mut faults);
        faults.into_iter().map(|fault| (fault.offset, fault.text)).collect()
    }

    #[test]
    fn statements_keep_their_places_behind_comments_and_texts() {
        let text = "// a; b\n@id(\"desk/a;b\") permit (principal, action, resource);\n  permit (principal, action, resource);";
        assert_eq!(statement_starts(text), [8, 64]);
    }

    #[test]
    fn a_sound_question_is_read() {
        let mut faults = Vec::new();
        let text = r#"@id("desk/ask") @needs("confirmation, approval") @reason("policy_denied")
            forbid (principal, action, resource);"#;
        let rules = read(&PolicySource { file: "a.cedar", text, prefix: "desk" }, &mut faults);
        assert_eq!(faults, []);
        assert_eq!(rules[0].id, "desk/ask");
        assert_eq!(rules[0].needs, BTreeSet::from([Need::Confirmation, Need::Approval]));
        assert_eq!(rules[0].reason, Some(ReasonCode::PolicyDenied));
    }

    #[test]
    fn every_bad_statement_is_reported_with_its_place() {
        let text = concat!(
            "permit (principal, action, resource);\n",
            "@id(\"other/x\") permit (principal, action, resource);\n",
            "@id(\"desk/x\") forbid (principal, action, resource);\n",
            "@id(\"desk/y\") @reason(\"polly\") forbid (principal, action, resource);\n",
            "@id(\"desk/z\") @needs(\"luck\") @reason(\"policy_denied\") @note(\"a\") forbid (principal, action, resource);\n",
            "@id(\"desk/p\") @needs(\"approval\") @reason(\"policy_denied\") permit (principal, action, resource);\n",
        );
        assert_eq!(
            faults_of(text),
            [
                (Some(0), "a policy without an @id".to_owned()),
                (Some(38), "`other/x` is not an id of this file".to_owned()),
                (Some(91), "forbid `desk/x` has no @reason".to_owned()),
                (Some(143), "`polly` is not a reason code (policy `desk/y`)".to_owned()),
                (Some(212), "policy `desk/z` has an annotation `@note`".to_owned()),
                (
                    Some(212),
                    "`luck` is not something a decision can need (policy `desk/z`)".to_owned()
                ),
                (Some(315), "permit `desk/p` has a @reason".to_owned()),
                (Some(315), "permit `desk/p` has @needs".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_not_cedar_is_reported_where_it_is() {
        let found =
            faults_of("@id(\"desk/x\")\npermit (principal, action, resource) whenever { true };");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, Some(51));
    }
}
