//! What can go wrong in the demonstration itself. A refusal by the guard is no error; stories expect them.

use std::{io, path::PathBuf};

use serde::{Deserialize, Serialize};
use tonic_types::StatusExt as _;

/// A call that the guard did not answer with a decision, or something that failed on this side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code} {reason}: {text}")]
pub(crate) struct Failed {
    /// The gRPC code in upper snake case, or `HERE`.
    pub(crate) code: String,
    /// The guard's own code, such as `scope_widened`.
    pub(crate) reason: String,
    /// One sentence.
    pub(crate) text: String,
}

impl Failed {
    /// A failure of this side.
    pub(crate) fn here(text: String) -> Self {
        Self { code: "HERE".to_owned(), reason: String::new(), text }
    }
}

impl From<tonic::Status> for Failed {
    fn from(status: tonic::Status) -> Self {
        let info = status.get_details_error_info();
        let reason = info.and_then(|info| info.metadata.get("code").cloned().or(Some(info.reason)));
        Self {
            code: upper_snake(&format!("{:?}", status.code())),
            reason: reason.unwrap_or_default(),
            text: status.message().to_owned(),
        }
    }
}

impl From<tonic::transport::Error> for Failed {
    fn from(error: tonic::transport::Error) -> Self {
        Self::here(format!("the guard cannot be reached: {error}"))
    }
}

fn upper_snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

/// Why a demonstration could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A process of the demonstration could not be started or used.
    #[error("the {who} cannot be started: {cause}")]
    Start {
        /// Which one.
        who: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// A process ended, or said nothing, or something else than was agreed.
    #[error("the {who} {what}{log}")]
    Lost {
        /// Which one.
        who: &'static str,
        /// What happened.
        what: String,
        /// The end of its log, if there is one.
        log: String,
    },
    /// A party could not do what the story says.
    #[error("the {who} could not {what}: {why}")]
    Story {
        /// Which one.
        who: &'static str,
        /// The order.
        what: String,
        /// Code, reason, text.
        why: String,
    },
    /// The shop's database could not be read.
    #[error("the shop's database cannot be read: {0}")]
    Till(#[from] sqlx::Error),
    /// A file could not be read or written.
    #[error("`{path}`: {cause}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Standard output is gone.
    #[error("nothing can be printed: {0}")]
    Print(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_keeps_its_exact_code() {
        use std::collections::HashMap;
        let mut details = tonic_types::ErrorDetails::new();
        let metadata =
            HashMap::from([("code".to_owned(), "response_corruption:json_bom".to_owned())]);
        details.set_error_info("JSON_BOM", "stateguard", metadata);
        let status =
            tonic::Status::with_error_details(tonic::Code::PermissionDenied, "no", details);
        let failed = Failed::from(status);
        assert_eq!(
            (failed.code.as_str(), failed.reason.as_str()),
            ("PERMISSION_DENIED", "response_corruption:json_bom")
        );
        assert_eq!(Failed::from(tonic::Status::not_found("no")).code, "NOT_FOUND");
    }
}
