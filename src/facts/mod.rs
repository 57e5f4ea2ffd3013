//! Owns: reading systems of record through the gateway: one read, its repetitions, its deadline.
//! Must not know: hook, store; what a sound answer is (it is told).
//! Start reading at: `read.rs`.

pub mod plan;
pub mod read;
