//! `stateguard demo`: play the demonstration; and the hidden command that its other processes run.

use std::io::{self, Write as _};

use super::output::Exit;
use crate::demo::{self, DemoArgs, RoleArgs};

/// Plays the demonstration.
///
/// # Errors
/// When no runtime can be made.
pub fn run(args: &DemoArgs) -> io::Result<Exit> {
    match super::runtime()?.block_on(Box::pin(demo::run(args.clone()))) {
        Ok(true) => Ok(Exit::Good),
        Ok(false) => Ok(Exit::Bad),
        Err(demo::DemoError::Print(error)) => Err(error),
        Err(error) => refuse(&error),
    }
}

/// Runs one of its processes.
///
/// # Errors
/// When no runtime can be made.
pub fn run_role(args: &RoleArgs) -> io::Result<Exit> {
    let runtime = super::runtime()?;
    let ended = runtime.block_on(Box::pin(demo::run_role(args.clone())));
    // Standard input is read by a thread that may wait for ever.
    runtime.shutdown_background();
    match ended {
        Ok(()) => Ok(Exit::Good),
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &dyn std::fmt::Display) -> io::Result<Exit> {
    writeln!(io::stderr(), "stateguard: {error}")?;
    Ok(Exit::Bad)
}
