//! One call, ready to be sent: the rendered request, what it accepts, and its limits.

use std::time::Duration;

use crate::domain::request::RenderedRequest;

/// A call of a tool. The address and the secrets are the gateway's; the idempotency key is the
/// committed dispatch's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool, for metrics and spans.
    pub tool: String,
    /// What is sent.
    pub request: RenderedRequest,
    /// The header that carries the provider key, when the tool takes one.
    pub idempotency_header: Option<String>,
    /// The media type wanted.
    pub accept: String,
    /// The longest body that is read, in bytes.
    pub max_bytes: usize,
    /// The contract's timeout of one attempt.
    pub timeout: Duration,
}
