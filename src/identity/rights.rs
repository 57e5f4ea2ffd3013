//! Who may call what: one table, right × RPC. Whose session it is, is asked after this.

use super::people::Caller;

/// A right of a workload, or a role of a person. Separate on purpose: none implies another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// Drive sessions: the agent's own right.
    Run,
    /// Look at sessions and actions of others.
    View,
    /// Bring words of the principal that another channel authenticated. No agent holds it.
    RelayStatement,
    /// Ask the daemon to try an endorsement rule.
    RequestEndorsement,
    /// The principal's own word.
    Principal,
    /// Decide escalations.
    Approve,
    /// Halt, resume, settle, hand over.
    Operate,
    /// Read the decision log in full form.
    Audit,
}

impl Right {
    /// All rights, in table order.
    pub const ALL: [Self; 8] = [
        Self::Run,
        Self::View,
        Self::RelayStatement,
        Self::RequestEndorsement,
        Self::Principal,
        Self::Approve,
        Self::Operate,
        Self::Audit,
    ];

    /// The name in a token (`rights` of a workload, `roles` of a person) and in documents. `principal` stands in no
    /// token: it is what a principal's own token is.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "session:run",
            Self::View => "session:view",
            Self::RelayStatement => "statement:relay",
            Self::RequestEndorsement => "endorse:request",
            Self::Principal => "principal",
            Self::Approve => "approver",
            Self::Operate => "operator",
            Self::Audit => "auditor",
        }
    }

    fn is_held_by(self, caller: &Caller) -> bool {
        match (self.holder(), caller) {
            (Holder::Workload, Caller::Workload(workload)) => {
                workload.rights.contains(self.as_str())
            }
            (Holder::Principal, Caller::Principal(_)) => true,
            (Holder::Person, Caller::Person(person)) => person.roles.contains(self.as_str()),
            (Holder::Workload, Caller::Principal(_) | Caller::Person(_))
            | (Holder::Principal, Caller::Workload(_) | Caller::Person(_))
            | (Holder::Person, Caller::Workload(_) | Caller::Principal(_)) => false,
        }
    }

    /// Whose credential can hold it at all.
    fn holder(self) -> Holder {
        match self {
            Self::Run | Self::View | Self::RelayStatement | Self::RequestEndorsement => {
                Holder::Workload
            }
            Self::Principal => Holder::Principal,
            Self::Approve | Self::Operate | Self::Audit => Holder::Person,
        }
    }
}

enum Holder {
    Workload,
    Principal,
    Person,
}

macro_rules! table {
    ($($variant:ident = $service:literal / $method:literal : $($right:ident)|+ ;)+) => {
        /// An RPC of the API that works.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rpc {
            $(
                #[doc = concat!("`", $service, "/", $method, "`.")]
                $variant
            ),+
        }

        impl Rpc {
            /// All of them, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// `Service/Method`, without the package.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => concat!($service, "/", $method)),+ }
            }

            /// Any one of these rights opens it.
            pub fn rights(self) -> &'static [Right] {
                match self { $(Self::$variant => &[$(Right::$right),+]),+ }
            }
        }
    };
}

table! {
    OpenSession = "SessionService"/"OpenSession": Run;
    GetSession = "SessionService"/"GetSession": Run | View | Principal | Operate | Approve | Audit;
    ListSessions = "SessionService"/"ListSessions": Run | View | Operate | Audit;
    HandOver = "SessionService"/"HandOver": Run | Operate;
    CloseSession = "SessionService"/"CloseSession": Run | Operate;
    IngestDatum = "DataService"/"IngestDatum": Run;
    SubmitStatement = "DataService"/"SubmitStatement": Principal | RelayStatement;
    GetDatum = "DataService"/"GetDatum": Run | View | Operate | Approve;
    ListData = "DataService"/"ListData": Run | View | Operate | Approve;
    EndorseValue = "DataService"/"EndorseValue": RequestEndorsement | Principal | Operate;
    ListTools = "IntentService"/"ListTools": Run;
    SubmitIntent = "IntentService"/"SubmitIntent": Run;
    GetAction = "IntentService"/"GetAction": Run | View | Principal | Operate | Approve | Audit;
    ConfirmAction = "IntentService"/"ConfirmAction": Principal;
    CancelAction = "IntentService"/"CancelAction": Run | Principal | Operate;
    ExplainAction = "IntentService"/"ExplainAction": Run | View | Principal | Operate | Approve | Audit;
    ListEscalations = "ApprovalService"/"ListEscalations": Approve;
    GetEscalation = "ApprovalService"/"GetEscalation": Approve;
    Vote = "ApprovalService"/"Vote": Approve;
    QueryEntries = "AuditService"/"QueryEntries": Audit;
    GetEntry = "AuditService"/"GetEntry": Audit;
}

