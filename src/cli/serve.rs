//! `stateguard serve`: run the daemon.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::output::Exit;
use crate::{
    config::{self, Config, ConfigError, Environment, LogFormat, Sources},
    daemon::{self, Seam, dev},
    telemetry::logging,
};

/// How the daemon is told what to do.
#[derive(Debug, Args)]
pub struct ServeCommand {
    /// Where settings come from.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Softer about unfinished bundles, with keys made in a folder of this machine; on a loopback address only.
    #[arg(long)]
    pub dev: bool,
    /// With --dev: the folder of the keys.
    #[arg(long, value_name = "FOLDER", default_value = dev::FOLDER, requires = "dev")]
    pub dev_folder: PathBuf,
}

/// Where settings come from.
#[derive(Debug, Args)]
pub struct SettingsArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", env = "STATEGUARD_CONFIG")]
    pub config: Option<PathBuf>,
    /// The store: `sqlite:PATH` or `postgres://…`; short for --set store.url=….
    #[arg(long, value_name = "ADDRESS")]
    pub store: Option<String>,
    /// The bundle's folder; short for --set bundle.path=….
    #[arg(long, value_name = "FOLDER")]
    pub bundle: Option<PathBuf>,
    /// One setting, such as `grpc.listen=127.0.0.1:0`; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl SettingsArgs {
    /// The settings from all sources.
    ///
    /// # Errors
    /// When a source has a fault.
    pub fn load(&self, environment: &Environment, dev: bool) -> Result<Config, ConfigError> {
        let mut flags = self.set.clone();
        flags.extend(self.store.as_ref().map(|url| format!("store.url={url}")));
        flags.extend(self.bundle.as_ref().map(|path| format!("bundle.path={}", path.display())));
        let environment = environment.clone();
        config::load(&Sources { file: self.config.as_deref(), environment, flags: &flags, dev })
    }
}

/// Runs the daemon until it is asked to stop; prints what it listens on as one JSON line.
///
/// # Errors
/// When `out` cannot be written.
pub fn run(command: &ServeCommand, out: &mut dyn Write) -> io::Result<Exit> {
    let environment = Environment::of_process();
    let seam = Seam::system();
    let mut config = match command.settings.load(&environment, command.dev) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    if command.dev {
        dev::complete(&mut config, &command.dev_folder, seam.entropy.as_ref())?;
    }
    if let Err(error) = logging::init(&config.log.level, config.log.format == LogFormat::Json) {
        return refuse(&format!("`log.level`: {error}"));
    }
    let mut told = Ok(());
    let ended = super::runtime()?.block_on(async {
        let stop = CancellationToken::new();
        daemon::stop_on_signal(stop.clone());
        let announce = |listening: &daemon::Listening| {
            told = serde_json::to_string(listening)
                .map_err(io::Error::from)
                .and_then(|line| writeln!(out, "{line}"))
                .and_then(|()| out.flush());
        };
        Box::pin(daemon::run(&config, &environment, seam, stop, announce)).await
    });
    told?;
    match ended {
        Ok(()) => Ok(Exit::Good),
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &dyn std::fmt::Display) -> io::Result<Exit> {
    writeln!(io::stderr(), "stateguard: {error}")?;
    Ok(Exit::Bad)
}
