//! Randomness for tests: deterministic and never twice the same.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::clock::Entropy;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug)]
pub(crate) struct CountingEntropy(AtomicU64);

impl CountingEntropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed.wrapping_mul(0x1234_5678_9abc_def1)))
    }
}

impl Entropy for CountingEntropy {
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let step = self.0.fetch_add(STEP, Ordering::Relaxed);
            let mixed = (step ^ (step >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            for (to, from) in chunk.iter_mut().zip(mixed.to_le_bytes()) {
                *to = from;
            }
        }
    }
}
