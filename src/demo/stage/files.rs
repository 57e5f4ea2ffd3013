//! The files of a world: the bundle, public keys, the shop's API key, the daemon's configuration.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::demo::{
    error::DemoError,
    people::IDP,
    portal::{INTAKE, PORTAL},
};

/// `iss` of the operator's tokens.
pub(crate) const OPERATOR: &str = "https://operator.shop.example";

/// The example's bundle, by path and content; the build lists `policies/refund-desk`.
const BUNDLE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/demo_bundle.rs"));

/// The public halves of the four issuers' keys, as JWKS.
#[derive(Debug, Clone)]
pub(super) struct PublicKeys {
    pub(super) portal: String,
    pub(super) intake: String,
    pub(super) operator: String,
    pub(super) idp: String,
}

/// What the daemon's configuration says beside the defaults.
#[derive(Debug, Clone)]
pub(super) struct DaemonFiles<'a> {
    pub(super) folder: &'a Path,
    pub(super) tenant: &'a str,
    pub(super) store: &'a str,
    pub(super) seal_key: &'a Path,
    pub(super) shop: std::net::SocketAddr,
    pub(super) shop_key: &'a str,
}

impl DaemonFiles<'_> {
    /// Writes all of them; answers the path of the configuration.
    pub(super) fn write(&self, keys: &PublicKeys) -> Result<PathBuf, DemoError> {
        let bundle = self.folder.join("bundle");
        for (path, text) in BUNDLE {
            write(&bundle.join(path), text.as_bytes())?;
        }
        let issuers = [
            ("portal", PORTAL, &keys.portal, &["sg-session", "sg-principal", "sg-scope"][..]),
            ("mail-intake", INTAKE, &keys.intake, &["sg-session"][..]),
            ("operator", OPERATOR, &keys.operator, &["sg-workload"][..]),
            ("identity-provider", IDP, &keys.idp, &["sg-person"][..]),
        ];
        let mut trusted = Vec::new();
        for (name, issuer, jwks, types) in issuers {
            let file = self.folder.join(format!("keys/{name}.jwks"));
            write(&file, jwks.as_bytes())?;
            trusted.push(json!({
                "issuer": issuer, "tenant": self.tenant, "jwks_file": file,
                "algorithms": ["EdDSA"], "types": types,
            }));
        }
        let api_key = self.folder.join("keys/shop-api-key");
        write_secret(&api_key, self.shop_key.as_bytes())?;
        let any = "127.0.0.1:0";
        let store = match without_password(self.store) {
            None => json!({"url": self.store}),
            Some((url, password)) => {
                let file = self.folder.join("keys/store-password");
                write_secret(&file, password.as_bytes())?;
                json!({"url": url, "password": {"file": file}})
            }
        };
        let settings = json!({
            "mode": "production",
            "grpc": {"listen": any}, "http": {"listen": any},
            "store": store,
            "bundle": {"path": bundle},
            "identity": {"issuers": trusted},
            "seal": {"key": {"file": self.seal_key}},
            "tools": {"endpoints": {"shop": {
                "base_url": format!("http://{}/", self.shop), "headers": {"X-Api-Key": {"file": api_key}},
            }}},
            "log": {"level": "info", "format": "text"},
        });
        // JSON is YAML.
        let path = self.folder.join("stateguard.yaml");
        write(&path, format!("{settings:#}\n").as_bytes())?;
        Ok(path)
    }
}

/// `postgres://user:password@host/…` taken apart; the daemon takes passwords from files only.
fn without_password(store: &str) -> Option<(String, String)> {
    let mut url = url::Url::parse(store).ok().filter(|url| url.scheme().starts_with("postgres"))?;
    let password = url.password()?.to_owned();
    url.set_password(None).ok()?;
    let plain = percent_encoding::percent_decode_str(&password).decode_utf8_lossy().into_owned();
    Some((url.to_string(), plain))
}

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), DemoError> {
    let failed = |cause| DemoError::File { path: path.to_path_buf(), cause };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}

/// Writes a file that only its owner reads.
pub(super) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), DemoError> {
    let failed = |cause| DemoError::File { path: path.to_path_buf(), cause };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_into_a_file_and_out_of_the_address() {
        let (url, password) = without_password("postgres://u:p%40ss@h:5432/d").unwrap();
        assert_eq!((url.as_str(), password.as_str()), ("postgres://u@h:5432/d", "p@ss"));
        assert!(without_password("postgres://u@h/d?host=/tmp/x").is_none());
        assert!(without_password("sqlite:/tmp/a.db").is_none());
    }

    #[test]
    fn the_bundle_is_built_in() {
        let paths: Vec<&str> = BUNDLE.iter().map(|(path, _)| *path).collect();
        assert!(
            paths.contains(&"bundle.yaml") && paths.contains(&"contracts/read_mail.yaml"),
            "{paths:?}"
        );
    }
}
