//! Stateguard, a Dual-Channel Execution Sandbox: a deterministic guard between LLM agents and their tools.
//!
//! This file is the map; `ARCHITECTURE.md` says which module may use which, and `tests/it/tidy.rs` holds it.

pub mod api;
pub mod app;
pub mod approval;
pub mod bundle;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod decision_log;
pub mod demo;
pub mod domain;
pub mod expr;
pub mod facts;
pub mod gateway;
pub mod hook;
pub mod identity;
pub mod pb;
pub mod policy;
pub mod provenance;
pub mod seal;
pub mod store;
pub mod telemetry;
