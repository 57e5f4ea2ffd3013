//! A world while a story is played in it, and what is told about it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use prost::Message as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    demo::{
        agent::{Attempt, Deed},
        error::{DemoError, Failed},
        people::PeopleOrder,
        portal::PortalOrder,
        stage::Stage,
        till::Found,
        wire::AgentOrder,
    },
    pb::v1,
};

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Somebody does something, in one sentence.
    Said(String),
    /// An action, as the auditor has it explained.
    Action(Box<Explained>),
    /// What the agent saw of the action before, where that is less.
    AgentSaw(Box<Deed>),
    /// What the agent tried and what it was answered.
    Tried(Vec<Attempt>),
    /// An escalation as an approver reads it.
    Waiting(Value),
    /// Entries of the log, as the auditor reads them.
    Entries(Vec<Value>),
}

/// An explanation, and what the agent was answered at that moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Explained {
    pub(crate) explanation: v1::Explanation,
    /// It was the stored outcome of an earlier, equal intent.
    pub(crate) replayed: bool,
    /// What the agent meant it for, where the arguments do not say.
    pub(crate) about: String,
    /// Where the session stood then; empty when nobody was answered.
    pub(crate) session_state: String,
}

/// Something that must be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expectation {
    pub(crate) text: String,
    pub(crate) held: bool,
}

/// What is told of one story.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) parts: Vec<Part>,
    pub(crate) expectations: Vec<Expectation>,
    /// The shop's database at the end.
    pub(crate) found: Option<Found>,
}

impl Told {
    /// Whether everything is as it should be.
    pub(crate) fn is_good(&self) -> bool {
        !self.expectations.is_empty() && self.expectations.iter().all(|e| e.held)
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) told: Told,
}

