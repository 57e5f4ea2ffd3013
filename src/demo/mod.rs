//! Owns: the demonstration: shop, portal, agent, approver, stories, as separate processes.
//! Must not know: everything of the guard but its public API.
//! Start reading at: `stories/mod.rs`, then `stage/mod.rs`.

mod agent;
mod client;
mod command;
mod error;
mod people;
mod portal;
mod present;
mod role;
pub mod shop;
mod stage;
mod stories;
mod till;
mod timeline;
mod wire;

pub use self::{
    command::{DemoArgs, Form, run},
    error::DemoError,
    role::{Role, RoleArgs, run_role},
};
