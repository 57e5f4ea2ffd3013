//! CancelAction: withdraws an action that waits for an answer.

use super::get::action_name;
use crate::{
    app::{App, Caller, Refused, answer::ActionAnswer},
    domain::{action::ActionEvent, reason::ReasonCode},
    identity::rights::Rpc,
};

impl App {
    /// Withdraws a waiting action. What was dispatched cannot be withdrawn.
    ///
    /// # Errors
    /// When it is not the caller's, or waits for nobody.
    pub async fn cancel(&self, caller: &Caller, name: &str) -> Result<ActionAnswer, Refused> {
        let (session, action) = action_name(name)?;
        self.authorize(caller, Rpc::CancelAction, Some(&session)).await?;
        let session = self.session_for(caller, &session).await?;
        let row = self.store().action(&session.tenant, &action).await?;
        let row = row.filter(|row| row.session == session.id).ok_or_else(Refused::not_found)?;
        let action = self.action_from(&session.tenant, &row)?;
        if !action.state.is_waiting() {
            return Err(Refused::state(ReasonCode::WrongState));
        }
        self.end_waiting(&session, &action, None, ActionEvent::Cancelled, ReasonCode::Cancelled)
            .await
    }
}
