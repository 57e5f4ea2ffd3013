//! Owns: the verbs of ApprovalService.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `vote.rs`.

mod look;
mod vote;

pub use self::{look::Escalation, vote::Ballot};
