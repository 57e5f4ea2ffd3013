//! What several integration tests share.

pub(crate) mod clock;
pub(crate) mod hostile;
