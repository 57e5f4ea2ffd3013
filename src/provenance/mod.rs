//! Owns: labels of arguments: citations re-read and compared, joins, naming, endorsements, readers.
//! Must not know: policy, storage, what is decided.
//! Start reading at: `cite.rs`.
