//! The integration tests: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test that fails says so by panicking"
)]

mod bundle;
mod cli;
mod config;
mod daemon;
mod demo;
mod gates;
mod gateway;
mod generated;
mod identity;
mod process;
mod road;
mod shop;
mod store;
mod support;
mod telemetry;
mod tidy;
