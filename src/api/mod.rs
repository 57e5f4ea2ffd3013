//! Owns: the sockets' side: who calls, size and time limits, translation, error to status.
//! Must not know: store, hook, gateway, policy.
//! Start reading at: `grpc/mod.rs`.

pub mod grpc;
pub mod http;
