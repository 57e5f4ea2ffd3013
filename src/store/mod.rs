//! Owns: remembering: units of work in, views out; conflicts; schema versions.
//! Must not know: hook, policy, gateway, gRPC.
//! Start reading at: `mod.rs`.
