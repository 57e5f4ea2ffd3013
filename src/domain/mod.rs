//! Owns: what things are: ids, labels, life cycles, units of work, entries, reason codes, canonical bytes.
//! Must not know: any I/O, tokio, SQL, gRPC, HTTP, Cedar, CEL, the system clock.
//! Start reading at: `label.rs`, then `action.rs` and `session.rs`.
