//! Owns: subcommands, most of them clients of the API.
//! Must not know: business rules.
//! Start reading at: `mod.rs`.

pub mod audit;
pub mod bundle;
pub mod config;
pub mod contract;
pub mod demo;
pub mod keys;
pub mod output;
pub mod policy;
pub mod serve;
pub mod token;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use self::output::Exit;

/// A deterministic guard between LLM agents and the tools they use.
#[derive(Debug, Parser)]
#[command(name = "stateguard", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "parsed once a process")]
pub enum Command {
    /// Run the daemon.
    Serve(serve::ServeCommand),
    /// Play stories with an agent that believes all it reads, a portal, an approver and a shop.
    Demo(crate::demo::DemoArgs),
    /// Run one of the demonstration's processes.
    #[command(hide = true)]
    DemoRole(crate::demo::RoleArgs),
    /// Write a new bundle.
    #[command(subcommand)]
    Bundle(bundle::BundleCommand),
    /// Write a new contract.
    #[command(subcommand)]
    Contract(contract::ContractCommand),
    /// Check a bundle, print its matrix and its Cedar schema.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Print the reference of all settings, or check a configuration.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Make keys.
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Ask the decision log, or verify it, with no daemon.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Sign a development token.
    Token(token::TokenCommand),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    // Everything that speaks TLS uses the same cryptography; a second call of a process changes nothing.
    drop(rustls::crypto::ring::default_provider().install_default());
    let cli = Cli::parse();
    let mut out = io::stdout();
    let ended = run(&cli.command, &mut out).and_then(|exit| out.flush().map(|()| exit));
    match ended {
        Ok(exit) => ExitCode::from(exit.code()),
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(io::stderr(), "stateguard: {error}"));
            ExitCode::from(Exit::Bad.code())
        }
    }
}

/// Runs a command; what it finds goes to `out`.
///
/// # Errors
/// When a file or `out` cannot be read or written.
pub fn run(command: &Command, out: &mut dyn Write) -> io::Result<Exit> {
    match command {
        Command::Serve(command) => serve::run(command, out),
        Command::Demo(args) => demo::run(args),
        Command::DemoRole(args) => demo::run_role(args),
        Command::Bundle(command) => bundle::run(command, out),
        Command::Contract(command) => contract::run(command, out),
        Command::Policy(command) => policy::run(command, out),
        Command::Config(command) => config::run(command, out),
        Command::Keys(command) => keys::run(command, out),
        Command::Audit(command) => audit::run(command, out),
        Command::Token(command) => token::run(command, out),
    }
}

/// A runtime for a command that waits.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
