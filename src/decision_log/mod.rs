//! Owns: what an entry must be, checked from its stored bytes alone; pure.
//! Must not know: when entries are written, database, network.
//! Start reading at: `check.rs`.

pub mod check;
