//! What verbs answer, before the API puts it into messages.

use crate::domain::{
    action_record::Action, contract_terms::Check, datum::Datum, decision::Reason,
    reason::ReasonCode, session::SessionState, unit::QuestionRow,
};

/// An action as it stands.
#[derive(Debug, Clone)]
pub struct ActionAnswer {
    /// The action.
    pub action: Action,
    /// Its session's state.
    pub session_state: SessionState,
    /// Whether this is the stored outcome of an earlier, equal intent.
    pub replayed: bool,
    /// The stored result, where the caller may have its content.
    pub result: Option<Datum>,
    /// The pending question.
    pub question: Option<QuestionRow>,
    /// The safe next step and a code of the author's catalogue.
    pub fallback: Option<(String, String)>,
    /// Whether the caller sees codes in full.
    pub in_full: bool,
}

/// One reason as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenReason {
    /// The code.
    pub code: ReasonCode,
    /// The check.
    pub check: Check,
    /// The rule; empty for agents where the code is veiled.
    pub rule: String,
    /// One sentence.
    pub text: String,
}

/// Reasons as a caller sees them: in full, or with veiled codes, sorted, each once. What binding
/// says of the caller's own arguments is told to him.
#[must_use]
pub fn seen_reasons(reasons: &[Reason], in_full: bool) -> Vec<SeenReason> {
    let mut seen: Vec<SeenReason> = reasons
        .iter()
        .map(|reason| {
            let code = if in_full { reason.code } else { reason.code.public() };
            let veiled = code != reason.code;
            let tells = in_full || matches!(reason.check, Check::Binding | Check::Provenance);
            let detail = reason.detail.as_deref().filter(|_| tells && !veiled);
            SeenReason {
                code,
                check: if veiled { Check::Decision } else { reason.check },
                rule: reason.rule.clone().filter(|_| !veiled).unwrap_or_default(),
                text: match detail {
                    Some(detail) => format!("{} ({detail})", code.text()),
                    None => code.text().to_owned(),
                },
            }
        })
        .collect();
    seen.sort_by(|a, b| a.code.as_str().cmp(b.code.as_str()).then_with(|| a.cmp(b)));
    seen.dedup();
    seen
}

impl ActionAnswer {
    /// The reasons as the caller sees them.
    #[must_use]
    pub fn reasons(&self) -> Vec<SeenReason> {
        seen_reasons(&self.action.decision.reasons, self.in_full)
    }

    /// What stopped it, as the caller sees it.
    #[must_use]
    pub fn stop_reason(&self) -> Option<ReasonCode> {
        let code = self
            .action
            .verification
            .as_ref()
            .and_then(|verification| verification.code)
            .or_else(|| self.action.outcome.as_ref().and_then(|outcome| outcome.stop_reason))?;
        Some(if self.in_full { code } else { code.public() })
    }
}
