//! ListTools: what this session can propose, ready to hand to a model.

use serde_json::Value;

use crate::{
    app::{App, Caller, Refused, access},
    domain::session::SessionState,
    identity::rights::Rpc,
};

/// One tool of a session.
#[derive(Debug, Clone)]
pub struct ToolView {
    /// The contract's name.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// The risks.
    pub risks: Vec<String>,
    /// Whether an intent is admitted in the session's present state.
    pub available: bool,
}

impl App {
    /// The tools of a session.
    ///
    /// # Errors
    /// Not found when the session is not the caller's.
    pub async fn tools(&self, caller: &Caller, session: &str) -> Result<Vec<ToolView>, Refused> {
        let session = access::session_id(session)?;
        self.authorize(caller, Rpc::ListTools, Some(&session)).await?;
        let session = self.session_for(caller, &session).await?;
        let bundle = self.bundle(&session.bundle_digest).await?;
        let ground = session.standing.ground();
        let listed = |state: SessionState, tool: &str| {
            bundle.workflow.states.get(&state).is_some_and(|tools| tools.contains(tool))
        };
        let tools = bundle.contracts.values().filter(|c| session.scope.tools.contains(&c.name));
        Ok(tools
            .map(|contract| {
                let runs = contract.states.contains(&ground) && listed(ground, &contract.name);
                let ended = matches!(session.state, SessionState::Closed | SessionState::Halted);
                ToolView {
                    name: contract.name.clone(),
                    description: contract.description.clone(),
                    input_schema: contract.input.schema.source().clone(),
                    risks: contract.risks.iter().map(ToString::to_string).collect(),
                    available: runs && !ended && self.now() < session.expires_at,
                }
            })
            .collect())
    }
}
