//! Owns: the kinds of tools: how a call becomes bytes and bytes become an exchange.
//! Must not know: retries, classes of effects, whether an answer is good.
//! Start reading at: `http.rs`.

mod head;
pub mod http;
mod tap;

use std::{fmt, time::Duration};

use super::{attempt::Exchange, call::Call, endpoint::Endpoint, permit::Permit};

/// One kind of tool server.
#[async_trait::async_trait]
pub trait Executor: Send + Sync + fmt::Debug {
    /// Sends the call once and reads its answer, all within `timeout`. Never repeats anything.
    async fn send(
        &self,
        endpoint: &Endpoint,
        permit: &Permit,
        call: &Call,
        timeout: Duration,
    ) -> Exchange;
}
