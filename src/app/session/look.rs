//! GetSession, ListSessions.

use crate::{
    app::{App, Caller, Refused, access},
    domain::{ids::SessionId, limits, session_record::Session},
    identity::rights::{self, Right, Rpc},
};

impl App {
    /// One session.
    ///
    /// # Errors
    /// Not found when it is not the caller's.
    pub async fn session(&self, caller: &Caller, name: &str) -> Result<Session, Refused> {
        let session = access::session_id(name)?;
        self.authorize(caller, Rpc::GetSession, Some(&session)).await?;
        self.session_for(caller, &session).await
    }

    /// Sessions: a workload's own, or all of the tenant for those who may view them.
    ///
    /// # Errors
    /// When the caller may not list, or the page token is not one of ours.
    pub async fn sessions(
        &self,
        caller: &Caller,
        page_size: i64,
        page_token: &str,
    ) -> Result<(Vec<Session>, String), Refused> {
        self.authorize(caller, Rpc::ListSessions, None).await?;
        let after = match page_token {
            "" => None,
            token => Some(
                SessionId::parse(token)
                    .map_err(|_| Refused::field("page_token", "not a token of this listing"))?,
            ),
        };
        let tenant = caller.tenant();
        let own = match caller {
            Caller::Workload(workload) if !rights::holds(caller, Right::View) => {
                Some(self.workload_key(tenant, &workload.sub))
            }
            Caller::Workload(_) | Caller::Principal(_) | Caller::Person(_) => None,
        };
        let limit = page_limit(page_size);
        let rows = self.store().sessions(tenant, own.as_deref(), after.as_ref(), limit).await?;
        let next = if i64::try_from(rows.len()).unwrap_or(0) == limit {
            rows.last().map(|row| row.session.to_string()).unwrap_or_default()
        } else {
            String::new()
        };
        let sessions =
            rows.iter().map(|row| self.session_from(tenant, row)).collect::<Result<_, _>>()?;
        Ok((sessions, next))
    }
}

/// The rows of a page: the default for none, the cap for too many.
pub(in crate::app) fn page_limit(asked: i64) -> i64 {
    if asked <= 0 { limits::PAGE_DEFAULT } else { asked.min(limits::PAGE_MAX) }
}
