//! Action and its parts, outbound.

use super::time;
use crate::{
    app::answer::{ActionAnswer, SeenReason},
    domain::{
        action::ActionState,
        contract_terms::{Need, Verdict},
        datum::Content,
        decision::{ArgumentProvenance, Decision},
        session::SessionState,
    },
    pb::v1,
};

/// The state of an action.
#[must_use]
pub const fn action_state(state: ActionState) -> v1::ActionState {
    match state {
        ActionState::Proposed => v1::ActionState::Proposed,
        ActionState::Denied => v1::ActionState::Denied,
        ActionState::AwaitingConfirmation => v1::ActionState::ActionAwaitingConfirmation,
        ActionState::AwaitingApproval => v1::ActionState::ActionAwaitingApproval,
        ActionState::Ready => v1::ActionState::Ready,
        ActionState::Dispatched => v1::ActionState::Dispatched,
        ActionState::Succeeded => v1::ActionState::Succeeded,
        ActionState::Failed => v1::ActionState::Failed,
        ActionState::OutcomeUnknown => v1::ActionState::OutcomeUnknown,
        ActionState::Pending => v1::ActionState::Pending,
        ActionState::Verified => v1::ActionState::Verified,
        ActionState::Mismatched => v1::ActionState::Mismatched,
        ActionState::Duplicated => v1::ActionState::Duplicated,
        ActionState::Unverifiable => v1::ActionState::Unverifiable,
        ActionState::Abandoned => v1::ActionState::Abandoned,
        ActionState::Expired => v1::ActionState::Expired,
        ActionState::Cancelled => v1::ActionState::Cancelled,
        ActionState::Stale => v1::ActionState::Stale,
    }
}

/// The state of a session.
#[must_use]
pub const fn session_state(state: SessionState) -> v1::SessionState {
    match state {
        SessionState::Analyzing => v1::SessionState::Analyzing,
        SessionState::Resolving => v1::SessionState::Resolving,
        SessionState::AwaitingConfirmation => v1::SessionState::AwaitingConfirmation,
        SessionState::Escalated => v1::SessionState::Escalated,
        SessionState::Executing => v1::SessionState::Executing,
        SessionState::Verifying => v1::SessionState::Verifying,
        SessionState::Halted => v1::SessionState::Halted,
        SessionState::Closed => v1::SessionState::Closed,
    }
}

const fn verdict(verdict: Verdict) -> v1::Verdict {
    match verdict {
        Verdict::Allow => v1::Verdict::Allow,
        Verdict::ConfirmationRequired => v1::Verdict::ConfirmationRequired,
        Verdict::ApprovalRequired => v1::Verdict::ApprovalRequired,
        Verdict::Deny => v1::Verdict::Deny,
    }
}

const fn need(need: Need) -> v1::Verdict {
    match need {
        Need::Confirmation => v1::Verdict::ConfirmationRequired,
        Need::Approval => v1::Verdict::ApprovalRequired,
    }
}

/// One reason.
#[must_use]
pub fn reason(seen: &SeenReason) -> v1::Reason {
    v1::Reason {
        code: seen.code.as_str().to_owned(),
        check: seen.check.as_str().to_owned(),
        rule: seen.rule.clone(),
        text: seen.text.clone(),
        remedy: seen.code.remedy().to_owned(),
    }
}

/// Where one argument came from.
#[must_use]
pub fn argument(argument: &ArgumentProvenance) -> v1::ArgumentProvenance {
    v1::ArgumentProvenance {
        argument: argument.at.to_string(),
        role: argument.role.as_str().to_owned(),
        integrity: argument.integrity.as_str().to_owned(),
        sources: argument.sources.iter().cloned().collect(),
        named_by: argument.named_by.clone().unwrap_or_default(),
        endorsement: argument.endorsed_by.clone().unwrap_or_default(),
        detected_sources: argument.detected.iter().cloned().collect(),
    }
}

fn decision(decision: &Decision, reasons: &[SeenReason]) -> v1::Decision {
    v1::Decision {
        verdict: verdict(decision.verdict) as i32,
        needs: decision.needs.iter().map(|n| need(*n) as i32).collect(),
        reasons: reasons.iter().map(reason).collect(),
        arguments: decision.arguments.iter().map(argument).collect(),
        matrix_row: decision.matrix_row.clone(),
        matrix_column: decision.matrix_column.clone(),
        bundle: format!("{}@{}", decision.bundle, decision.bundle_version),
        bundle_digest: decision.bundle_digest.clone(),
        decided_at: Some(time(decision.decided_at)),
    }
}

fn outcome(answer: &ActionAnswer) -> Option<v1::Outcome> {
    let action = &answer.action;
    let settled = action.outcome.as_ref()?;
    let content = answer.result.as_ref().map(|datum| &datum.content);
    Some(v1::Outcome {
        executed: action.state.has_executed(),
        verified: action.state == ActionState::Verified,
        stop_reason: answer.stop_reason().map(|code| code.to_string()).unwrap_or_default(),
        result_datum: settled.result.as_ref().map(ToString::to_string).unwrap_or_default(),
        result_json: match content {
            Some(Content::Json(value)) => value.to_string(),
            Some(Content::Text(_) | Content::Bytes(_)) | None => String::new(),
        },
        attempts: i32::try_from(settled.attempts).unwrap_or(i32::MAX),
    })
}

fn question(answer: &ActionAnswer) -> Option<v1::Question> {
    let row = answer.question.as_ref()?;
    Some(v1::Question {
        digest: row.digest.to_string(),
        expires_at: Some(time(row.expires_at)),
        escalation: match row.need {
            Need::Approval => format!("escalations/{}", row.question),
            Need::Confirmation => String::new(),
        },
    })
}

impl From<ActionAnswer> for v1::Action {
    fn from(answer: ActionAnswer) -> Self {
        let action = &answer.action;
        Self {
            name: format!("sessions/{}/actions/{}", action.session, action.id),
            state: action_state(action.state) as i32,
            decision: Some(decision(&action.decision, &answer.reasons())),
            outcome: outcome(&answer),
            replayed: answer.replayed,
            session_state: answer.session_state.as_str().to_owned(),
            question: question(&answer),
            fallback: answer.fallback.clone().map(|(next, message)| v1::Fallback { next, message }),
            tool: action.intent.tool.clone(),
            proposed_at: Some(time(action.proposed_at)),
        }
    }
}
