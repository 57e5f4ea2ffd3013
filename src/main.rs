//! The `stateguard` binary: hands the command line to `stateguard::cli`.

fn main() {}
