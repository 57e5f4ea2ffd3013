//! What several integration tests share.

pub(crate) mod clock;
pub(crate) mod golden;
pub(crate) mod hostile;
pub(crate) mod postgres;
pub(crate) mod seam;
pub(crate) mod stores;
pub(crate) mod world;
