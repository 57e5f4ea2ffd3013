//! Owns: the road of an intent: submit, read or dispatch, settle, verify; and the answers of people.
//! Must not know: SQL, protobuf, HTTP, config format.
//! Start reading at: `submit.rs`, then `dispatch.rs`.

mod ask;
mod call;
mod cancel;
mod confirm;
mod decide;
mod dispatch;
mod entries;
mod explain;
mod get;
mod read;
mod reconcile;
mod recover;
mod replay;
mod resume;
mod settle;
mod submit;
mod tools;
mod verify;

pub use self::{
    confirm::Confirmation,
    explain::{Explanation, Step, story},
    submit::{Submission, WaitFor},
    tools::ToolView,
};
pub(super) use self::{entries::object, read::expose, resume::Given};
