//! GetAction: an action as it stands.

use crate::{
    app::{App, Caller, Refused, access, answer::ActionAnswer},
    domain::ids::{ActionId, SessionId},
    identity::rights::Rpc,
};

/// Session and action in `sessions/ses_…/actions/act_…`.
pub(in crate::app) fn action_name(name: &str) -> Result<(SessionId, ActionId), Refused> {
    let (session, action) = name.split_once("/actions/").ok_or_else(Refused::not_found)?;
    let action = ActionId::parse(action).map_err(|_| Refused::not_found())?;
    Ok((access::session_id(session)?, action))
}

impl App {
    /// An action as it stands.
    ///
    /// # Errors
    /// Not found when it, or its session, is not the caller's.
    pub async fn action(
        &self,
        caller: &Caller,
        name: &str,
        exposes: bool,
    ) -> Result<ActionAnswer, Refused> {
        let (session, action) = action_name(name)?;
        self.authorize(caller, Rpc::GetAction, Some(&session)).await?;
        let session = self.session_for(caller, &session).await?;
        let answer = self.answer_for(caller, &session, &action, exposes).await?;
        if answer.action.session == session.id { Ok(answer) } else { Err(Refused::not_found()) }
    }
}
