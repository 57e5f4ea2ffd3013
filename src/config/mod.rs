//! Owns: settings, their sources and their reference.
//! Must not know: business rules.
//! Start reading at: `mod.rs`.
