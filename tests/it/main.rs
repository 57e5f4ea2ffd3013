//! The integration tests: one binary, one module a subject.

mod gateway;
mod shop;
mod support;
mod tidy;
