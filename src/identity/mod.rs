//! Owns: three identities, rights, token verification, per-dispatch credentials.
//! Must not know: what is decided with them.
//! Start reading at: `mod.rs`.
