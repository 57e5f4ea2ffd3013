//! Every metric: one table of names, meanings and labels, and one function each to count.
//!
//! Labels come from closed sets only: verdicts, codes, states, steps, tool names of the bundle. Never a handle, a person or
//! a text of the model.

use std::{sync::OnceLock, time::Duration};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();

/// Upper bounds of all durations, in seconds: from a check (10 µs) to a patient tool (30 s).
const SECONDS: &[f64] = &[
    0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1.0, 2.5, 5.0, 10.0, 30.0,
];

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only ever grows.
    Counter,
    /// A distribution of seconds.
    Seconds,
    /// Goes up and down.
    Gauge,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name on `/metrics`.
    pub name: &'static str,
    /// Counter, seconds or gauge.
    pub kind: Kind,
    /// One sentence.
    pub help: &'static str,
    /// The labels.
    pub labels: &'static [&'static str],
}

macro_rules! table {
    ($($kind:ident $function:ident ( $($label:ident),* ) = $name:literal, $help:literal;)+) => {
        /// Every metric, in table order.
        pub const ALL: &[Metric] = &[$(Metric {
            name: $name,
            kind: Kind::$kind,
            help: $help,
            labels: &[$(stringify!($label)),*],
        }),+];

        $(table!(@function $kind $function ($($label),*) $name, $help);)+
    };
    (@function Counter $function:ident ($($label:ident),*) $name:literal, $help:literal) => {
        #[doc = $help]
        pub fn $function($($label: &str),*) {
            metrics::counter!($name $(, stringify!($label) => $label.to_owned())*).increment(1);
        }
    };
    (@function Seconds $function:ident ($($label:ident),*) $name:literal, $help:literal) => {
        #[doc = $help]
        pub fn $function($($label: &str,)* took: Duration) {
            metrics::histogram!($name $(, stringify!($label) => $label.to_owned())*).record(took.as_secs_f64());
        }
    };
    (@function Gauge $function:ident ($($label:ident),*) $name:literal, $help:literal) => {
        #[doc = $help]
        pub fn $function($($label: &str,)* value: f64) {
            metrics::gauge!($name $(, stringify!($label) => $label.to_owned())*).set(value);
        }
    };
}

table! {
    Counter intent_decided(verdict, row) = "stateguard_intents_total", "Intents decided, by verdict and matrix row.";
    Counter reason_given(reason) = "stateguard_reasons_total", "Reasons of decisions, by code.";
    Counter rule_decided(rule) = "stateguard_rules_total", "Policies that refused or asked, by id.";
    Counter tool_not_available(kind) = "stateguard_tool_misses_total", "Intents for tools that are unknown or do not run in the state.";
    Counter expectation_differed(expected, verdict) = "stateguard_expectations_missed_total", "Intents whose model expected another verdict.";
    Counter question_asked(need) = "stateguard_questions_total", "Questions put to persons, by need.";
    Counter question_ended(need, state) = "stateguard_questions_ended_total", "Questions that ended, by need and how.";
    Seconds question_open(need) = "stateguard_question_seconds", "Time from question to answer.";
    Counter call_refused(rpc, reason) = "stateguard_calls_refused_total", "Calls refused at the door, by method and code.";
    Seconds step_took(step) = "stateguard_step_seconds", "Time of a step of the road, tool time excluded.";
    Counter outcome_replayed(tool) = "stateguard_replays_total", "Settled outcomes told again without a second effect.";
    Counter action_ended(tool, state) = "stateguard_actions_ended_total", "Actions at their end, by tool and state.";
    Counter tool_attempted(tool, result) = "stateguard_tool_attempts_total", "Attempts at tools, by result.";
    Seconds tool_took(tool) = "stateguard_tool_seconds", "Time of one attempt at a tool.";
    Counter tool_output_refused(tool, reason) = "stateguard_tool_output_invalid_total", "Answers that failed a gate, by code.";
    Counter effect_verified(tool, verdict) = "stateguard_verifications_total", "Effects read back, by verdict.";
    Counter session_opened(workflow) = "stateguard_sessions_opened_total", "Sessions opened.";
    Counter session_closed(workflow, outcome) = "stateguard_sessions_closed_total", "Sessions closed, by outcome.";
    Counter unit_committed(unit, result) = "stateguard_store_commits_total", "Units of work, by name and result.";
    Seconds unit_took(unit) = "stateguard_store_commit_seconds", "Time of one commit.";
    Gauge roads_running() = "stateguard_roads_running", "Roads that have begun and not ended.";
}

/// What counts, and prints, for this process.
#[derive(Debug, Clone)]
pub struct Handle(PrometheusHandle);

impl Handle {
    /// All metrics in the text format of Prometheus.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.run_upkeep();
        self.0.render()
    }
}

/// Starts to count; a second call of a process gives the same handle.
#[must_use]
pub fn install() -> Handle {
    let handle = HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new();
        let recorder =
            match builder.set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS) {
                Ok(builder) => builder.build_recorder(),
                // Only an empty list of bounds is refused.
                Err(_) => PrometheusBuilder::new().build_recorder(),
            };
        let handle = recorder.handle();
        // Somebody else counts already: then this handle shows nothing, and nothing else breaks.
        drop(metrics::set_global_recorder(recorder));
        for metric in ALL {
            match metric.kind {
                Kind::Counter => metrics::describe_counter!(metric.name, metric.help),
                Kind::Seconds => {
                    metrics::describe_histogram!(metric.name, metrics::Unit::Seconds, metric.help)
                }
                Kind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
            }
        }
        handle
    });
    Handle(handle.clone())
}

/// The table as Markdown, for `docs/generated/metrics.md`.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(
        "# Metrics\n\nGenerated from `src/telemetry/metrics.rs`. On `/metrics`, in the text format of Prometheus.\n\n\
        | metric | kind | labels | meaning |\n|---|---|---|---|\n",
    );
    for metric in ALL {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Seconds => "histogram, seconds",
            Kind::Gauge => "gauge",
        };
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let row =
            format!("| `{}` | {kind} | {} | {} |\n", metric.name, labels.join(" "), metric.help);
        out.push_str(&row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_shown_with_its_meaning() {
        let handle = install();
        intent_decided("deny", "financial");
        step_took("policy", Duration::from_micros(700));
        roads_running(2.0);
        let text = handle.render();
        assert!(
            text.contains(r#"stateguard_intents_total{verdict="deny",row="financial"}"#),
            "{text}"
        );
        assert!(
            text.contains(r#"stateguard_step_seconds_bucket{step="policy",le="0.001"}"#),
            "{text}"
        );
        assert!(text.contains("# HELP stateguard_intents_total Intents decided"), "{text}");
        assert!(text.contains("stateguard_roads_running 2"), "{text}");
    }

    #[test]
    fn names_are_those_of_prometheus_and_each_stands_once() {
        let mut names: Vec<&str> = ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for metric in ALL {
            let suffix = match metric.kind {
                Kind::Counter => metric.name.ends_with("_total"),
                Kind::Seconds => metric.name.ends_with("_seconds"),
                Kind::Gauge => true,
            };
            assert!(suffix && metric.name.starts_with("stateguard_"), "{}", metric.name);
        }
    }
}
