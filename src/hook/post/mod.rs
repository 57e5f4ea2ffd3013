//! Owns: is the answer sound, what may leave, did the effect happen, may the session close.
//! Must not know: how bytes arrived, retries.
//! Start reading at: `mod.rs`, then `gates/wire.rs`.

pub mod mail;
