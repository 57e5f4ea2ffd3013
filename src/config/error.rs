//! What is wrong with a configuration, and where.

use std::fmt;

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// The file has a fault at a place.
    File {
        /// The file.
        file: String,
        /// Line and column, from 1, where known.
        at: Option<(u64, u64)>,
        /// What is wrong.
        why: String,
    },
    /// A variable or a flag names no setting, or a value that does not fit.
    Override {
        /// `environment variable `X`` or `--set x=…`.
        source: String,
        /// What is wrong.
        why: String,
    },
    /// A secret is not where it is said to be.
    Secret {
        /// The setting.
        setting: String,
        /// The place.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The settings contradict each other, or one is missing.
    Setting {
        /// The setting.
        setting: String,
        /// What is wrong and what to do.
        why: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, why } => write!(f, "`{file}` cannot be read: {why}"),
            Self::File { file, at: Some((line, column)), why } => {
                write!(f, "{file}:{line}:{column}: {why}")
            }
            Self::File { file, at: None, why } => write!(f, "{file}: {why}"),
            Self::Override { source, why } => write!(f, "{source}: {why}"),
            Self::Secret { setting, place, why } => {
                write!(f, "the secret of `{setting}` is not in {place}: {why}")
            }
            Self::Setting { setting, why } => write!(f, "`{setting}`: {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    pub(crate) fn setting(setting: &str, why: impl Into<String>) -> Self {
        Self::Setting { setting: setting.to_owned(), why: why.into() }
    }
}
