//! A call refused at the door leaves an entry, so that trying is visible.

use serde_json::json;

use crate::{
    app::{App, Caller, intent::object, vault::purpose},
    domain::{
        entry::{EntryHead, EntryKind},
        ids::SessionId,
        reason::ReasonCode,
        unit::Unit,
    },
    identity::rights::Rpc,
    store::commit_one,
};

impl App {
    /// Records a refusal. Failing to record it does not turn it into anything else.
    pub(in crate::app) async fn record_refusal(
        &self,
        caller: &Caller,
        rpc: Rpc,
        session: Option<&SessionId>,
        code: ReasonCode,
    ) {
        let tenant = caller.tenant().clone();
        let now = self.now();
        let head = EntryHead {
            entry: self.ids().entry(),
            tenant: tenant.clone(),
            kind: EntryKind::Refusal,
            session: None,
            action: None,
            occurred_at: now,
        };
        let who = match caller {
            Caller::Workload(workload) => {
                json!({"workload": workload.sub, "agent": workload.agent, "agent_instance": workload.agent_instance})
            }
            Caller::Principal(_) => {
                json!({"principal": self.keyed(&tenant, purpose::PRINCIPAL, caller.sub().as_bytes())})
            }
            Caller::Person(_) => {
                json!({"person": self.keyed(&tenant, purpose::PERSON, caller.sub().as_bytes())})
            }
        };
        let members = json!({
            "call": rpc.as_str(),
            "reasons": [code.as_str()],
            "identity": who,
            "about_session": session.map(SessionId::as_str),
        });
        let entry = match self.entry_row(head, object(members)) {
            Ok(entry) => entry,
            Err(refused) => {
                tracing::error!(cause = ?refused.cause, "a refusal could not be written down");
                return;
            }
        };
        let unit = Unit {
            name: "door.refuse",
            tenant,
            at: now,
            guards: Vec::new(),
            changes: Vec::new(),
            entries: vec![entry],
            dispatch: None,
        };
        if let Err(refusal) = commit_one(self.store(), unit).await {
            tracing::error!(%refusal, call = rpc.as_str(), "a refusal could not be recorded");
        }
    }
}
