//! Owns: what a person sees and its digest; who may answer; the grant that is spent once.
//! Must not know: how votes are stored or sent.
//! Start reading at: `mod.rs`.
