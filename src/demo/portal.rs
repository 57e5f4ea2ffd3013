//! The shop's front doors: the portal where customers sign in, and the mail intake.
//!
//! The portal's key signs who somebody is, what he asked for with a form, and his own words and answers. The mail
//! intake's key signs only "a mail that claims to be from …".

use std::time::Duration;

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

/// `iss` of the portal's tokens.
pub(crate) const PORTAL: &str = "https://portal.shop.example";
/// `iss` of the mail intake's tokens.
pub(crate) const INTAKE: &str = "https://mail.shop.example";

/// What the front doors can be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum PortalOrder {
    /// The guard is somewhere else now.
    Reconnect {
        /// The new address.
        address: String,
    },
    /// A customer signs in; answers the token that names him.
    SignIn {
        /// The customer's number.
        customer: String,
    },
    /// A mail came in; answers the token that names whom it claims to be from.
    TakeIn {
        /// The customer whose address it claims; none for a stranger.
        customer: Option<String>,
        /// The address.
        from: String,
    },
    /// The customer signs a form: these acts on these orders.
    SignForm {
        /// The customer's number.
        customer: String,
        /// What is asked for.
        acts: Vec<String>,
        /// For which orders.
        orders: Vec<String>,
    },
    /// The customer writes something into the session.
    Say {
        /// The customer's number.
        customer: String,
        /// The session.
        session: String,
        /// The words.
        text: String,
    },
    /// The customer answers "did you mean this?".
    Confirm {
        /// The customer's number.
        customer: String,
        /// The action.
        action: String,
        /// The digest of what was shown.
        digest: String,
        /// The answer.
        yes: bool,
    },
}

/// The front doors, with a key each.
#[derive(Debug)]
pub(crate) struct Portal {
    guard: Guard,
    tenant: String,
    portal: DevKey,
    intake: DevKey,
}

impl Portal {
    /// Connects with what it was given.
    pub(crate) async fn start(hello: &Hello) -> Result<Self, Failed> {
        let key = |name| {
            DevKey::parse(hello.credential(name)?).map_err(|error| Failed::here(error.to_string()))
        };
        Ok(Self {
            guard: Guard::connect(&hello.address).await?,
            tenant: hello.tenant.clone(),
            portal: key("portal_key")?,
            intake: key("intake_key")?,
        })
    }

    fn mint(&self, kind: TokenKind, customer: &str, life_s: u64, more: Value) -> String {
        let mut claims = claims(more);
        claims.insert("sub".to_owned(), json!(customer));
        claims.insert("tenant".to_owned(), json!(self.tenant));
        let life = Duration::from_secs(life_s);
        self.portal
            .mint(&Draft { kind, issuer: PORTAL, now: Present.now(), life, claims }, &Present)
    }

    fn sign_in(&self, customer: &str) -> String {
        let now = Present.now().seconds();
        let who = json!({
            "kind": "person", "roles": ["customer"], "channel": "portal", "customer_id": customer,
            "auth_time": now, "amr": ["pwd", "otp"],
        });
        self.mint(TokenKind::Session, customer, 3_600, who)
    }

    /// A mail names somebody and proves nothing: no sign-in, the channel `mail`.
    fn take_in(&self, customer: Option<&str>, from: &str) -> String {
        let mut claims = claims(json!({
            "sub": format!("mailto:{from}"), "tenant": self.tenant,
            "kind": "person", "roles": ["customer"], "channel": "mail",
        }));
        if let Some(customer) = customer {
            claims.insert("customer_id".to_owned(), json!(customer));
        }
        let (now, life) = (Present.now(), Duration::from_secs(3_600));
        let draft = Draft { kind: TokenKind::Session, issuer: INTAKE, now, life, claims };
        self.intake.mint(&draft, &Present)
    }

    fn sign_form(&self, customer: &str, acts: &[String], orders: &[String]) -> String {
        let form = json!({"source": "principal", "acts": acts, "targets": {"Order": orders}});
        self.mint(TokenKind::Scope, customer, 300, form)
    }

    /// The customer's own credential; in an answer it carries the digest of what he was shown.
    fn word(&self, customer: &str, digest: Option<&str>) -> String {
        let mut more = json!({"auth_time": Present.now().seconds(), "amr": ["pwd", "otp"], "azp": "portal-web"});
        if let (Some(digest), Value::Object(more)) = (digest, &mut more) {
            more.insert("digest".to_owned(), json!(digest));
        }
        self.mint(TokenKind::Principal, customer, 300, more)
    }

    async fn say(&self, customer: &str, session: String, text: String) -> Result<Value, Failed> {
        let part = v1::StatementPart { kind: v1::PartKind::Typed.into(), text };
        let request = v1::SubmitStatementRequest { session, parts: vec![part] };
        let request = signed(&self.word(customer, None), request)?;
        let datum = self.guard.data().submit_statement(request).await?.into_inner();
        Ok(json!(datum.handle))
    }

    async fn confirm(
        &self,
        customer: &str,
        action: String,
        digest: String,
        yes: bool,
    ) -> Result<Value, Failed> {
        let token = self.word(customer, Some(&digest));
        let request = v1::ConfirmActionRequest { name: action, digest, confirm: yes };
        let answer =
            self.guard.intents().confirm_action(signed(&token, request)?).await?.into_inner();
        Ok(json!(answer.state().as_str_name()))
    }
}

fn claims(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

impl Party for Portal {
    type Order = PortalOrder;

    async fn carry_out(&mut self, order: PortalOrder) -> Result<Value, Failed> {
        match order {
            PortalOrder::Reconnect { address } => {
                self.guard = Guard::connect(&address).await?;
                Ok(Value::Null)
            }
            PortalOrder::SignIn { customer } => Ok(json!(self.sign_in(&customer))),
            PortalOrder::TakeIn { customer, from } => {
                Ok(json!(self.take_in(customer.as_deref(), &from)))
            }
            PortalOrder::SignForm { customer, acts, orders } => {
                Ok(json!(self.sign_form(&customer, &acts, &orders)))
            }
            PortalOrder::Say { customer, session, text } => {
                self.say(&customer, session, text).await
            }
            PortalOrder::Confirm { customer, action, digest, yes } => {
                self.confirm(&customer, action, digest, yes).await
            }
        }
    }
}
