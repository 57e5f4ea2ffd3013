//! Explanation, outbound.

use super::time;
use crate::{
    app::intent::{Explanation, Step},
    domain::{decision::CheckResult, fact::FactState},
    pb::v1,
};

impl From<Explanation> for v1::Explanation {
    fn from(explanation: Explanation) -> Self {
        let Explanation { answer, steps, facts } = explanation;
        let action = answer.action.clone();
        let in_full = answer.in_full;
        let decided_at = action.decision.decided_at;
        Self {
            session: format!("sessions/{}", action.session),
            purpose: action.intent.purpose.clone(),
            arguments_json: action.arguments().to_string(),
            steps: steps.into_iter().map(step).collect(),
            // What was found about a record, and how far a decision came with it, would tell an
            // agent a foreign record from an unknown one.
            facts: facts
                .iter()
                .filter(|_| in_full)
                .map(|fact| v1::FactUsed {
                    name: fact.name.clone(),
                    tool: format!("{}@{}", fact.tool, fact.tool_version),
                    state: fact.state.as_str().to_owned(),
                    version: match &fact.state {
                        FactState::Present { version, .. } => version.clone().unwrap_or_default(),
                        FactState::Absent
                        | FactState::Unavailable { .. }
                        | FactState::Unresolved => String::new(),
                    },
                    age_us: i64::try_from(decided_at.since(fact.read_at).as_micros())
                        .unwrap_or(i64::MAX),
                })
                .collect(),
            checks: action.decision.checks.iter().filter(|_| in_full).map(check).collect(),
            effect: action.verification.as_ref().map(|verification| v1::EffectRead {
                tool: verification.tool.clone(),
                verdict: action.state.as_str().to_owned(),
                rules_held: verification.held.clone(),
                rules_broken: verification.broken.clone(),
                read_at: Some(time(verification.at)),
            }),
            action: Some(answer.into()),
        }
    }
}

fn step(step: Step) -> v1::Step {
    let Step { at, kind, session_transition, action_transition, text, reasons, entry, tool } = step;
    v1::Step {
        at: Some(time(at)),
        kind,
        session_transition,
        action_transition,
        text,
        reasons,
        entry: format!("entries/{entry}"),
        tool,
    }
}

fn check(result: &CheckResult) -> v1::CheckRun {
    v1::CheckRun {
        check: result.check.as_str().to_owned(),
        verdict: result.verdict.as_str().to_owned(),
        us: result.us,
        rules: result.rules.clone(),
    }
}
