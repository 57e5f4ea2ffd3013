//! The first line of every verb: who calls, may they, and is this thing theirs.

use super::{App, Refused, RefusedKind};
pub use crate::identity::Caller;
use crate::{
    domain::{
        ids::{SessionId, TenantId},
        reason::ReasonCode,
        session_record::Session,
    },
    identity::rights::{self, Right, Rpc},
};

impl App {
    /// Who a bearer token is.
    ///
    /// # Errors
    /// When the token is missing or does not hold; nothing was looked up.
    pub fn authenticate(&self, token: Option<&str>) -> Result<Caller, Refused> {
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return Err(Refused::new(RefusedKind::Unauthenticated, ReasonCode::TokenMissing));
        };
        Ok(self.parts().verifier.caller(token, self.now())?)
    }

    /// Whether this caller may make this call at all; a refusal is recorded.
    pub(super) async fn authorize(
        &self,
        caller: &Caller,
        rpc: Rpc,
        session: Option<&SessionId>,
    ) -> Result<(), Refused> {
        if rights::may(caller, rpc) {
            return Ok(());
        }
        let only_principal = rpc.rights().contains(&Right::Principal);
        let code = match caller {
            Caller::Workload(_) if only_principal => ReasonCode::NotThePrincipal,
            Caller::Workload(_) | Caller::Principal(_) | Caller::Person(_) => {
                ReasonCode::RightMissing
            }
        };
        self.record_refusal(caller, rpc, session, code).await;
        Err(Refused::denied(code))
    }

    /// The caller's view of a session: whose it is not, does not exist.
    pub(super) fn may_see(&self, caller: &Caller, session: &Session) -> Result<(), Refused> {
        if *caller.tenant() != session.tenant {
            return Err(Refused::not_found());
        }
        let theirs = match caller {
            Caller::Workload(workload) => {
                workload.sub == session.agent.workload && workload.agent == session.agent.agent
                    || rights::holds(caller, Right::View)
                    || rights::holds(caller, Right::RelayStatement)
            }
            Caller::Principal(principal) => {
                principal.sub == session.principal.sub
                    && principal.signer.issuer == session.principal.issuer
            }
            Caller::Person(_) => true,
        };
        if theirs { Ok(()) } else { Err(Refused::not_found()) }
    }

    /// The session, if it is the caller's to drive or see.
    pub(super) async fn session_for(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<Session, Refused> {
        let session = self.load_session(caller.tenant(), session).await?;
        self.may_see(caller, &session)?;
        Ok(session)
    }
}

/// The session handle in `sessions/ses_…`.
pub(super) fn session_id(name: &str) -> Result<SessionId, Refused> {
    name.strip_prefix("sessions/")
        .and_then(|handle| SessionId::parse(handle).ok())
        .ok_or_else(Refused::not_found)
}

/// Whether two tenants are one; a foreign one is as if it did not exist.
pub(super) fn same_tenant(a: &TenantId, b: &TenantId) -> Result<(), Refused> {
    if a == b { Ok(()) } else { Err(Refused::denied(ReasonCode::TenantMismatch)) }
}
