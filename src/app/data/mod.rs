//! Owns: the verbs of DataService.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `ingest.rs`.

mod endorse;
mod ingest;
mod look;
mod statement;

pub use self::{
    endorse::{EndorseRequest, Endorsed},
    ingest::Ingest,
};
