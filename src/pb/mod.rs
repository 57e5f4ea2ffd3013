//! Owns: generated code of `stateguard.v1`, and its JSON form.
//! Must not know: everything else.
//! Start reading at: `proto/stateguard/v1/`.

pub mod json;

/// The generated messages, clients and servers.
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
pub mod v1 {
    tonic::include_proto!("stateguard.v1");
}

/// The file descriptors of the API, for reflection.
pub const FILE_DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptor.bin"));
