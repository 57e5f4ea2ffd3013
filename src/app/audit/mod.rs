//! Owns: the verbs of AuditService, and the record of calls refused at the door.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `query.rs`.

mod query;
mod refusal;
mod verify;

pub use self::verify::{Auditor, Report};
pub use crate::store::EntryQuery;
