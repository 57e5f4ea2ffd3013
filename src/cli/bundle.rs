//! `stateguard bundle`: write a new bundle.

use std::{fs, io, path::PathBuf};

use clap::Subcommand;

use super::output::Exit;
use crate::bundle::start;

/// What can be done with bundles.
#[derive(Debug, Subcommand)]
pub enum BundleCommand {
    /// Write a bundle that loads, to start from.
    New {
        /// Its name: lower-case letters, digits and `-`.
        name: String,
        /// The folder to write; the name, unless given.
        #[arg(long)]
        path: Option<PathBuf>,
    },
}

/// Runs a command; what it did goes to `out`.
///
/// # Errors
/// When a file or `out` cannot be written.
pub fn run(command: &BundleCommand, out: &mut dyn io::Write) -> io::Result<Exit> {
    let BundleCommand::New { name, path } = command;
    let sound = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !sound {
        writeln!(
            out,
            "`{name}` is not a name for a bundle: use lower-case letters, digits and `-`"
        )?;
        return Ok(Exit::Bad);
    }
    let folder = path.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.join("bundle.yaml").exists() {
        writeln!(out, "{} already holds a bundle; nothing was written", folder.display())?;
        return Ok(Exit::Bad);
    }
    for (file, text) in start::new_bundle(name) {
        let target = folder.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&target, text)?;
        writeln!(out, "wrote {}", target.display())?;
    }
    writeln!(out, "\nnext:")?;
    writeln!(out, "  stateguard policy check {}", folder.display())?;
    writeln!(out, "  stateguard policy test {}", folder.display())?;
    writeln!(out, "  stateguard contract new change_item --write --bundle {}", folder.display())?;
    Ok(Exit::Good)
}
