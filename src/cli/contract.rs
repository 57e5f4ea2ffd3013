//! `stateguard contract`: write a new contract into a bundle.

use std::{fs, io, path::PathBuf};

use clap::Subcommand;

use super::output::Exit;
use crate::bundle::{
    Bundle,
    start::{self, Kind},
};

/// What can be done with contracts.
#[derive(Debug, Subcommand)]
pub enum ContractCommand {
    /// Write a contract that loads, to start from, and add it to its bundle.
    New {
        /// The tool's name: lower-case letters, digits and `_`.
        name: String,
        /// The tool changes something.
        #[arg(long, conflicts_with = "read")]
        write: bool,
        /// The tool changes nothing (the default).
        #[arg(long)]
        read: bool,
        /// The bundle's folder.
        #[arg(long, default_value = ".")]
        bundle: PathBuf,
    },
}

/// Runs a command; what it did goes to `out`.
///
/// # Errors
/// When a file or `out` cannot be written.
pub fn run(command: &ContractCommand, out: &mut dyn io::Write) -> io::Result<Exit> {
    let ContractCommand::New { name, write, read: _, bundle: folder } = command;
    let bundle = match Bundle::load(folder) {
        Ok(bundle) => bundle,
        Err(errors) => {
            writeln!(out, "{errors}\n\nthe bundle must load before it can grow")?;
            return Ok(Exit::Bad);
        }
    };
    let kind = if *write { Kind::Write } else { Kind::Read };
    let new = match start::new_contract(&bundle, name, kind) {
        Ok(new) => new,
        Err(error) => {
            writeln!(out, "{error}")?;
            return Ok(Exit::Bad);
        }
    };
    let target = folder.join(&new.path);
    if target.exists() {
        writeln!(out, "{} exists; nothing was written", target.display())?;
        return Ok(Exit::Bad);
    }
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&target, &new.text)?;
    fs::write(folder.join("bundle.yaml"), &new.manifest)?;
    writeln!(out, "wrote {} and added it to bundle.yaml\n\nnext:", target.display())?;
    for (number, step) in new.next.iter().enumerate() {
        writeln!(out, "  {}. {step}", number + 1)?;
    }
    Ok(Exit::Good)
}
