//! The integration tests: one binary, one module a subject.

mod gates;
mod gateway;
mod shop;
mod support;
mod tidy;
