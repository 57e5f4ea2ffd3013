//! Owns: subcommands, most of them clients of the API.
//! Must not know: business rules.
//! Start reading at: `mod.rs`.

pub mod bundle;
pub mod contract;
pub mod output;
pub mod policy;
