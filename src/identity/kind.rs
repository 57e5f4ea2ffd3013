//! The five kinds of token and what each must say about itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a token is for. One kind never passes for another: `typ` and audience differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TokenKind {
    /// The workload that drives an agent.
    #[serde(rename = "sg-workload")]
    Workload,
    /// Names the principal of a session, but cannot speak for him.
    #[serde(rename = "sg-session")]
    Session,
    /// A call of the principal himself: a statement, a confirmation.
    #[serde(rename = "sg-principal")]
    Principal,
    /// What a principal or a job allows one session to do.
    #[serde(rename = "sg-scope")]
    Scope,
    /// An operator, approver or auditor.
    #[serde(rename = "sg-person")]
    Person,
}

impl TokenKind {
    /// All kinds, in the order of the table in the documentation.
    pub const ALL: [Self; 5] =
        [Self::Workload, Self::Session, Self::Principal, Self::Scope, Self::Person];

    /// The name used in configuration, such as `sg-session`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workload => "sg-workload",
            Self::Session => "sg-session",
            Self::Principal => "sg-principal",
            Self::Scope => "sg-scope",
            Self::Person => "sg-person",
        }
    }

    /// The exact `typ` of the header.
    pub fn typ(self) -> &'static str {
        match self {
            Self::Workload => "sg-workload+jwt",
            Self::Session => "sg-session+jwt",
            Self::Principal => "sg-principal+jwt",
            Self::Scope => "sg-scope+jwt",
            Self::Person => "sg-person+jwt",
        }
    }

    /// The one audience.
    pub fn audience(self) -> &'static str {
        match self {
            Self::Workload | Self::Session | Self::Scope => "stateguard",
            Self::Principal => "stateguard-principal",
            Self::Person => "stateguard-people",
        }
    }

    /// The longest time from `iat` to `exp`.
    pub fn longest_life(self) -> Duration {
        match self {
            Self::Workload | Self::Session => Duration::from_secs(24 * 3_600),
            Self::Person => Duration::from_secs(12 * 3_600),
            Self::Principal => Duration::from_secs(3_600),
            Self::Scope => Duration::from_secs(600),
        }
    }

    /// The kind with this `typ`; compared exactly, case included.
    pub fn of_typ(typ: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.typ() == typ)
    }

    /// The kind with this configuration name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
