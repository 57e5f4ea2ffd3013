//! ExplainAction: how an action came to be decided and what became of it, from the log and the
//! stored record.

use serde_json::Value;

use super::{get::action_name, replay::sees_in_full};
use crate::{
    app::{App, Caller, Refused, answer::ActionAnswer},
    domain::{
        clock::Timestamp, entry::EntryKind, fact::Fact, ids::ActionId, reason::ReasonCode,
        unit::EntryRow,
    },
    identity::rights::Rpc,
    store::EntryQuery,
};

/// The whole story of one action.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The action as it stands.
    pub answer: ActionAnswer,
    /// Entries of the session up to and about the action, in order.
    pub steps: Vec<Step>,
    /// The facts of the latest decision.
    pub facts: Vec<Fact>,
}

/// One entry, told for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Timestamp,
    /// The entry's kind.
    pub kind: String,
    /// `RESOLVING -> EXECUTING`.
    pub session_transition: String,
    /// `ready -> dispatched`.
    pub action_transition: String,
    /// One sentence.
    pub text: String,
    /// Reason codes as the caller sees them.
    pub reasons: Vec<String>,
    /// The entry's handle.
    pub entry: String,
    /// The tool.
    pub tool: String,
}

/// Entries read for one explanation; a session's cap on steps keeps it below.
const ENTRIES_MAX: i64 = 500;

impl App {
    /// Explains an action.
    ///
    /// # Errors
    /// Not found when it is not the caller's.
    pub async fn explain(&self, caller: &Caller, name: &str) -> Result<Explanation, Refused> {
        let (session, action) = action_name(name)?;
        self.authorize(caller, Rpc::ExplainAction, Some(&session)).await?;
        let session = self.session_for(caller, &session).await?;
        let answer = self.answer_for(caller, &session, &action, true).await?;
        if answer.action.session != session.id {
            return Err(Refused::not_found());
        }
        let query = EntryQuery {
            session: Some(session.id.clone()),
            limit: ENTRIES_MAX,
            ..EntryQuery::default()
        };
        let mut entries = self.store().entries(&session.tenant, &query).await?;
        // The place in the session is the order, whatever the clocks of two daemons said.
        entries.sort_by_key(|entry| entry.session_seq);
        let in_full = sees_in_full(caller);
        let steps = story(&entries, &action, in_full)?;
        let facts = answer.action.facts.0.values().cloned().collect();
        Ok(Explanation { answer, steps, facts })
    }
}

/// Entries of the session until the action's last one, without other actions' inner steps.
///
/// # Errors
/// When the bytes of an entry are not JSON.
pub fn story(entries: &[EntryRow], action: &ActionId, in_full: bool) -> Result<Vec<Step>, Refused> {
    let last = entries.iter().rposition(|entry| entry.action.as_ref() == Some(action));
    let Some(last) = last else { return Ok(Vec::new()) };
    // What closes or moves the session right after belongs to the story too.
    let tail =
        entries.iter().skip(last + 1).take_while(|e| e.kind == EntryKind::Transition.as_str());
    entries.iter().take(last + 1).chain(tail).map(|entry| step(entry, in_full)).collect()
}

fn step(entry: &EntryRow, in_full: bool) -> Result<Step, Refused> {
    let document: Value = serde_json::from_slice(&entry.bytes)
        .map_err(|error| Refused::corrupt("entries", entry.entry.as_str(), &error.to_string()))?;
    let text = |pointer: &str| {
        document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let reasons = entry
        .reasons
        .split(' ')
        .filter_map(ReasonCode::parse)
        .map(|code| if in_full { code } else { code.public() }.as_str().to_owned())
        .collect();
    Ok(Step {
        at: entry.occurred_at,
        kind: entry.kind.clone(),
        session_transition: text("/transition/session"),
        action_transition: text("/transition/action"),
        text: sentence(entry, &document),
        reasons,
        entry: entry.entry.to_string(),
        tool: entry.tool.clone().unwrap_or_default(),
    })
}

/// One sentence about an entry, made from its members only.
fn sentence(entry: &EntryRow, document: &Value) -> String {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or("?");
    let list = |pointer: &str| {
        let items = document.pointer(pointer).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let tool = entry.tool.as_deref().unwrap_or("?");
    let Some(kind) = EntryKind::parse(&entry.kind) else { return entry.kind.clone() };
    match kind {
        EntryKind::SessionOpened => {
            format!("session opened for a principal who is {}", text("/identity/assurance"))
        }
        EntryKind::Statement => format!("the principal spoke: {}", list("/inputs")),
        EntryKind::Datum => format!("stored {}", list("/inputs")),
        EntryKind::Exposure => format!("the model was shown {}", list("/inputs")),
        EntryKind::Decision if document.get("replayed").is_some() => {
            format!("{tool} asked for again: answered with the stored outcome")
        }
        EntryKind::Decision => format!("{tool} proposed: {}", text("/decision")),
        EntryKind::Dispatch => format!("{tool} committed to be sent"),
        EntryKind::Outcome => format!("{tool}: {}", text("/outcome")),
        EntryKind::Verification => {
            format!("effect of {tool} read back through {}: {}", text("/read"), text("/verdict"))
        }
        EntryKind::Question => format!("{tool}: {} asked for", text("/need")),
        EntryKind::Vote => format!("{tool}: the answer is {}", text("/answer")),
        EntryKind::Transition => "the session moved".to_owned(),
        EntryKind::Endorsement => "a value was raised".to_owned(),
        EntryKind::Bundle => "a bundle took force".to_owned(),
        EntryKind::Admin => "an operator acted".to_owned(),
        EntryKind::Refusal => "a call was refused".to_owned(),
    }
}
