//! Owns: encryption of content, keyed digests.
//! Must not know: what the content means.
//! Start reading at: `sealer.rs`.

mod derive;
mod key_file;
mod sealer;
#[cfg(test)]
pub(crate) mod test_entropy;

pub use key_file::{KeyFile, KeyFileError, KeyId};
pub use sealer::{Place, SealError, Sealer};
