//! Owns: who may answer a question.
//! Must not know: how votes are stored or sent.
//! Start reading at: `eligible.rs`.

pub mod eligible;
