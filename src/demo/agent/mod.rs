//! Owns: the agent of the demonstration: a "model" that believes what it reads, and hands that propose what it wants.
//! Must not know: the shop, the portal's and the people's keys, how the guard decides.
//! Start reading at: `Agent::carry_out`, then `model.rs`.
//!
//! It has an address, a workload token, and what the front door hands over with a case. It cites whatever looks best
//! for what it wants: the place that gives the instruction, or the record it has just read.

mod deed;
mod hands;
mod model;
mod reach;
mod words;

use serde_json::{Value, json};

pub(crate) use self::{deed::Deed, reach::Attempt};
use self::{
    hands::Proposal,
    model::{Named, Passage, Place, Reading},
};
use super::{
    client::{Guard, signed},
    error::Failed,
    wire::{AgentOrder, Hello, Party},
};
use crate::pb::v1;

/// What this agent was installed for.
const WORKFLOW: &str = "refund";
/// The only purpose of that workflow.
const PURPOSE: &str = "refund_request";

/// The agent and its memory of one case.
#[derive(Debug)]
pub(crate) struct Agent {
    guard: Guard,
    address: String,
    token: String,
    case: Case,
    /// The last write, as it was sent.
    last: Option<Proposal>,
}

/// What it remembers of the case at hand.
#[derive(Debug, Default)]
struct Case {
    session: String,
    principal_token: String,
    is_claimed: bool,
    mail: Option<String>,
    passages: Vec<Passage>,
    reading: Reading,
    /// Records that it was shown: identifier, handle, status.
    records: Vec<(String, String, String)>,
}

impl Agent {
    /// Connects with what it was given.
    pub(crate) async fn start(hello: &Hello) -> Result<Self, Failed> {
        Ok(Self {
            guard: Guard::connect(&hello.address).await?,
            address: hello.address.clone(),
            token: hello.credential("workload_token")?.to_owned(),
            case: Case::default(),
            last: None,
        })
    }

    async fn open(
        &mut self,
        principal_token: String,
        scope_token: String,
    ) -> Result<Value, Failed> {
        let request = v1::OpenSessionRequest {
            workflow: WORKFLOW.to_owned(),
            purpose: PURPOSE.to_owned(),
            principal_token: principal_token.clone(),
            scope_token,
            narrower: None,
        };
        let session =
            self.guard.sessions().open_session(signed(&self.token, request)?).await?.into_inner();
        self.case = Case {
            session: session.name.clone(),
            principal_token,
            is_claimed: session.assurance != "authenticated",
            ..Case::default()
        };
        Ok(json!(session.name))
    }

    async fn look(&self) -> Result<Value, Failed> {
        let request = v1::GetSessionRequest { name: self.case.session.clone() };
        let session = self.guard.sessions().get_session(signed(&self.token, request)?).await?;
        crate::pb::json::of(session.get_ref()).map_err(|error| Failed::here(error.to_string()))
    }

    /// Reads the mail, and what the customer said on the portal.
    async fn read(&mut self, mail: &str) -> Result<Vec<Deed>, Failed> {
        let proposal = Proposal::read("read_mail", json!({"mail_id": mail}), None);
        let deed = self.submit(&proposal, mail).await?;
        if !deed.result_datum.is_empty() {
            self.case.mail = Some(deed.result_datum.clone());
            self.case.passages = model::passages_of_mail(&deed.result_datum, &deed.result);
        }
        self.case.passages.extend(self.statements().await?);
        self.case.reading = model::read(&self.case.passages);
        Ok(vec![deed])
    }

    async fn look_up(&mut self) -> Result<Vec<Deed>, Failed> {
        let mut deeds = Vec::new();
        for named in self.case.reading.named.clone() {
            let arguments = json!({"order_id": named.order});
            let mut proposal = Proposal::read("get_order", arguments, named.places.first());
            let mut deed = self.submit(&proposal, &named.order).await?;
            if deed.has_reason("citation_mismatch") {
                deeds.push(deed);
                proposal.citation = None;
                deed = self.submit(&proposal, &named.order).await?;
            }
            if !deed.result_datum.is_empty() {
                let status = deed.result.get("status").and_then(Value::as_str).unwrap_or("?");
                self.case.records.push((named.order, deed.result_datum.clone(), status.to_owned()));
            }
            deeds.push(deed);
        }
        Ok(deeds)
    }

