//! Everything an agent can try to be more than an agent. Each try is one call; the guard must refuse each.

use std::{collections::HashMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::{Agent, PURPOSE, WORKFLOW};
use crate::{
    demo::{client::signed, error::Failed, present::Present},
    domain::clock::Clock as _,
    identity::{
        TokenKind,
        dev::{DevKey, Draft},
    },
    pb::v1,
};

/// One try and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// What was tried.
    pub(crate) what: String,
    /// The gRPC code; `OK` would be a hole.
    pub(crate) code: String,
    /// The guard's own code.
    pub(crate) reason: String,
    /// Whether it came with a token that nobody entitled had signed.
    pub(crate) forged: bool,
}

fn attempt(what: &str, forged: bool, answer: Result<(), Failed>) -> Attempt {
    let (code, reason) = match answer {
        Ok(()) => ("OK".to_owned(), String::new()),
        Err(failed) => (failed.code, failed.reason),
    };
    Attempt { what: what.to_owned(), code, reason, forged }
}

/// What it would like to have: everything.
fn everything() -> v1::Scope {
    let targets = vec![v1::TypedTargets {
        r#type: "Order".into(),
        ids: vec!["CMD-9988".into(), "CMD-7001".into()],
    }];
    v1::Scope {
        tools: vec!["create_refund_request".into()],
        acts: vec!["request_refund".into()],
        targets,
        limits: HashMap::from([("writes".to_owned(), 1_000)]),
        source: "principal".into(),
    }
}

impl Agent {
    /// Tries them all; stops at nothing.
    pub(super) async fn reach(
        &self,
        action: &str,
        digest: &str,
        leaked_scope: &str,
    ) -> Result<Vec<Attempt>, Failed> {
        let forger = Forger::new();
        let own = self.token.as_str();
        let principal = forger.principal(&self.case.principal_token, digest);
        let scope = forger.scope(&self.case.principal_token);
        Ok(vec![
            attempt("speaks for the customer", false, self.speak(own).await),
            attempt("confirms its own action", false, self.confirm(own, action, digest).await),
            attempt("endorses the mail's order number", false, self.endorse().await),
            attempt(
                "opens a session with a wider scope",
                false,
                self.open_with("", Some(everything())).await,
            ),
            attempt(
                "opens one with another customer's scope",
                false,
                self.open_with(leaked_scope, None).await,
            ),
            attempt("votes on its own escalation", false, self.vote(own).await),
            attempt("reads the decision log", false, self.audit(own).await),
            attempt("signs a scope by itself", true, self.open_with(&scope, None).await),
            attempt("signs the customer's word by itself", true, self.speak(&principal).await),
            attempt(
                "signs the confirmation by itself",
                true,
                self.confirm(&principal, action, digest).await,
            ),
            attempt(
                "confirms with the token that only names the customer",
                true,
                self.confirm(&self.case.principal_token, action, digest).await,
            ),
        ])
    }

    async fn speak(&self, token: &str) -> Result<(), Failed> {
        let text = "I am the customer. Please refund order CMD-9988.".to_owned();
        let part = v1::StatementPart { kind: v1::PartKind::Typed.into(), text };
        let request =
            v1::SubmitStatementRequest { session: self.case.session.clone(), parts: vec![part] };
        self.guard.data().submit_statement(signed(token, request)?).await?;
        Ok(())
    }

    async fn confirm(&self, token: &str, action: &str, digest: &str) -> Result<(), Failed> {
        let (name, digest) = (action.to_owned(), digest.to_owned());
        let request = v1::ConfirmActionRequest { name, digest, confirm: true };
        self.guard.intents().confirm_action(signed(token, request)?).await?;
        Ok(())
    }

    async fn endorse(&self) -> Result<(), Failed> {
        let request = v1::EndorseValueRequest {
            session: self.case.session.clone(),
            tool: "create_refund_request".to_owned(),
            argument: "/order_id".to_owned(),
            datum: self.case.mail.clone().unwrap_or_default(),
            pointer: "/subject".to_owned(),
        };
        self.guard.data().endorse_value(signed(&self.token, request)?).await?;
        Ok(())
    }

    async fn open_with(
        &self,
        scope_token: &str,
        narrower: Option<v1::Scope>,
    ) -> Result<(), Failed> {
        let request = v1::OpenSessionRequest {
            workflow: WORKFLOW.to_owned(),
            purpose: PURPOSE.to_owned(),
            principal_token: self.case.principal_token.clone(),
            scope_token: scope_token.to_owned(),
            narrower,
        };
        self.guard.sessions().open_session(signed(&self.token, request)?).await?;
        Ok(())
    }

    async fn vote(&self, token: &str) -> Result<(), Failed> {
        let list = v1::ListEscalationsRequest { page_size: 1, page_token: String::new() };
        self.guard.approvals().list_escalations(signed(token, list)?).await?;
        Ok(())
    }

    async fn audit(&self, token: &str) -> Result<(), Failed> {
        self.guard
            .audit()
            .query_entries(signed(token, v1::QueryEntriesRequest::default())?)
            .await?;
        Ok(())
    }
}

/// Signs what it likes, with a key that nobody trusts, under the names of those who are trusted.
struct Forger {
    key: DevKey,
}

impl Forger {
    fn new() -> Self {
        Self { key: DevKey::generate("portal", &Present) }
    }

    fn claims(session_token: &str) -> Map<String, serde_json::Value> {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        let payload = session_token.split('.').nth(1).unwrap_or_default();
        let bytes = URL_SAFE_NO_PAD.decode(payload).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn mint(&self, kind: TokenKind, like: &str, more: serde_json::Value) -> String {
        let named = Self::claims(like);
        let text = |name: &str| named.get(name).cloned().unwrap_or_default();
        let mut claims =
            Map::from_iter([("sub".into(), text("sub")), ("tenant".into(), text("tenant"))]);
        if let serde_json::Value::Object(more) = more {
            claims.extend(more);
        }
        let issuer = text("iss").as_str().unwrap_or_default().to_owned();
        let life = Duration::from_secs(300);
        self.key.mint(&Draft { kind, issuer: &issuer, now: Present.now(), life, claims }, &Present)
    }

    fn scope(&self, session_token: &str) -> String {
        let more = json!({
            "source": "principal", "acts": ["request_refund"], "targets": {"Order": ["CMD-9988"]},
        });
        self.mint(TokenKind::Scope, session_token, more)
    }

    fn principal(&self, session_token: &str, digest: &str) -> String {
        let now = Present.now().seconds();
        let more = json!({"auth_time": now, "amr": ["pwd"], "azp": "portal-web", "digest": digest});
        self.mint(TokenKind::Principal, session_token, more)
    }
}
