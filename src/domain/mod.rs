//! Owns: what things are: ids, labels, life cycles, units of work, entries, reason codes, canonical bytes.
//! Must not know: any I/O, tokio, SQL, gRPC, HTTP, Cedar, CEL, the system clock.
//! Start reading at: `label.rs`, then `action.rs` and `session.rs`.

pub mod action;
pub mod action_record;
pub mod canonical;
pub mod clock;
pub mod contract_terms;
pub mod datum;
pub mod decision;
pub mod effect;
pub mod entry;
pub mod fact;
pub mod ids;
pub mod intent;
pub mod json;
pub mod label;
pub mod limits;
pub mod pointer;
pub mod principal;
pub mod reason;
pub mod request;
pub mod response;
pub mod session;
pub mod session_record;
pub mod unit;
