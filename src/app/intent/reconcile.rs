//! After an ambiguous end: look before anything else. Found settles it; proven absent frees the key
//! once no byte can still be under way; everything else stays `outcome_unknown` for a person.

use std::time::Duration;

use serde_json::json;

use super::{dispatch::Sending, read::fallback, submit::Teller};
use crate::{
    app::{App, Refused, answer::ActionAnswer, journal::Said},
    bundle::contract::Reconcile,
    domain::{
        action::ActionState, contract_terms::EffectClass, entry::EntryKind, reason::ReasonCode,
    },
    hook::post::{self, Accepted},
};

/// The longest a look-up may take.
const LOOK_UP_DEADLINE: Duration = Duration::from_secs(10);

/// What a look-up says.
#[derive(Debug)]
pub(super) enum Looked {
    Happened(Box<Accepted>),
    DidNotHappen,
    Unclear,
}

impl App {
    /// Looks now, and again when nothing of the request can be under way any more.
    pub(super) async fn reconcile(
        &self,
        sending: &Sending,
        teller: &Teller,
    ) -> Result<Option<ActionAnswer>, Refused> {
        let Some(reconcile) =
            sending.contract.effect.as_ref().and_then(|effect| effect.reconcile.as_ref())
        else {
            return Ok(None);
        };
        let attempts = sending.action.outcome.as_ref().map_or(0, |outcome| outcome.attempts);
        if let Looked::Happened(accepted) = self.look(sending, reconcile).await {
            return self
                .settle_answer(sending, *accepted, attempts, "look_up", teller)
                .await
                .map(Some);
        }
        let quiet = sending.action.dispatch.as_ref().map_or(self.now(), |dispatch| {
            dispatch.send_before.plus(sending.contract.executor.timeout)
        });
        tokio::time::sleep(quiet.since(self.now())).await;
        match self.look(sending, reconcile).await {
            Looked::Happened(accepted) => {
                self.settle_answer(sending, *accepted, attempts, "look_up", teller).await.map(Some)
            }
            Looked::DidNotHappen if is_final(sending, reconcile) => {
                let lost = sending.action.outcome.as_ref().and_then(|outcome| outcome.stop_reason);
                let code = lost.unwrap_or(ReasonCode::ToolTimeout);
                self.settle_failure(sending, code, attempts).await.map(Some)
            }
            Looked::DidNotHappen | Looked::Unclear => self.give_up_looking(sending).await.map(Some),
        }
    }

    /// The outcome stays unknown: from here on it is a person's.
    async fn give_up_looking(&self, sending: &Sending) -> Result<ActionAnswer, Refused> {
        let (tenant, id) = (&sending.session.tenant, &sending.action.id);
        let settled = self.settle("intent.give_up", tenant, &sending.action.session, id, |journal, action| {
            let looking = journal.session.open.get(&action.id).is_some_and(|open| open.looking);
            if action.state != ActionState::OutcomeUnknown || !looking {
                return Ok(false);
            }
            let moves = journal.note_looking(action, false)?;
            let said = Said::about(
                &action.id,
                json!({
                    "outcome": action.state.as_str(),
                    "settled_by": "look_up",
                    "reasons": [ReasonCode::OutcomeUnknown.as_str()],
                    "tool": {"name": sending.contract.name, "version": sending.contract.version},
                }),
            );
            journal.write(EntryKind::Outcome, said.session_moved(moves))?;
            Ok(true)
        });
        let (session, action) = settled.await?;
        let mut answer = self.plain_answer(&session, action);
        answer.fallback = fallback(&sending.contract, &answer.action);
        Ok(answer)
    }

    async fn look(&self, sending: &Sending, reconcile: &Reconcile) -> Looked {
        let deadline = self.now().plus(LOOK_UP_DEADLINE);
        let read = self
            .own_read(
                &sending.bundle,
                &reconcile.tool,
                &reconcile.args,
                &sending.bindings,
                deadline,
            )
            .await;
        let Ok(found) = read.and_then(|report| report.outcome.map_err(|failure| failure.code))
        else {
            return Looked::Unclear;
        };
        let mut bindings = sending.bindings.clone();
        bindings.bind("result", found.result);
        let says = |rule: &crate::expr::Expr| rule.eval_true(&bindings) == Ok(true);
        match (says(&reconcile.happened), says(&reconcile.did_not_happen)) {
            (true, false) => {
                let result = reconcile.result.as_ref().map(|expr| expr.eval(&bindings));
                match result {
                    Some(Ok(result)) => {
                        match post::check_looked_up(&sending.contract, result, &sending.bindings) {
                            Ok(accepted) => Looked::Happened(Box::new(accepted)),
                            Err(stopped) => {
                                tracing::warn!(action = %sending.action.id, code = %stopped.code, detail = %stopped.detail, "what a look-up found was stopped");
                                Looked::Unclear
                            }
                        }
                    }
                    Some(Err(_)) | None => Looked::Unclear,
                }
            }
            (false, true) => Looked::DidNotHappen,
            // Both, or neither: the rules contradict each other.
            (true, true) | (false, false) => Looked::Unclear,
        }
    }
}

/// Whether "did not happen" may be believed for good: the look-up is conclusive, or the tool honours
/// our key, so that even a late request would meet it.
fn is_final(sending: &Sending, reconcile: &Reconcile) -> bool {
    match sending.contract.class() {
        EffectClass::Keyed | EffectClass::Idempotent => true,
        EffectClass::Reconcilable => reconcile.conclusive,
        EffectClass::Read | EffectClass::Once => false,
    }
}
