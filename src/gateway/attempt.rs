//! One attempt: what was sent, what came back, and how far it got. Nothing is judged here.

use std::{sync::Arc, time::Duration};

use tracing::Instrument as _;

use super::{call::Call, endpoint::Endpoints, executor::Executor, permit::Permit};
use crate::domain::{
    clock::{Clock, Timestamp},
    response::RawResponse,
};

/// How far an attempt got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Provably no byte of the request left.
    NotSent,
    /// At least one byte left; nothing of an answer came.
    Sent,
    /// A part of an answer came.
    PartlyAnswered,
    /// A whole answer came.
    Answered,
}

/// Why there is no answer with a complete head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransportFault {
    /// The configuration has no such endpoint, or the request cannot be written.
    Unsendable,
    /// The window in which the write may be sent has passed.
    WindowPassed,
    /// The host's name has no address.
    NameUnresolved,
    /// The host refused the connection.
    Refused,
    /// The host could not be reached.
    Unreachable,
    /// No secure connection could be made.
    TlsFailed,
    /// No connection within the attempt's time.
    ConnectTimeout,
    /// No answer within the attempt's time.
    Timeout,
    /// The connection ended without an answer.
    Closed,
    /// What came is not HTTP.
    MalformedHead,
}

/// What one attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// How far it got.
    pub phase: Phase,
    /// The answer, when its head came; its body may be partial.
    pub response: Option<RawResponse>,
    /// Why there is none.
    pub fault: Option<TransportFault>,
    /// Bytes of the request that left.
    pub bytes_sent: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl AttemptReport {
    /// How long it took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.ended_at.since(self.started_at)
    }
}

/// What an executor brings back; the gateway adds the times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// How far it got.
    pub phase: Phase,
    /// The answer, when its head came.
    pub response: Option<RawResponse>,
    /// Why there is none.
    pub fault: Option<TransportFault>,
    /// Bytes of the request that left.
    pub bytes_sent: u64,
}

impl Exchange {
    /// Nothing was sent.
    #[must_use]
    pub const fn not_sent(fault: TransportFault) -> Self {
        Self { phase: Phase::NotSent, response: None, fault: Some(fault), bytes_sent: 0 }
    }
}

/// The only place that talks to tools.
#[derive(Debug)]
pub struct Gateway {
    endpoints: Endpoints,
    executor: Arc<dyn Executor>,
    clock: Arc<dyn Clock>,
}

impl Gateway {
    /// A gateway to these endpoints.
    #[must_use]
    pub fn new(endpoints: Endpoints, executor: Arc<dyn Executor>, clock: Arc<dyn Clock>) -> Self {
        Self { endpoints, executor, clock }
    }

    /// Whether an endpoint of this name is configured.
    #[must_use]
    pub fn has_endpoint(&self, name: &str) -> bool {
        self.endpoints.contains_key(name)
    }

    /// Sends the call once, within `timeout` (see [`super::retry::RetryPolicy::attempt_timeout`]).
    ///
    /// Dropping the future ends the connection at once.
    pub async fn attempt(&self, permit: &Permit, call: &Call, timeout: Duration) -> AttemptReport {
        let started_at = self.clock.now();
        let span = tracing::info_span!("stateguard.gateway.attempt", tool = %call.tool);
        let exchange = match self.endpoints.get(&call.request.endpoint) {
            Some(endpoint) => {
                self.executor.send(endpoint, permit, call, timeout).instrument(span).await
            }
            None => Exchange::not_sent(TransportFault::Unsendable),
        };
        let Exchange { phase, response, fault, bytes_sent } = exchange;
        AttemptReport { phase, response, fault, bytes_sent, started_at, ended_at: self.clock.now() }
    }
}
