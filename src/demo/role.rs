//! The hidden subcommand that the other processes of a demonstration run.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    agent::Agent,
    error::Failed,
    people::People,
    portal::Portal,
    shop::{self, Shop, ShopError, ShopOptions},
    wire::{self, Hello},
};

/// Which process this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// The system of record.
    Shop,
    /// The agent.
    Agent,
    /// The front doors.
    Portal,
    /// Approvers and the auditor.
    People,
}

/// Arguments of the hidden subcommand.
#[derive(Debug, Clone, Args)]
pub struct RoleArgs {
    /// Which process this is; who it is, it reads from standard input.
    #[arg(value_enum)]
    role: Role,
}

/// What the shop is told first.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ShopHello {
    pub(crate) db: PathBuf,
    pub(crate) api_key: String,
    pub(crate) mails: Vec<PathBuf>,
    /// What it does wrong when it is asked for a refund.
    pub(crate) fault: Option<String>,
}

/// Runs one role until its input ends.
///
/// # Errors
/// One sentence about what is missing or failed.
pub async fn run_role(args: RoleArgs) -> Result<(), String> {
    play(args.role).await.map_err(|failed| failed.to_string())
}

async fn play(role: Role) -> Result<(), Failed> {
    let mut lines = wire::lines();
    if role == Role::Shop {
        let hello: ShopHello = wire::hello(&mut lines).await?;
        return keep_shop(hello, lines).await;
    }
    let hello: Hello = wire::hello(&mut lines).await?;
    match role {
        Role::Agent => wire::serve(Agent::start(&hello).await?, lines).await,
        Role::Portal => wire::serve(Portal::start(&hello).await?, lines).await,
        Role::People => wire::serve(People::start(&hello).await?, lines).await,
        Role::Shop => Ok(()),
    }
}

/// The shop ends when whoever started it is gone.
async fn keep_shop(hello: ShopHello, mut lines: wire::Lines) -> Result<(), Failed> {
    let stop = CancellationToken::new();
    let ended = stop.clone();
    tokio::spawn(async move {
        while let Ok(Some(_)) = lines.next_line().await {}
        ended.cancel();
    });
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = ShopOptions {
        db: hello.db,
        listen: any,
        faults_listen: any,
        api_key: hello.api_key,
        mails: hello.mails,
    };
    let failed = |error: ShopError| Failed::here(error.to_string());
    let shop = Shop::bind(options).await.map_err(failed)?;
    if let Some(mode) = &hello.fault {
        shop.set_fault("POST", "/v1/refunds", mode).map_err(Failed::here)?;
    }
    shop::announce_and_serve(shop, stop).await.map_err(failed)
}
