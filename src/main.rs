//! The `stateguard` binary: hands the command line to `stateguard::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stateguard::cli::main()
}
