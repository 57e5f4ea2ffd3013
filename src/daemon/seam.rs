//! The one place where the system's clock and randomness enter.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use crate::domain::clock::{Clock, Entropy, Timestamp};

/// The present and randomness of a daemon.
#[derive(Debug, Clone)]
pub struct Seam {
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl Seam {
    /// Those of the system.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock::default()), entropy: Arc::new(SystemEntropy) }
    }
}

/// The system's clock, which within one process never runs backwards.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest: AtomicI64,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[allow(clippy::disallowed_methods, reason = "this is the seam")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_micros(self.latest.fetch_max(micros, Ordering::AcqRel).max(micros))
    }
}

/// The system's randomness.
#[derive(Debug)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        #[allow(clippy::disallowed_methods, reason = "this is the seam")]
        if getrandom::fill(buffer).is_err() {
            // Without randomness every key and nonce would be guessable: no answer is safe.
            tracing::error!("the system gives no randomness");
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards() {
        let clock = SystemClock::default();
        let first = clock.now();
        assert!(first.seconds() > 1_700_000_000 && clock.now() >= first);
        clock.latest.store(i64::MAX, Ordering::Release);
        assert_eq!(clock.now().micros(), i64::MAX);
    }

    #[test]
    fn randomness_does_not_repeat() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut a);
        SystemEntropy.fill(&mut b);
        assert_ne!(a, b);
    }
}
