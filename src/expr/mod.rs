//! Owns: CEL: compile with caps, evaluate with caps, list what an expression reads.
//! Must not know: who asks and why.
//! Start reading at: `mod.rs`.
