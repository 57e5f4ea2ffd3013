//! `stateguard keys`: make keys.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Subcommand;

use super::output::Exit;
use crate::{
    daemon::{Seam, dev},
    seal::KeyFile,
};

/// What keys can be made.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Write a new seal key file, which only its owner can read. Nothing sealed with it opens without it: keep a copy.
    New {
        /// The file; an existing one is not overwritten.
        #[arg(long, value_name = "FILE", default_value = "seal.key")]
        out: PathBuf,
    },
    /// Write the keys of `serve --dev` into a folder: one to seal with, two issuers of tokens.
    Dev {
        /// The folder; existing keys are kept.
        #[arg(long, value_name = "FOLDER", default_value = dev::FOLDER)]
        dir: PathBuf,
    },
}

/// Runs a command; what it did goes to `out`.
///
/// # Errors
/// When a file or `out` cannot be written.
pub fn run(command: &KeysCommand, out: &mut dyn Write) -> io::Result<Exit> {
    let entropy = Seam::system().entropy;
    match command {
        KeysCommand::New { out: file } => {
            if file.exists() {
                writeln!(
                    io::stderr(),
                    "stateguard: {} exists; nothing was written",
                    file.display()
                )?;
                return Ok(Exit::Bad);
            }
            dev::write_secret(file, &KeyFile::generate(entropy.as_ref()).render())?;
            writeln!(out, "wrote {}", file.display())?;
        }
        KeysCommand::Dev { dir } => {
            dev::make_keys(dir, entropy.as_ref())?;
            writeln!(out, "{} holds the keys of `serve --dev`", dir.display())?;
        }
    }
    Ok(Exit::Good)
}
