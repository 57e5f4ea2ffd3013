//! The one table: may an attempt be repeated, and is it proven that it did nothing?
//!
//! | signal | read | idempotent, keyed | reconcilable | once |
//! |---|---|---|---|---|
//! | not sent | retryable | retryable | retryable | retryable |
//! | sent, no sound answer | retryable | retryable ¹ | ambiguous | ambiguous |
//! | 408 429 500 502 503 504 | retryable | retryable ¹ | ambiguous | ambiguous |
//! | corruption that a fresh answer can heal | retryable | retryable ¹ | ambiguous | ambiguous |
//! | other corruption | non-retryable | non-retryable ² | ambiguous | ambiguous |
//! | other error statuses | non-retryable | non-retryable ² | ambiguous | ambiguous |
//! | error that the contract maps, non-retryable | non-retryable | non-retryable | non-retryable | non-retryable |
//! | error that the contract maps, retryable | retryable | retryable | retryable | retryable |
//!
//! ¹ with a look-up: ambiguous, because one looks before one repeats (DESIGN 16).
//! ² whether it acted is unknown: a proxy may have answered for a tool that did act.

use super::attempt::{Phase, TransportFault};
use crate::domain::{contract_terms::EffectClass, reason::ReasonCode};

/// What an attempt came to, as far as repeating it is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// No answer with a complete head.
    Transport(Phase, TransportFault),
    /// An error status that the contract does not map.
    Status(u16),
    /// An error that the contract maps: the tool said that it did not act.
    Mapped {
        /// The contract's code.
        code: ReasonCode,
        /// Whether the contract says that another attempt can help.
        retryable: bool,
    },
    /// An answer that failed a gate.
    Corrupt(ReasonCode),
}

/// Whether another attempt may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It may, and it can help.
    Retryable,
    /// It may not, or cannot help.
    NonRetryable,
    /// The call may have acted: look, or settle; never repeat blindly.
    Ambiguous,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classification {
    /// Whether another attempt may follow.
    pub kind: Kind,
    /// What to call it.
    pub code: ReasonCode,
    /// Whether it is proven that the call did nothing.
    pub proven_not_executed: bool,
    /// Whether the tool asked for less traffic.
    pub throttled: bool,
}

/// Looks an attempt up in the table. `has_lookup`: the contract can find out whether it happened.
#[must_use]
pub fn classify(signal: Signal, class: EffectClass, has_lookup: bool) -> Classification {
    let code = code_of(signal);
    let throttled = matches!(signal, Signal::Status(429 | 503));
    let row =
        |kind, proven_not_executed| Classification { kind, code, proven_not_executed, throttled };
    match healing(signal) {
        Healing::NotSent => row(Kind::Retryable, true),
        Healing::Never => row(Kind::NonRetryable, true),
        Healing::MappedAgain => row(Kind::Retryable, true),
        Healing::Again => {
            row(if_unknown(class, has_lookup, Kind::Retryable), class == EffectClass::Read)
        }
        Healing::Useless => {
            row(if_unknown(class, false, Kind::NonRetryable), class == EffectClass::Read)
        }
    }
}

/// What another attempt could do about a signal, whatever the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Healing {
    /// Nothing left, so anything may be tried again.
    NotSent,
    /// The tool, or our own side, says no for good, and nothing was done.
    Never,
    /// The tool says that it did nothing and that another attempt can help.
    MappedAgain,
    /// Another attempt can help.
    Again,
    /// Another attempt cannot help; whether the call acted is unknown.
    Useless,
}

fn healing(signal: Signal) -> Healing {
    match signal {
        Signal::Transport(_, TransportFault::Unsendable | TransportFault::WindowPassed) => {
            Healing::Never
        }
        Signal::Transport(Phase::NotSent, _) => Healing::NotSent,
        Signal::Transport(Phase::Sent | Phase::PartlyAnswered | Phase::Answered, _) => {
            Healing::Again
        }
        Signal::Status(408 | 429 | 500 | 502 | 503 | 504) => Healing::Again,
        Signal::Status(_) => Healing::Useless,
        Signal::Mapped { retryable: true, .. } => Healing::MappedAgain,
        Signal::Mapped { retryable: false, .. } => Healing::Never,
        Signal::Corrupt(code) if heals(code) => Healing::Again,
        Signal::Corrupt(_) => Healing::Useless,
    }
}

fn if_unknown(class: EffectClass, has_lookup: bool, else_kind: Kind) -> Kind {
    match class {
        EffectClass::Read => else_kind,
        EffectClass::Idempotent | EffectClass::Keyed if has_lookup => Kind::Ambiguous,
        EffectClass::Idempotent | EffectClass::Keyed => else_kind,
        EffectClass::Reconcilable | EffectClass::Once => Kind::Ambiguous,
    }
}

/// The corruptions marked R in CONVENTIONS D.3: accidents of one answer, not of the tool.
fn heals(code: ReasonCode) -> bool {
    [
        ReasonCode::BodyTruncated,
        ReasonCode::BodyStalled,
        ReasonCode::BodyEmpty,
        ReasonCode::JsonIncomplete,
        ReasonCode::HeadMalformed,
    ]
    .contains(&code)
}

fn code_of(signal: Signal) -> ReasonCode {
    match signal {
        Signal::Mapped { code, .. } | Signal::Corrupt(code) => code,
        Signal::Status(408) => ReasonCode::ToolTimeout,
        Signal::Status(429) => ReasonCode::ToolOverloaded,
        Signal::Status(500 | 502 | 503 | 504) => ReasonCode::Tool5xx,
        Signal::Status(_) => ReasonCode::ToolNonRetryable,
        Signal::Transport(_, fault) => match fault {
            TransportFault::Unsendable => ReasonCode::RequestUnrenderable,
            TransportFault::WindowPassed => ReasonCode::SendWindowPassed,
            TransportFault::NameUnresolved
            | TransportFault::Refused
            | TransportFault::Unreachable
            | TransportFault::TlsFailed
            | TransportFault::Closed => ReasonCode::ToolUnreachable,
            TransportFault::ConnectTimeout | TransportFault::Timeout => ReasonCode::ToolTimeout,
            TransportFault::MalformedHead => ReasonCode::HeadMalformed,
        },
    }
}

#[cfg(test)]
mod tests;
