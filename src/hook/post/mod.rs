//! Owns: is the answer sound, what may leave, did the effect happen, may the session close.
//! Must not know: how bytes arrived, retries.
//! Start reading at: `mod.rs`, then `gates/wire.rs`.

pub mod closure;
pub mod gates;
pub mod mail;
pub mod project;
pub mod verify;

use serde_json::Value;

use crate::{
    bundle::contract::Contract,
    domain::{label::LabelMap, reason::ReasonCode, response::RawResponse},
    expr::Bindings,
};

/// For whom an answer was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The daemon itself: facts, look-ups, verification. The whole answer, no relation.
    Daemon,
    /// The agent of a session.
    Agent {
        /// Whether its subject is less than authenticated, so that it sees the claimed projection.
        claimed: bool,
    },
}

/// An answer that passed every gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The whole answer, for facts, invariants, cases and verification.
    pub result: Value,
    /// What may leave the post-hook.
    pub projected: Value,
    /// The labels of `projected`, by place; the caller adds the datum as a source.
    pub labels: LabelMap,
    /// False when the tool accepted the request but has not finished it.
    pub finished: bool,
    /// The business id shown for the handle.
    pub display: Option<String>,
}

/// What kind of stop it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// The answer failed a gate; it is quarantined and says nothing about what the tool did.
    Corrupt,
    /// An error status that the contract does not know.
    UnknownError {
        /// The status.
        status: u16,
    },
    /// An error that the contract knows: the tool said that it did not act.
    KnownError {
        /// Whether the contract says that another attempt can help.
        retryable: bool,
    },
    /// A sound answer about somebody else's record; nothing of it is stored or shown.
    NotRelated,
}

/// An answer that did not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Stopped {
    /// What kind of stop it is.
    pub kind: StopKind,
    /// The exact code.
    pub code: ReasonCode,
    /// The rule of the contract that stopped it.
    pub rule: Option<String>,
    /// What was found and where. For operators and the log, never for an agent: a place can hold a
    /// member name of the answer; values of it are never quoted.
    pub detail: String,
}

impl Stopped {
    fn corrupt(code: ReasonCode, detail: impl Into<String>) -> Self {
        Self { kind: StopKind::Corrupt, code, rule: None, detail: detail.into() }
    }

    fn by_rule(mut self, rule: &str) -> Self {
        self.rule = Some(rule.to_owned());
        self
    }
}

/// The result of a write that a look-up found: as sound as the look-up's own answer, projected and
/// labelled as the write's.
///
/// # Errors
/// [`Stopped`] when it is not of the form that the write promises, or breaks its invariants.
pub fn check_looked_up(
    contract: &Contract,
    result: Value,
    seen: &Bindings,
) -> Result<Accepted, Stopped> {
    let expected = &contract.response;
    let mut bindings = seen.clone();
    bindings.bind("result", result.clone());
    gates::meaning::check_invariants(expected, &bindings)?;
    let finished = gates::meaning::is_finished(expected, &bindings)?;
    let projected = project::project(&expected.project, &result, Reader::Daemon);
    let labels = project::labels(&expected.labels, &projected);
    let display = project::display(&expected.datum, &bindings);
    Ok(Accepted { result, projected, labels, finished, display })
}

/// Runs an answer through all gates, in the order of CONVENTIONS D.2; the first failure is the reason.
///
/// `seen` binds what the contract's expressions may read besides `result`: `args`, `facts`,
/// `subject`, `effect` and so on.
///
/// # Errors
/// [`Stopped`] with the exact code.
pub fn check_response(
    contract: &Contract,
    response: &RawResponse,
    seen: &Bindings,
    reader: Reader,
) -> Result<Accepted, Stopped> {
    let expected = &contract.response;
    gates::wire::check(expected, response)?;
    let result = gates::read(expected, response)?;
    let mut bindings = seen.clone();
    bindings.bind("result", result.clone());
    gates::meaning::check_schema(expected, &result)?;
    let finished = gates::meaning::is_finished(expected, &bindings)?;
    gates::meaning::check_echo(expected, &bindings)?;
    gates::meaning::check_invariants(expected, &bindings)?;
    if let Reader::Agent { .. } = reader {
        gates::meaning::check_relation(contract, &bindings)?;
    }
    let projected = project::project(&expected.project, &result, reader);
    let labels = project::labels(&expected.labels, &projected);
    let display = project::display(&expected.datum, &bindings);
    Ok(Accepted { result, projected, labels, finished, display })
}
