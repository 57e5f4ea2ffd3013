//! Owns: entry bytes, offline checks of entries; pure.
//! Must not know: when entries are written, database, network.
//! Start reading at: `mod.rs`.
