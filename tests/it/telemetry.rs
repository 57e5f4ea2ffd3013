//! The table of metrics is the one in the repository.

use stateguard::telemetry::metrics;

use crate::support::golden;

#[test]
fn the_metrics_are_those_that_were_documented() {
    golden::compare("docs/generated/metrics.md", &metrics::reference());
}