/// Whether this caller may make this call at all.
pub fn may(caller: &Caller, rpc: Rpc) -> bool {
    rpc.rights().iter().any(|right| right.is_held_by(caller))
}

/// Whether this caller holds this right; for answers that differ by it, such as the full form of reasons.
pub fn holds(caller: &Caller, right: Right) -> bool {
    right.is_held_by(caller)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        domain::{clock::Timestamp, ids::TenantId},
        identity::people::{Person, PrincipalCall, Signer, Workload},
    };

    fn signer() -> Signer {
        Signer { issuer: "i".into(), kid: "k".into(), thumbprint: "t".into() }
    }

    fn workload(rights: &[&str]) -> Caller {
        Caller::Workload(Workload {
            sub: "svc".into(),
            tenant: TenantId::parse("acme").unwrap(),
            agent: "a".into(),
            agent_instance: "a1".into(),
            rights: rights.iter().map(|r| (*r).to_owned()).collect(),
            expires_at: Timestamp::from_micros(0),
            signer: signer(),
        })
    }

    fn principal() -> Caller {
        Caller::Principal(PrincipalCall {
            sub: "p_1".into(),
            tenant: TenantId::parse("acme").unwrap(),
            auth_time: Timestamp::from_micros(0),
            amr: vec![],
            azp: "portal".into(),
            digest: None,
            expires_at: Timestamp::from_micros(0),
            jti: "j".into(),
            signer: signer(),
        })
    }

    fn person(roles: &[&str]) -> Caller {
        Caller::Person(Person {
            sub: "u_1".into(),
            tenant: TenantId::parse("acme").unwrap(),
            roles: roles.iter().map(|r| (*r).to_owned()).collect(),
            auth_time: Timestamp::from_micros(0),
            amr: vec![],
            expires_at: Timestamp::from_micros(0),
            jti: "j".into(),
            signer: signer(),
        })
    }

    #[test]
    fn an_agent_runs_but_never_speaks_for_the_principal() {
        let agent = workload(&["session:run"]);
        assert!(may(&agent, Rpc::SubmitIntent) && may(&agent, Rpc::OpenSession));
        for rpc in [
            Rpc::SubmitStatement,
            Rpc::ConfirmAction,
            Rpc::EndorseValue,
            Rpc::Vote,
            Rpc::QueryEntries,
        ] {
            assert!(!may(&agent, rpc), "{}", rpc.as_str());
        }
    }

    #[test]
    fn the_principal_speaks_but_never_submits() {
        assert!(may(&principal(), Rpc::ConfirmAction) && may(&principal(), Rpc::SubmitStatement));
        assert!(!may(&principal(), Rpc::SubmitIntent) && !may(&principal(), Rpc::QueryEntries));
    }

    #[test]
    fn a_role_of_a_person_is_no_right_of_a_workload_and_the_other_way_round() {
        let named_like_roles = workload(&["operator", "auditor", "principal", "approver", "Run"]);
        assert!(Rpc::ALL.iter().all(|rpc| !may(&named_like_roles, *rpc)));
        let named_like_rights = person(&["session:run", "statement:relay", "session:view"]);
        assert!(Rpc::ALL.iter().all(|rpc| !may(&named_like_rights, *rpc)));
        assert!(may(&person(&["auditor"]), Rpc::QueryEntries));
        assert!(!may(&person(&["operator"]), Rpc::QueryEntries));
    }

    #[test]
    fn no_right_implies_another() {
        let run: BTreeSet<Rpc> =
            Rpc::ALL.iter().copied().filter(|r| may(&workload(&["session:run"]), *r)).collect();
        let relay: BTreeSet<Rpc> =
            Rpc::ALL.iter().copied().filter(|r| may(&workload(&["statement:relay"]), *r)).collect();
        assert_eq!(relay, BTreeSet::from([Rpc::SubmitStatement]));
        assert!(run.is_disjoint(&relay));
        assert!(Rpc::ALL.iter().all(|rpc| !may(&workload(&[]), *rpc) && !may(&person(&[]), *rpc)));
    }
}
