//! Owns: the trusted channel: parse, check all or nothing, compile once, version by digest.
//! Must not know: sessions, data, network.
//! Start reading at: `load.rs`.

pub mod approvals;
pub mod contract;
pub mod render;
pub mod schema;
pub mod template;
pub mod workflow;