impl Scene {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage, told: Told::default() }
    }

    /// Tells one sentence.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.told.parts.push(Part::Said(text.into()));
    }

    /// Notes whether something is as it must be.
    pub(crate) fn expect(&mut self, text: impl Into<String>, held: bool) {
        self.told.expectations.push(Expectation { text: text.into(), held });
    }

    /// Lets the agent do something and has every action explained.
    pub(crate) async fn agent(&mut self, order: AgentOrder) -> Result<Vec<Deed>, DemoError> {
        let answer = self.stage.agent(&order).await?;
        let deeds: Vec<Deed> = taken("agent", &order, answer)?;
        for deed in &deeds {
            let explanation = self.fetch(&deed.action).await?;
            self.tell(Explained {
                explanation,
                replayed: deed.replayed,
                about: deed.about.clone(),
                session_state: deed.session_state.clone(),
            });
        }
        Ok(deeds)
    }

    /// The agent's answer where it is no list of deeds.
    pub(crate) async fn ask_agent<T: DeserializeOwned>(
        &mut self,
        order: AgentOrder,
    ) -> Result<T, DemoError> {
        let answer = self.stage.agent(&order).await?;
        taken("agent", &order, answer)
    }

    /// The front doors do something.
    pub(crate) async fn portal(&mut self, order: PortalOrder) -> Result<String, DemoError> {
        let answer = self.stage.portal(&order).await?;
        taken("portal", &order, answer)
    }

    /// The people of the desk do something.
    pub(crate) async fn people<T: DeserializeOwned>(
        &mut self,
        order: PeopleOrder,
    ) -> Result<T, DemoError> {
        let answer = self.stage.people(&order).await?;
        taken("people", &order, answer)
    }

    fn tell(&mut self, explained: Explained) {
        self.told.parts.push(Part::Action(Box::new(explained)));
    }

    /// Has an action explained by the auditor, and tells it.
    pub(crate) async fn explain(&mut self, action: &str) -> Result<v1::Explanation, DemoError> {
        let explanation = self.fetch(action).await?;
        self.tell(Explained { explanation: explanation.clone(), ..Explained::default() });
        Ok(explanation)
    }

    async fn fetch(&mut self, action: &str) -> Result<v1::Explanation, DemoError> {
        let order = PeopleOrder::Explain { action: action.to_owned() };
        let text: String = self.people(order).await?;
        let unreadable = |why: String| DemoError::Story {
            who: "people",
            what: "explain an action".to_owned(),
            why,
        };
        let bytes = STANDARD.decode(text).map_err(|error| unreadable(error.to_string()))?;
        v1::Explanation::decode(bytes.as_slice()).map_err(|error| unreadable(error.to_string()))
    }

    /// Opens a session for a customer who signs in, with what he signed.
    pub(crate) async fn open_signed_in(
        &mut self,
        customer: &str,
        form: Option<(&str, &str)>,
    ) -> Result<String, DemoError> {
        let principal_token =
            self.portal(PortalOrder::SignIn { customer: customer.to_owned() }).await?;
        let scope_token = match form {
            None => String::new(),
            Some((act, order)) => {
                let (acts, orders) = (vec![act.to_owned()], vec![order.to_owned()]);
                self.portal(PortalOrder::SignForm { customer: customer.to_owned(), acts, orders })
                    .await?
            }
        };
        self.ask_agent(AgentOrder::Open { principal_token, scope_token }).await
    }

    /// Opens a session for whoever a mail claims to be from.
    pub(crate) async fn open_by_mail(
        &mut self,
        customer: Option<&str>,
        from: &str,
    ) -> Result<String, DemoError> {
        let customer = customer.map(str::to_owned);
        let principal_token =
            self.portal(PortalOrder::TakeIn { customer, from: from.to_owned() }).await?;
        self.ask_agent(AgentOrder::Open { principal_token, scope_token: String::new() }).await
    }

    /// A customer writes into the session on the portal.
    pub(crate) async fn customer_says(
        &mut self,
        customer: &str,
        session: &str,
        text: &str,
    ) -> Result<String, DemoError> {
        let (customer, session, text) = (customer.to_owned(), session.to_owned(), text.to_owned());
        self.portal(PortalOrder::Say { customer, session, text }).await
    }

    /// Looks into the shop's database, past the daemon.
    pub(crate) async fn look_into_the_shop(&mut self) -> Result<Found, DemoError> {
        let found = self.stage.till.look().await?;
        self.told.found = Some(found.clone());
        Ok(found)
    }

    /// Looks, and expects that nobody was paid anything.
    pub(crate) async fn expect_nothing_refunded(&mut self) -> Result<Found, DemoError> {
        let found = self.look_into_the_shop().await?;
        self.expect("the shop has no refund", found.refunds.is_empty());
        self.expect("the shop was never asked for one", found.asked("POST", "/v1/refunds") == 0);
        Ok(found)
    }
}

fn taken<T: DeserializeOwned>(
    who: &'static str,
    order: &impl serde::Serialize,
    answer: Result<Value, Failed>,
) -> Result<T, DemoError> {
    let told = serde_json::to_value(order).unwrap_or_default();
    let what = told.get("do").and_then(Value::as_str).unwrap_or("follow an order").to_owned();
    let failed = |why: String| DemoError::Story { who, what: what.clone(), why };
    let value = answer.map_err(|why| failed(why.to_string()))?;
    serde_json::from_value(value).map_err(|error| failed(error.to_string()))
}

/// The action that counts among several: the last one of this tool.
pub(crate) fn last_of<'a>(deeds: &'a [Deed], tool: &str) -> Option<&'a Deed> {
    deeds.iter().rev().find(|deed| deed.tool == tool)
}

/// The codes of the action that was explained last, in full.
pub(crate) fn last_codes(told: &Told) -> Vec<String> {
    let explained = told.parts.iter().rev().find_map(|part| match part {
        Part::Action(explained) => Some(codes(&explained.explanation)),
        Part::Said(_)
        | Part::AgentSaw(_)
        | Part::Tried(_)
        | Part::Waiting(_)
        | Part::Entries(_) => None,
    });
    explained.unwrap_or_default()
}

/// Codes of an explained decision, sorted, in full.
fn codes(explanation: &v1::Explanation) -> Vec<String> {
    let decision = explanation.action.as_ref().and_then(|action| action.decision.as_ref());
    let mut codes: Vec<String> =
        decision.into_iter().flat_map(|d| d.reasons.iter().map(|r| r.code.clone())).collect();
    codes.sort();
    codes.dedup();
    codes
}
