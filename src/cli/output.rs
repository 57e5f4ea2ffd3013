//! How commands print and end.

use clap::ValueEnum;

/// How a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How a command ends. Wrong usage ends with 2, which the argument parser gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is as it should be.
    Good,
    /// Something that was checked is not.
    Bad,
    /// Something that was recorded was changed afterwards.
    Tampered,
}

impl Exit {
    /// The exit code of the process.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Bad => 1,
            Self::Tampered => 3,
        }
    }
}
