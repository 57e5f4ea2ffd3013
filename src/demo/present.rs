//! The present and randomness of the demonstration's own processes: the seam for whatever else they do.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::clock::{Clock, Entropy, Timestamp};

/// The machine's clock and randomness.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Present;

impl Clock for Present {
    #[allow(clippy::disallowed_methods, reason = "this is where the demonstration's time comes in")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

impl Entropy for Present {
    #[allow(
        clippy::disallowed_methods,
        reason = "this is where the demonstration's randomness comes in"
    )]
    fn fill(&self, buffer: &mut [u8]) {
        // Keys of a demonstration: without randomness there is none, so the process ends here.
        if getrandom::fill(buffer).is_err() {
            std::process::abort();
        }
    }
}

impl Present {
    /// So many random bytes as hexadecimal text.
    pub(crate) fn hex(self, bytes: usize) -> String {
        let mut buffer = vec![0; bytes];
        self.fill(&mut buffer);
        hex::encode(buffer)
    }
}