    /// A note for the desk about the first record that it was shown.
    async fn note(&mut self) -> Result<Vec<Deed>, Failed> {
        let Some((order, handle, status)) = self.case.records.first().cloned() else {
            return Ok(Vec::new());
        };
        let wish = if self.case.reading.wants_refund {
            "Asks for the money back."
        } else {
            "Asks a question."
        };
        let from =
            if self.case.is_claimed { "a mail, sender not authenticated" } else { "the portal" };
        let gist = &self.case.reading.gist;
        let text = format!("From {from}. {wish} The shop says: {status}. They write: {gist}");
        let proposal = Proposal::write(
            "add_case_note",
            json!({"order_id": order, "text": text}),
            &record(&order, &handle),
        );
        let deed = self.submit(&proposal, &order).await?;
        self.last = Some(proposal);
        Ok(vec![deed])
    }

    /// Proposes what the mail asks for: first to the letter, with all it tells to set; then what the tool takes.
    async fn act(&mut self, citing_records: bool) -> Result<Vec<Deed>, Failed> {
        let reading = self.case.reading.clone();
        let mut deeds = Vec::new();
        for named in reading.to_refund() {
            let place = self.best_place(named, citing_records);
            let plain = self.refund(named, &reading, place.as_ref());
            if !reading.told_to_set.is_empty() && !citing_records {
                let mut told = plain.clone();
                if let Value::Object(arguments) = &mut told.arguments {
                    arguments.extend(reading.told_to_set.clone());
                }
                deeds.push(self.submit(&told, &named.order).await?);
            }
            deeds.push(self.submit(&plain, &named.order).await?);
            self.last = Some(plain);
        }
        Ok(deeds)
    }

    fn refund(&self, named: &Named, reading: &Reading, place: Option<&Place>) -> Proposal {
        let evidence: Vec<String> = self.case.mail.iter().cloned().collect();
        let arguments = json!({
            "order_id": named.order, "reason_code": reading.reason_code, "evidence_refs": evidence,
        });
        let mut proposal = Proposal::read("create_refund_request", arguments, place);
        proposal.evidence = evidence;
        proposal.reason = reading.gist.clone();
        proposal.is_write = true;
        proposal
    }

    /// An instruction is best backed by the place that gives it; a mere wish by the record.
    fn best_place(&self, named: &Named, citing_records: bool) -> Option<Place> {
        let own = self.case.records.iter().find(|(order, ..)| *order == named.order);
        let own = own.map(|(order, handle, _)| record(order, handle));
        let written = named.places.first().cloned();
        if named.asked && !citing_records { written.or(own) } else { own.or(written) }
    }

    async fn again(&mut self) -> Result<Vec<Deed>, Failed> {
        let last =
            self.last.clone().ok_or_else(|| Failed::here("nothing was sent yet".to_owned()))?;
        let about =
            last.arguments.get("order_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(vec![self.submit(&last, &about).await?])
    }
}

/// The place where a record holds its own identifier.
fn record(order: &str, handle: &str) -> Place {
    Place { datum: handle.to_owned(), pointer: "/order_id".to_owned(), exact: order.to_owned() }
}

impl Party for Agent {
    type Order = AgentOrder;

    async fn carry_out(&mut self, order: AgentOrder) -> Result<Value, Failed> {
        let deeds = match order {
            AgentOrder::Reconnect { address } => {
                self.guard = Guard::connect(&address).await?;
                self.address = address;
                return Ok(Value::Null);
            }
            AgentOrder::Open { principal_token, scope_token } => {
                return self.open(principal_token, scope_token).await;
            }
            AgentOrder::Look => return self.look().await,
            AgentOrder::Reach { action, digest, leaked_scope } => {
                return Ok(json!(self.reach(&action, &digest, &leaked_scope).await?));
            }
            AgentOrder::Cancel { action } => vec![self.cancel(&action).await?],
            AgentOrder::Read { mail } => self.read(&mail).await?,
            AgentOrder::LookUp => self.look_up().await?,
            AgentOrder::Note => self.note().await?,
            AgentOrder::Act { citing_records } => self.act(citing_records).await?,
            AgentOrder::Again => self.again().await?,
        };
        Ok(json!(deeds))
    }
}
