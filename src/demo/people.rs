//! The people of the desk: approvers and an auditor, with tokens of their identity provider.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use prost::Message as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    client::{Guard, signed},
    error::Failed,
    present::Present,
    wire::{Hello, Party},
};
use crate::{
    domain::clock::Clock as _,
    identity::{
        TokenKind,
        dev::{DevKey, Draft},
    },
    pb::v1,
};

/// `iss` of the identity provider's tokens.
pub(crate) const IDP: &str = "https://id.shop.example";

/// Who works at the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Person {
    /// Leads the desk: may let notes be written.
    DeskLead,
    /// May let refunds be paid.
    RefundApprover,
    /// Reads the decision log, and nothing else.
    Auditor,
    /// Runs the guard.
    Operator,
}

impl Person {
    fn sub(self) -> &'static str {
        match self {
            Self::DeskLead => "u_ines",
            Self::RefundApprover => "u_bogdan",
            Self::Auditor => "u_audra",
            Self::Operator => "u_olli",
        }
    }

    fn roles(self) -> &'static [&'static str] {
        match self {
            Self::DeskLead => &["approver", "desk_lead"],
            Self::RefundApprover => &["approver", "refund_approver"],
            Self::Auditor => &["auditor"],
            Self::Operator => &["operator"],
        }
    }
}

/// What the people can be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum PeopleOrder {
    /// The guard is somewhere else now.
    Reconnect {
        /// The new address.
        address: String,
    },
    /// An approver reads one escalation.
    Escalation {
        /// Its name.
        name: String,
    },
    /// An approver votes on what he has just read.
    Vote {
        /// Who.
        who: Person,
        /// The escalation's name.
        name: String,
        /// Yes or no.
        approve: bool,
        /// Why.
        reason: String,
    },
    /// The auditor asks how an action came about; answers the message, base64.
    Explain {
        /// The action's name.
        action: String,
    },
    /// The auditor reads entries of one kind.
    Entries {
        /// The kind; empty for all.
        kind: String,
        /// The session; empty for all.
        session: String,
    },
    /// A token to try things by hand.
    Token {
        /// For whom.
        who: Person,
    },
}

/// The people, with the identity provider's key.
#[derive(Debug)]
pub(crate) struct People {
    guard: Guard,
    tenant: String,
    idp: DevKey,
}

impl People {
    /// Connects with what it was given.
    pub(crate) async fn start(hello: &Hello) -> Result<Self, Failed> {
        let key = DevKey::parse(hello.credential("idp_key")?);
        Ok(Self {
            guard: Guard::connect(&hello.address).await?,
            tenant: hello.tenant.clone(),
            idp: key.map_err(|error| Failed::here(error.to_string()))?,
        })
    }

    fn token(&self, who: Person, life_s: u64) -> String {
        let now = Present.now();
        let claims = Map::from_iter([
            ("sub".to_owned(), json!(who.sub())),
            ("tenant".to_owned(), json!(self.tenant)),
            ("roles".to_owned(), json!(who.roles())),
            ("auth_time".to_owned(), json!(now.seconds())),
            ("amr".to_owned(), json!(["hwk"])),
        ]);
        let life = Duration::from_secs(life_s);
        self.idp.mint(&Draft { kind: TokenKind::Person, issuer: IDP, now, life, claims }, &Present)
    }

    async fn escalation(&self, who: Person, name: String) -> Result<v1::Escalation, Failed> {
        let request = signed(&self.token(who, 300), v1::GetEscalationRequest { name })?;
        Ok(self.guard.approvals().get_escalation(request).await?.into_inner())
    }

    async fn vote(
        &self,
        who: Person,
        name: String,
        approve: bool,
        reason: String,
    ) -> Result<Value, Failed> {
        let digest = self.escalation(who, name.clone()).await?.digest;
        let request = v1::VoteRequest { name, digest, approve, reason };
        let answer = self
            .guard
            .approvals()
            .vote(signed(&self.token(who, 300), request)?)
            .await?
            .into_inner();
        Ok(json!(answer.state().as_str_name()))
    }

    async fn explain(&self, action: String) -> Result<Value, Failed> {
        let request = v1::ExplainActionRequest { name: action };
        let request = signed(&self.token(Person::Auditor, 300), request)?;
        let explanation = self.guard.intents().explain_action(request).await?.into_inner();
        Ok(json!(STANDARD.encode(explanation.encode_to_vec())))
    }

    async fn entries(&self, kind: String, session: String) -> Result<Value, Failed> {
        let mut found = Vec::new();
        let mut query =
            v1::QueryEntriesRequest { kind, session, page_size: 200, ..Default::default() };
        loop {
            let request = signed(&self.token(Person::Auditor, 300), query.clone())?;
            let page = self.guard.audit().query_entries(request).await?.into_inner();
            for entry in page.entries {
                let document: Value = serde_json::from_slice(&entry.canonical_json)
                    .map_err(|error| Failed::here(format!("an entry is not JSON: {error}")))?;
                found.push(document);
            }
            if page.next_page_token.is_empty() {
                return Ok(json!(found));
            }
            query.page_token = page.next_page_token;
        }
    }
}

impl Party for People {
    type Order = PeopleOrder;

    async fn carry_out(&mut self, order: PeopleOrder) -> Result<Value, Failed> {
        match order {
            PeopleOrder::Reconnect { address } => {
                self.guard = Guard::connect(&address).await?;
                Ok(Value::Null)
            }
            PeopleOrder::Escalation { name } => {
                let escalation = self.escalation(Person::RefundApprover, name).await?;
                crate::pb::json::of(&escalation).map_err(|error| Failed::here(error.to_string()))
            }
            PeopleOrder::Vote { who, name, approve, reason } => {
                self.vote(who, name, approve, reason).await
            }
            PeopleOrder::Explain { action } => self.explain(action).await,
            PeopleOrder::Entries { kind, session } => self.entries(kind, session).await,
            PeopleOrder::Token { who } => Ok(json!(self.token(who, 8 * 3_600))),
        }
    }
}
