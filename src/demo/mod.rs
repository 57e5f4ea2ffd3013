//! Owns: the demonstration: shop, portal, agent, approver, stories, as separate processes.
//! Must not know: everything of the guard but its public API.
//! Start reading at: `stories.rs`.

pub mod shop;
