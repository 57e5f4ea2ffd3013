//! `stateguard config`: the reference of all settings, and a check without starting.

use std::io::{self, Write};

use clap::Subcommand;

use super::{output::Exit, serve::SettingsArgs};
use crate::config::{self, Environment};

/// What can be asked about settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting with its default and meaning, as Markdown.
    Reference,
    /// Print the JSON Schema of the configuration file, for editors.
    Schema,
    /// Say whether a configuration can be used, and print what came of its sources.
    Check(SettingsArgs),
}

/// Runs a command; what it finds goes to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn run(command: &ConfigCommand, out: &mut dyn Write) -> io::Result<Exit> {
    match command {
        ConfigCommand::Reference => write!(out, "{}", config::reference())?,
        ConfigCommand::Schema => writeln!(out, "{:#}", config::schema())?,
        ConfigCommand::Check(settings) => {
            let loaded = settings.load(&Environment::of_process(), false);
            match loaded.and_then(|config| config.check().map(|()| config)) {
                Ok(config) => writeln!(out, "{}", serde_json::to_string_pretty(&config)?)?,
                Err(error) => {
                    writeln!(io::stderr(), "stateguard: {error}")?;
                    return Ok(Exit::Bad);
                }
            }
        }
    }
    Ok(Exit::Good)
}
