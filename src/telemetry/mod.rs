//! Owns: names of metrics and spans, logging, redaction.
//! Must not know: business rules.
//! Start reading at: `metrics.rs`.

pub mod logging;
pub mod metrics;
