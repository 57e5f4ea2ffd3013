//! Owns: one attempt of one fully rendered call; byte limits while reading; pure "again or stop?".
//! Must not know: contracts, policy, sessions, store (except `Committed`); whether an answer is good.
//! Start reading at: `attempt.rs`.

pub mod attempt;
pub mod call;
pub mod classify;
pub mod endpoint;
pub mod executor;
pub mod permit;
pub mod retry;

pub use self::{
    attempt::{AttemptReport, Gateway, Phase, TransportFault},
    call::Call,
    classify::{Classification, Kind, Signal, classify},
    endpoint::{Endpoint, Endpoints},
    executor::{Executor, http::HttpExecutor},
    permit::{Permit, ReadPermit},
    retry::{Next, RetryPolicy},
};
