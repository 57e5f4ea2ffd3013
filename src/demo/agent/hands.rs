//! The agent's calls: propose, withdraw, and look at what the customer said.

use prost_types::Duration;
use serde_json::Value;

use super::{
    Agent, PURPOSE,
    deed::Deed,
    model::{self, Passage, Place},
};
use crate::{
    demo::{client::signed, error::Failed},
    pb::v1,
};

/// How long the agent waits for an outcome.
const WAIT: Duration = Duration { seconds: 20, nanos: 0 };

/// One intent before it is sent.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) citation: Option<v1::Citation>,
    pub(super) evidence: Vec<String>,
    pub(super) reason: String,
    pub(super) is_write: bool,
}

impl Proposal {
    /// A read whose only argument stands at this place of a text.
    pub(super) fn read(tool: &str, arguments: Value, place: Option<&Place>) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments,
            citation: place.map(cite),
            evidence: Vec::new(),
            reason: String::new(),
            is_write: false,
        }
    }

    /// A write about the record at this place.
    pub(super) fn write(tool: &str, arguments: Value, place: &Place) -> Self {
        Self { is_write: true, ..Self::read(tool, arguments, Some(place)) }
    }
}

/// All targets of this desk are orders. A place in a record is cited whole, one in a text by its words.
fn cite(place: &Place) -> v1::Citation {
    let pointer = place.pointer.clone();
    let stands = if pointer == "/order_id" {
        v1::citation::Place::Pointer(pointer)
    } else {
        v1::citation::Place::Text(v1::TextSpan { pointer, exact: place.exact.clone() })
    };
    v1::Citation {
        argument: "/order_id".to_owned(),
        datum: place.datum.clone(),
        place: Some(stands),
    }
}

impl Agent {
    /// Proposes, and waits for what becomes of it.
    pub(super) async fn submit(&self, proposal: &Proposal, about: &str) -> Result<Deed, Failed> {
        use v1::submit_intent_request::WaitFor;
        let wait_for = if proposal.is_write { WaitFor::Verified } else { WaitFor::Outcome };
        let request = v1::SubmitIntentRequest {
            session: self.case.session.clone(),
            intent: Some(v1::Intent {
                purpose: PURPOSE.to_owned(),
                tool: proposal.tool.clone(),
                arguments_json: proposal.arguments.to_string(),
                citations: proposal.citation.iter().cloned().collect(),
                evidence: proposal.evidence.clone(),
                reason: proposal.reason.clone(),
                expects_json: String::new(),
            }),
            result_view: v1::View::Full.into(),
            wait: Some(WAIT),
            wait_for: wait_for.into(),
            request_id: String::new(),
        };
        let answer = self.guard.intents().submit_intent(signed(&self.token, request)?).await?;
        Ok(Deed::of(answer.into_inner(), about))
    }

    pub(super) async fn cancel(&self, action: &str) -> Result<Deed, Failed> {
        let request = v1::CancelActionRequest { name: action.to_owned() };
        let answer = self.guard.intents().cancel_action(signed(&self.token, request)?).await?;
        Ok(Deed::of(answer.into_inner(), "withdrawn"))
    }

    /// What the customer said in this session.
    pub(super) async fn statements(&self) -> Result<Vec<Passage>, Failed> {
        let session = self.case.session.clone();
        let list = v1::ListDataRequest {
            session: session.clone(),
            page_size: 100,
            page_token: String::new(),
        };
        let listed = self.guard.data().list_data(signed(&self.token, list)?).await?.into_inner();
        let mut found = Vec::new();
        for datum in listed.data.into_iter().filter(|datum| datum.origin == "statement") {
            let get = v1::GetDatumRequest {
                session: session.clone(),
                datum: datum.handle.clone(),
                view: v1::View::Full.into(),
            };
            let whole = self.guard.data().get_datum(signed(&self.token, get)?).await?.into_inner();
            let content: Value = serde_json::from_str(&whole.content_json).unwrap_or_default();
            found.extend(model::passages_of(&datum.handle, &content, false));
        }
        Ok(found)
    }
}
