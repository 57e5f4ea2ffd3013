//! Owns: labels of arguments: citations re-read and compared, joins, naming, acts, endorsements, readers.
//! Must not know: policy, storage, what is decided.
//! Start reading at: `cite.rs`.

pub mod acts;
pub mod cite;
pub mod detect;
pub mod naming;
