//! Owns: one world: shop, daemon and three parties as processes, their files and keys; its start and its end.
//! Must not know: what is played in it.
//! Start reading at: `Stage::set_up`.
//!
//! Every story gets a world of its own: a new shop, a new daemon, a tenant nobody used before. So no story lives on what
//! another left, and the same store can be used again and again. Private keys are made here, handed to the one party
//! that signs with them, and forgotten; the only secrets on disk are the daemon's.

mod files;
mod process;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, json};

use self::{
    files::{DaemonFiles, OPERATOR, PublicKeys, write_secret},
    process::{Party, Process},
};
use super::{
    error::{DemoError, Failed},
    people::{PeopleOrder, Person},
    portal::PortalOrder,
    present::Present,
    role::ShopHello,
    till::Till,
    wire::{AgentOrder, Hello},
};
use crate::{
    domain::clock::Clock as _,
    identity::{
        TokenKind,
        dev::{DevKey, Draft},
    },
};

/// What is the same for all worlds of one run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where everything of this run is written.
    pub(crate) folder: PathBuf,
    /// The store that the user named; none for a file of each world.
    pub(crate) store: Option<String>,
    /// More mails for the mailbox.
    pub(crate) mails: Vec<PathBuf>,
    /// What the shop does wrong when it is asked for a refund.
    pub(crate) fault: Option<String>,
}

/// Where the daemon listens.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Listening {
    /// The API.
    pub(crate) grpc: SocketAddr,
    /// Health and metrics.
    pub(crate) http: SocketAddr,
}

/// Where the shop listens, as it says itself.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ShopAt {
    /// Its API.
    pub(crate) shop: SocketAddr,
    /// Its faults port.
    pub(crate) faults: SocketAddr,
}

/// A world that is up.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) folder: PathBuf,
    pub(crate) tenant: String,
    pub(crate) at: Listening,
    pub(crate) shop_at: ShopAt,
    pub(crate) till: Till,
    config: PathBuf,
    workload_token: String,
    agent: Party,
    portal: Party,
    people: Party,
    daemon: Process,
    shop: Party,
}

impl Stage {
    /// Starts shop, daemon and parties, in this order, and waits until all are ready.
    pub(crate) async fn set_up(settings: &Settings, name: &str) -> Result<Self, DemoError> {
        let folder = settings.folder.join(name);
        std::fs::create_dir_all(&folder)
            .map_err(|cause| DemoError::File { path: folder.clone(), cause })?;
        let tenant = format!("shop-{}", Present.hex(4));
        let shop_key = Present.hex(16);
        let db = folder.join("shop.db");
        let hello = ShopHello {
            db: db.clone(),
            api_key: shop_key.clone(),
            mails: settings.mails.clone(),
            fault: settings.fault.clone(),
        };
        let mut shop = Party::spoken_to("shop", &folder, &hello).await?;
        let shop_at: ShopAt = shop.process().ready().await?;
        let store = match &settings.store {
            Some(url) => url.clone(),
            None => format!("sqlite:{}", folder.join("stateguard.db").display()),
        };
        let seal_key = seal_key(settings, &folder)?;
        let keys = Keys::generate();
        let files = DaemonFiles {
            folder: &folder,
            tenant: &tenant,
            store: &store,
            seal_key: &seal_key,
            shop: shop_at.shop,
            shop_key: &shop_key,
        };
        let config = files.write(&keys.public())?;
        let (daemon, at) = start_daemon(&folder, &config).await?;
        let workload_token = keys.workload_token(&tenant);
        let hello = |credentials: &[(&str, &str)]| Hello {
            address: at.grpc.to_string(),
            tenant: tenant.clone(),
            credentials: credentials
                .iter()
                .map(|(name, secret)| ((*name).to_owned(), (*secret).to_owned()))
                .collect::<BTreeMap<_, _>>(),
        };
        let agent = hello(&[("workload_token", &workload_token)]);
        let (portal_key, intake_key) = (keys.portal.private_jwk(), keys.intake.private_jwk());
        let portal = hello(&[("portal_key", &portal_key), ("intake_key", &intake_key)]);
        let idp_key = keys.idp.private_jwk();
        let people = hello(&[("idp_key", &idp_key)]);
        Ok(Self {
            agent: Party::start("agent", &folder, &agent).await?,
            portal: Party::start("portal", &folder, &portal).await?,
            people: Party::start("people", &folder, &people).await?,
            till: Till::open(&db).await?,
            folder,
            tenant,
            at,
            shop_at,
            config,
            workload_token,
            daemon,
            shop,
        })
    }

    /// An order to the agent; a refusal by the guard is an answer.
    pub(crate) async fn agent(
        &mut self,
        order: &AgentOrder,
    ) -> Result<Result<serde_json::Value, Failed>, DemoError> {
        self.agent.ask(order).await
    }

    /// An order to the front doors.
    pub(crate) async fn portal(
        &mut self,
        order: &PortalOrder,
    ) -> Result<Result<serde_json::Value, Failed>, DemoError> {
        self.portal.ask(order).await
    }

