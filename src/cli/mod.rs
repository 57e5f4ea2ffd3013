//! Owns: subcommands, most of them clients of the API.
//! Must not know: business rules.
//! Start reading at: `mod.rs`.

pub mod output;
pub mod policy;
