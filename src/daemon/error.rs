//! Why a daemon does not start, or ended.

use crate::{config::ConfigError, store::StoreError};

/// Why a daemon does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be used.
    #[error("store.url: {0}")]
    Store(#[from] StoreError),
    /// The bundle does not load.
    #[error("the bundle `{folder}` does not load:\n{problems}")]
    Bundle {
        /// Its folder.
        folder: String,
        /// Everything that is wrong with it.
        problems: String,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on `{address}`: {why}")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        why: String,
    },
    /// A listener failed while serving.
    #[error("{0}")]
    Serve(String),
}
