//! Owns: wiring, start, ordered stop.
//! Must not know: business rules.
//! Start reading at: `run.rs`, then `wiring.rs`.

mod alone;
mod background;
pub mod dev;
mod error;
mod probes;
mod run;
mod seam;
mod signals;
mod wiring;

pub use error::DaemonError;
pub use run::{Listening, run};
pub use seam::{Seam, SystemClock, SystemEntropy};
pub use signals::stop_on_signal;
pub use wiring::{parts, sealer, verifier};
