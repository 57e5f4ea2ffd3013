//! Owns: the verbs of SessionService.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `open.rs`.

mod end;
mod look;
mod open;

pub(super) use self::look::page_limit;
pub use self::open::Opening;
