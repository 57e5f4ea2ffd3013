//! A clock that stands still until a test moves it.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use stateguard::domain::clock::{Clock, Timestamp};

/// See the module.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows this time (RFC 3339).
    pub(crate) fn at(time: &str) -> Self {
        Self(AtomicI64::new(Timestamp::from_rfc3339(time).unwrap().micros()))
    }

    /// Moves the clock on.
    #[allow(dead_code, reason = "for the tests that move time")]
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_micros()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
