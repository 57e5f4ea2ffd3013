//! Owns: the State Guard Hook: `pre` before a tool call, `post` after it.
//! Must not know: any `await`, any I/O.
//! Start reading at: `pre/mod.rs`.

pub mod fixtures;
pub mod post;
pub mod pre;