    /// An order to the people of the desk.
    pub(crate) async fn people(
        &mut self,
        order: &PeopleOrder,
    ) -> Result<Result<serde_json::Value, Failed>, DemoError> {
        self.people.ask(order).await
    }

    /// SIGKILL to the daemon, and another one on the same store; the parties learn its new address.
    pub(crate) async fn crash_and_restart(&mut self) -> Result<(), DemoError> {
        self.daemon.kill().await?;
        let (daemon, at) = start_daemon(&self.folder, &self.config).await?;
        self.daemon = daemon;
        self.at = at;
        let address = self.at.grpc.to_string();
        let told = [
            ("agent", self.agent.ask(&AgentOrder::Reconnect { address: address.clone() }).await?),
            (
                "portal",
                self.portal.ask(&PortalOrder::Reconnect { address: address.clone() }).await?,
            ),
            ("people", self.people.ask(&PeopleOrder::Reconnect { address }).await?),
        ];
        for (who, answer) in told {
            answer.map_err(|why| DemoError::Story {
                who,
                what: "reach the daemon again".to_owned(),
                why: why.to_string(),
            })?;
        }
        Ok(())
    }

    /// Writes tokens for trying things by hand; answers the folder.
    pub(crate) async fn hand_out_tokens(&mut self) -> Result<PathBuf, DemoError> {
        let folder = self.folder.join("tokens");
        write_secret(&folder.join("agent.jwt"), self.workload_token.as_bytes())?;
        let who = [
            ("desk-lead.jwt", Person::DeskLead),
            ("refund-approver.jwt", Person::RefundApprover),
            ("auditor.jwt", Person::Auditor),
            ("operator.jwt", Person::Operator),
        ];
        for (name, who) in who {
            let token = self.people.ask(&PeopleOrder::Token { who }).await?;
            let token =
                token.ok().and_then(|token| token.as_str().map(str::to_owned)).unwrap_or_default();
            write_secret(&folder.join(name), token.as_bytes())?;
        }
        Ok(folder)
    }

    /// The path of the daemon's configuration.
    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// Process ids of shop and daemon.
    pub(crate) fn ids(&mut self) -> (Option<u32>, Option<u32>) {
        (self.shop.process().id(), self.daemon.id())
    }

    /// Ends all processes, the daemon in good order.
    pub(crate) async fn strike(self) {
        let Self { agent, portal, people, mut daemon, shop, .. } = self;
        tokio::join!(agent.end(), portal.end(), people.end());
        daemon.end().await;
        shop.end().await;
    }
}

async fn start_daemon(folder: &Path, config: &Path) -> Result<(Process, Listening), DemoError> {
    let mut daemon = Process::start("daemon", folder, |command| {
        command.arg("serve").arg("--config").arg(config);
    })?;
    let at = daemon.ready().await?;
    Ok((daemon, at))
}

/// The key that seals the store. It stays beside an SQLite file that the user named, since without it nobody could ever
/// read that file again.
fn seal_key(settings: &Settings, folder: &Path) -> Result<PathBuf, DemoError> {
    let named = settings.store.as_deref().and_then(|url| url.strip_prefix("sqlite:"));
    let path = named.map_or_else(
        || folder.join("keys/seal.key"),
        |file| PathBuf::from(format!("{file}.seal-key")),
    );
    if !path.exists() {
        if let Some(above) = path.parent() {
            let failed = |cause| DemoError::File { path: above.to_path_buf(), cause };
            std::fs::create_dir_all(above).map_err(failed)?;
        }
        process::run_once(
            "keys",
            &["keys".into(), "new".into(), "--out".into(), path.clone().into()],
            folder,
        )?;
    }
    Ok(path)
}

/// A signing key for each of the four issuers.
#[derive(Debug)]
struct Keys {
    portal: DevKey,
    intake: DevKey,
    operator: DevKey,
    idp: DevKey,
}

impl Keys {
    fn generate() -> Self {
        let key = |kid| DevKey::generate(kid, &Present);
        Self {
            portal: key("portal"),
            intake: key("intake"),
            operator: key("operator"),
            idp: key("idp"),
        }
    }

    fn public(&self) -> PublicKeys {
        PublicKeys {
            portal: self.portal.public_jwks(),
            intake: self.intake.public_jwks(),
            operator: self.operator.public_jwks(),
            idp: self.idp.public_jwks(),
        }
    }

    /// What the operator gives the agent's workload: it may run sessions, and that is all.
    fn workload_token(&self, tenant: &str) -> String {
        let claims = Map::from_iter([
            ("sub".to_owned(), json!("svc-desk-agent")),
            ("tenant".to_owned(), json!(tenant)),
            ("agent".to_owned(), json!("refund-agent")),
            ("agent_instance".to_owned(), json!(format!("ai_{}", Present.hex(8)))),
            ("rights".to_owned(), json!(["session:run"])),
        ]);
        let (now, life) = (Present.now(), Duration::from_secs(8 * 3_600));
        let draft = Draft { kind: TokenKind::Workload, issuer: OPERATOR, now, life, claims };
        self.operator.mint(&draft, &Present)
    }
}
