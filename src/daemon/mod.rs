//! Owns: wiring, start, ordered stop.
//! Must not know: business rules.
//! Start reading at: `mod.rs`.
