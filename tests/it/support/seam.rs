//! Randomness that repeats, and ids made of it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use stateguard::domain::{
    clock::{Entropy, Timestamp},
    ids::IdSource,
};

use super::clock::ManualClock;

/// Where the clocks of tests start.
pub(crate) const START: &str = "2026-01-05T09:00:00Z";

/// `START` as a time.
pub(crate) fn start() -> Timestamp {
    Timestamp::from_rfc3339(START).unwrap()
}

/// Different bytes at every call, the same at every run.
#[derive(Debug)]
pub(crate) struct SeededEntropy(AtomicU64);

impl SeededEntropy {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            // SplitMix64.
            let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

pub(crate) fn ids(seed: u64) -> IdSource {
    IdSource::new(Arc::new(ManualClock::at(START)), SeededEntropy::new(seed))
}
