//! Owns: the shop of the demonstration: its database, its HTTP API, its faults port and its access log.
//! Must not know: anything of the guard; it is the system of record and the tool server, nothing else.
//! Start reading at: `routes.rs`.

mod database;
mod faults;
mod front;
mod line;
mod orders;
mod records;
mod routes;
mod seed;

use std::{
    fmt,
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::Serialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::{database::Database, faults::Faults, line::ShopListener};

/// How a shop is started.
#[derive(Clone)]
pub struct ShopOptions {
    /// The SQLite file; it is created and filled when it does not exist.
    pub db: PathBuf,
    /// Where the API listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where the faults port listens; port 0 takes a free one.
    pub faults_listen: SocketAddr,
    /// What `X-Api-Key` must hold.
    pub api_key: String,
    /// More mails for the mailbox: `.eml` files, or folders of them.
    pub mails: Vec<PathBuf>,
}

impl fmt::Debug for ShopOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShopOptions")
            .field("db", &self.db)
            .field("listen", &self.listen)
            .field("faults_listen", &self.faults_listen)
            .field("mails", &self.mails)
            .finish_non_exhaustive()
    }
}

/// Where a running shop can be reached; printed as one JSON line when it is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShopPorts {
    /// The API.
    pub shop: SocketAddr,
    /// The faults port.
    pub faults: SocketAddr,
    /// The database file.
    pub db: PathBuf,
}

/// Why the shop could not start or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// A port could not be bound, or serving failed.
    #[error("the shop cannot listen on `{at}`: {cause}")]
    Listen {
        /// The address asked for.
        at: SocketAddr,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The database could not be opened or prepared.
    #[error("the shop's database `{path}` cannot be used: {cause}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What the driver said.
        cause: sqlx::Error,
    },
    /// A mail file could not be read.
    #[error(
        "the mail `{path}` cannot be read: {cause}; give a readable `.eml` file or a folder of them"
    )]
    Mail {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The ready line could not be printed, or serving ended with an error.
    #[error("the shop stopped: {0}")]
    Io(#[from] std::io::Error),
}

/// A shop that is bound and filled, but does not answer yet.
#[derive(Debug)]
pub struct Shop {
    ports: ShopPorts,
    listener: ShopListener,
    faults_listener: TcpListener,
    database: Database,
    faults: Faults,
    api_key: String,
}

impl Shop {
    /// Opens the database, fills it if it is new, and binds both ports.
    ///
    /// # Errors
    /// [`ShopError`] names the port, the database or the mail that could not be used.
    pub async fn bind(options: ShopOptions) -> Result<Self, ShopError> {
        let database = open(&options).await?;
        let faults = Faults::default();
        let listener = bind(options.listen).await?;
        let faults_listener = bind(options.faults_listen).await?;
        let ports = ShopPorts {
            shop: listener.local_addr()?,
            faults: faults_listener.local_addr()?,
            db: options.db,
        };
        let listener = ShopListener::new(ports.shop, listener, faults.closed());
        Ok(Self { ports, listener, faults_listener, database, faults, api_key: options.api_key })
    }

    /// Where the shop listens.
    pub fn ports(&self) -> &ShopPorts {
        &self.ports
    }

    /// Sets a fault before anybody calls: `mode` as the faults port takes it, for requests of this method and path.
    ///
    /// # Errors
    /// One sentence that names the modes.
    pub fn set_fault(&self, method: &str, path: &str, mode: &str) -> Result<(), String> {
        self.faults.set_first(method, path, mode)
    }

    /// Answers until `stop` is cancelled.
    ///
    /// # Errors
    /// [`ShopError::Io`] when a listener fails for good.
    pub async fn serve(self, stop: CancellationToken) -> Result<(), ShopError> {
        let state = front::ShopState::new(self.database, self.faults.clone(), &self.api_key);
        let app = front::app(state).into_make_service_with_connect_info::<line::Line>();
        let faults_app = faults::router(self.faults);
        let api = axum::serve(self.listener, app);
        let control = axum::serve(self.faults_listener, faults_app);
        tokio::select! {
            ended = api => ended?,
            ended = control => ended?,
            () = stop.cancelled() => {}
        }
        Ok(())
    }
}

/// Prints where a shop listens, as one JSON line, and answers until `stop`.
///
/// # Errors
/// [`ShopError`] as of [`Shop::serve`], or when nothing can be printed.
pub async fn announce_and_serve(shop: Shop, stop: CancellationToken) -> Result<(), ShopError> {
    let line = serde_json::to_string(shop.ports()).map_err(std::io::Error::other)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    drop(out);
    shop.serve(stop).await
}

async fn bind(at: SocketAddr) -> Result<TcpListener, ShopError> {
    TcpListener::bind(at).await.map_err(|cause| ShopError::Listen { at, cause })
}

async fn open(options: &ShopOptions) -> Result<Database, ShopError> {
    let failed = |cause| ShopError::Database { path: options.db.clone(), cause };
    let database = Database::open(&options.db).await.map_err(failed)?;
    seed::fill(&database).await.map_err(failed)?;
    for path in mail_files(&options.mails)? {
        let raw =
            std::fs::read(&path).map_err(|cause| ShopError::Mail { path: path.clone(), cause })?;
        seed::put_mail(&database, &mail_name(&path), &raw).await.map_err(failed)?;
    }
    Ok(database)
}

/// The name of a mail in the mailbox: the stem of its file, with `-` for what names do not hold, at most 64 characters.
#[must_use]
pub fn mail_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = stem.chars().take(64).map(fits).collect();
    if name.is_empty() { "mail".to_owned() } else { name }
}

fn mail_files(given: &[PathBuf]) -> Result<Vec<PathBuf>, ShopError> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files.extend(folder(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn folder(path: &Path) -> Result<Vec<PathBuf>, ShopError> {
    let failed = |cause| ShopError::Mail { path: path.to_path_buf(), cause };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|e| e == "eml") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
