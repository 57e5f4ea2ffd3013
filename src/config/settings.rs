//! Every setting with its meaning, unit and default. The reference is generated from these types.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ConfigError, secret::Secret, span::Span};
use crate::domain::limits::MESSAGE_MAX_BYTES;

/// The settings of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `production`, or `dev`: softer about unfinished bundles, and refused on an address that others can reach.
    pub mode: Mode,
    /// The API.
    pub grpc: Grpc,
    /// Health and metrics.
    pub http: Http,
    /// Where everything is remembered.
    pub store: Store,
    /// The contracts, workflow and policies that new sessions run under.
    pub bundle: Bundle,
    /// Who may issue tokens.
    pub identity: Identity,
    /// Encryption of content and keyed digests.
    pub seal: Seal,
    /// Where tools are.
    pub tools: Tools,
    /// What the daemon says about itself.
    pub log: Log,
}

/// How strict the daemon is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is forgiven.
    #[default]
    Production,
    /// On this machine only.
    Dev,
}

/// The API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grpc {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The largest message, in bytes.
    pub max_message_bytes: usize,
}

/// Health and metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
}

/// Where everything is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// `sqlite:PATH`, or `postgres://USER@HOST/DATABASE` without a password.
    pub url: String,
    /// The password for PostgreSQL.
    pub password: Option<Secret>,
    /// Connections to PostgreSQL.
    #[schemars(range(min = 2, max = 500))]
    pub connections: u32,
}

/// The bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bundle {
    /// The folder that holds `bundle.yaml`.
    pub path: PathBuf,
}

/// Who may issue tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// How far the clock of an issuer may be off; at most 60s.
    pub skew: Span,
    /// The issuers.
    pub issuers: Vec<Issuer>,
}

/// One issuer of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// `iss`, compared exactly.
    pub issuer: String,
    /// The one tenant it may speak of.
    pub tenant: String,
    /// The file with its public keys (JWKS).
    pub jwks_file: PathBuf,
    /// Algorithms it may use: `EdDSA`, `ES256`.
    #[serde(default = "only_eddsa")]
    pub algorithms: Vec<String>,
    /// Kinds of token it may sign: `sg-workload`, `sg-session`, `sg-principal`, `sg-scope`, `sg-person`.
    pub types: Vec<String>,
}

/// Encryption of content and keyed digests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Seal {
    /// The key file, as `stateguard keys new` writes it.
    pub key: Option<Secret>,
}

/// Where tools are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tools {
    /// Tool servers, by the name that contracts use.
    pub endpoints: BTreeMap<String, Endpoint>,
}

/// One tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// `http://HOST[:PORT]/PATH/` or `https://…`.
    pub base_url: String,
    /// Secret headers that every call carries.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
}

/// What the daemon says about itself, on standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,stateguard::store=debug`.
    pub level: String,
    /// How lines look.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For programs.
    #[default]
    Json,
    /// For people.
    Text,
}

fn only_eddsa() -> Vec<String> {
    vec!["EdDSA".to_owned()]
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

impl Default for Grpc {
    fn default() -> Self {
        Self { listen: loopback(7420), max_message_bytes: MESSAGE_MAX_BYTES }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self { listen: loopback(7421) }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self { url: "sqlite:./stateguard.db".to_owned(), password: None, connections: 16 }
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self { skew: Span(Duration::from_secs(5)), issuers: Vec::new() }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Json }
    }
}

impl Config {
    /// What the types cannot say.
    ///
    /// # Errors
    /// The first setting that is missing or contradicts another.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.mode == Mode::Dev {
            for (setting, address) in
                [("grpc.listen", self.grpc.listen), ("http.listen", self.http.listen)]
            {
                if !address.ip().is_loopback() {
                    let why = format!(
                        "`{address}` can be reached by others; mode `dev` listens on a loopback address only"
                    );
                    return Err(ConfigError::setting(setting, why));
                }
            }
        }
        if self.bundle.path.as_os_str().is_empty() {
            return Err(ConfigError::setting(
                "bundle.path",
                "name the folder that holds `bundle.yaml`",
            ));
        }
        if self.seal.key.is_none() {
            let why = "name a key file, `{ file: PATH }`; `stateguard keys new` writes one";
            return Err(ConfigError::setting("seal.key", why));
        }
        if self.identity.issuers.is_empty() {
            let why = "without an issuer nobody can call; name at least one";
            return Err(ConfigError::setting("identity.issuers", why));
        }
        if has_password(&self.store.url) {
            let why = "a password stands in the address; put it into `store.password`, as `{ env: NAME }` or `{ file: PATH }`";
            return Err(ConfigError::setting("store.url", why));
        }
        if !(1_024..=64 << 20).contains(&self.grpc.max_message_bytes) {
            let why = "a message may have 1024 to 67108864 bytes";
            return Err(ConfigError::setting("grpc.max_message_bytes", why));
        }
        Ok(())
    }
}

/// `scheme://user:password@host/…` or `?password=…`.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || query.split('&').any(|pair| pair.starts_with("password="))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Config {
        Config {
            bundle: Bundle { path: "b".into() },
            seal: Seal { key: Some(Secret::file("k")) },
            identity: Identity {
                issuers: vec![Issuer {
                    issuer: "i".into(),
                    tenant: "acme".into(),
                    jwks_file: "j".into(),
                    algorithms: only_eddsa(),
                    types: vec!["sg-workload".into()],
                }],
                ..Identity::default()
            },
            ..Config::default()
        }
    }

    fn refused(change: impl FnOnce(&mut Config)) -> String {
        let mut config = complete();
        change(&mut config);
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn a_complete_configuration_passes_and_each_missing_part_is_named() {
        assert_eq!(complete().check(), Ok(()));
        assert!(refused(|c| c.bundle.path = PathBuf::new()).contains("bundle.path"));
        assert!(refused(|c| c.seal.key = None).contains("keys new"));
        assert!(refused(|c| c.identity.issuers.clear()).contains("identity.issuers"));
        assert!(refused(|c| c.grpc.max_message_bytes = 1_023).contains("1024"));
    }

    #[test]
    fn dev_mode_is_refused_where_others_can_reach_it() {
        let open = "0.0.0.0:7420".parse().unwrap();
        assert!(refused(|c| (c.mode, c.grpc.listen) = (Mode::Dev, open)).contains("loopback"));
        assert!(refused(|c| (c.mode, c.http.listen) = (Mode::Dev, open)).contains("http.listen"));
        let mut production = complete();
        production.grpc.listen = open;
        assert_eq!(production.check(), Ok(()));
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        for url in ["postgres://u:hunter2@h/d", "postgres://h/d?user=u&password=hunter2"] {
            let error = refused(|c| c.store.url = url.to_owned());
            assert!(error.contains("store.password") && !error.contains("hunter2"), "{error}");
        }
        let mut fine = complete();
        fine.store.url = "postgres://u@localhost:5432/d?host=/tmp/x".into();
        assert_eq!(fine.check(), Ok(()));
    }
}
