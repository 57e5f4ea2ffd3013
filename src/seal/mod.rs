//! Owns: encryption of content, keyed digests.
//! Must not know: what the content means.
//! Start reading at: `mod.rs`.
