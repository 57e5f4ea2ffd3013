//! Owns: Cedar: compile, evaluate, annotations to needs or refusals; an evaluation error denies.
//! Must not know: sessions, storage, transport.
//! Start reading at: `mod.rs`.
