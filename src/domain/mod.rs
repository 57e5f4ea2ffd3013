//! Owns: what things are: ids, labels, life cycles, units of work, entries, reason codes, canonical bytes.
//! Must not know: any I/O, tokio, SQL, gRPC, HTTP, Cedar, CEL, the system clock.
//! Start reading at: `label.rs`, then `action.rs` and `session.rs`.

pub mod action;
pub mod canonical;
pub mod clock;
pub mod contract_terms;
pub mod ids;
pub mod json;
pub mod label;
pub mod limits;
pub mod pointer;
pub mod reason;
pub mod session;
