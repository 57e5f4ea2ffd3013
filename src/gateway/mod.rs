//! Owns: one attempt of one fully rendered call; byte limits while reading; pure "again or stop?".
//! Must not know: contracts, policy, sessions, store (except `Committed`); whether an answer is good.
//! Start reading at: `attempt.rs`.
