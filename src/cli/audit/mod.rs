//! Owns: `stateguard audit`: questions about the decision log, asked of a store or a copy of it, with no daemon.
//! Must not know: how entries come to be written.
//! Start reading at: `verify.rs`.

mod explain;
mod query;
mod verify;

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use clap::{Args, Subcommand};

use super::{output::Exit, runtime, serve::SettingsArgs};
use crate::{
    config::{Config, Environment, Secret},
    daemon::{self, dev},
    domain::ids::TenantId,
    seal::Sealer,
    store::{self, Store, StoreError},
};

/// What can be asked about the decision log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Print entries, oldest first.
    Query(query::QueryCommand),
    /// Tell the story of one action from its entries and stored inputs.
    Explain(explain::ExplainCommand),
    /// Say whether entries are as they were written and decisions follow from their stored inputs. Ends with 3 when
    /// something was changed.
    Verify(verify::VerifyCommand),
}

/// The log that is asked. The daemon may be down; nothing is written.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Where the store and the seal key are.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// The seal key file; short for `seal.key` of the configuration.
    #[arg(long, value_name = "FILE")]
    pub seal_key: Option<PathBuf>,
    /// With the keys of `serve --dev`.
    #[arg(long)]
    pub dev: bool,
    /// With --dev: the folder of the keys.
    #[arg(long, value_name = "FOLDER", default_value = dev::FOLDER, requires = "dev")]
    pub dev_folder: PathBuf,
    /// Only this tenant; all of them, unless given.
    #[arg(long)]
    pub tenant: Option<String>,
}

/// Why a question has no answer.
type Why = String;

impl LogArgs {
    fn config(&self, environment: &Environment) -> Result<Config, Why> {
        let mut config = self.settings.load(environment, self.dev).map_err(|e| e.to_string())?;
        if let Some(file) = &self.seal_key {
            config.seal.key = Some(Secret::file(file));
        } else if self.dev && config.seal.key.is_none() {
            config.seal.key = Some(Secret::file(self.dev_folder.join("seal.key")));
        }
        Ok(config)
    }

    async fn store(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Arc<dyn Store>, Why> {
        let password = config.store.password.as_ref();
        let password = password
            .map(|secret| secret.resolve("store.password", environment))
            .transpose()
            .map_err(|error| error.to_string())?;
        store::open_to_read(&config.store.url, password.as_ref()).await.map_err(|e| e.to_string())
    }

    fn sealer(config: &Config, environment: &Environment) -> Result<Sealer, Why> {
        daemon::sealer(config, environment).map_err(|error| error.to_string())
    }

    /// The tenants that are asked about.
    async fn tenants(&self, store: &dyn Store) -> Result<Vec<TenantId>, Why> {
        match &self.tenant {
            Some(name) => Ok(vec![TenantId::parse(name).map_err(|error| error.to_string())?]),
            None => store.tenants().await.map_err(because),
        }
    }
}

fn because(error: StoreError) -> Why {
    error.to_string()
}

/// Runs a command; what it finds goes to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn run(command: &AuditCommand, out: &mut dyn Write) -> io::Result<Exit> {
    let environment = Environment::of_process();
    let answered = runtime()?.block_on(async {
        match command {
            AuditCommand::Query(command) => Box::pin(query::run(command, &environment, out)).await,
            AuditCommand::Explain(command) => {
                Box::pin(explain::run(command, &environment, out)).await
            }
            AuditCommand::Verify(command) => {
                Box::pin(verify::run(command, &environment, out)).await
            }
        }
    });
    match answered {
        Ok(exit) => Ok(exit),
        Err(Unanswered::Output(error)) => Err(error),
        Err(Unanswered::Because(why)) => {
            writeln!(io::stderr(), "stateguard: {why}")?;
            Ok(Exit::Bad)
        }
    }
}

/// A question without an answer.
#[derive(Debug)]
enum Unanswered {
    Because(Why),
    Output(io::Error),
}

impl From<Why> for Unanswered {
    fn from(why: Why) -> Self {
        Self::Because(why)
    }
}

impl From<io::Error> for Unanswered {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
