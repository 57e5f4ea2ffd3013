//! What `serve --dev` adds: keys and issuers of a folder on this machine, made when they are missing.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::{
    config::{Config, Issuer, Secret},
    domain::clock::Entropy,
    identity::{TokenKind, dev::DevKey},
    seal::KeyFile,
};

/// The folder when none is named.
pub const FOLDER: &str = ".stateguard-dev";
/// The tenant of the development issuers.
pub const TENANT: &str = "dev";

/// A development issuer: who it stands for, and what it may sign.
#[derive(Debug, Clone, Copy)]
pub struct DevIssuer {
    /// `iss`, and the name of its key files.
    pub name: &'static str,
    /// Kinds of token it may sign.
    pub kinds: &'static [TokenKind],
}

/// Two issuers, as in production: the operator's, and the channel of principals. No key signs for both.
pub const ISSUERS: [DevIssuer; 2] = [
    DevIssuer { name: "dev-operator", kinds: &[TokenKind::Workload, TokenKind::Person] },
    DevIssuer {
        name: "dev-portal",
        kinds: &[TokenKind::Session, TokenKind::Principal, TokenKind::Scope],
    },
];

impl DevIssuer {
    /// The issuer that signs this kind.
    #[must_use]
    pub fn of(kind: TokenKind) -> Self {
        let [operator, portal] = ISSUERS;
        if operator.kinds.contains(&kind) { operator } else { portal }
    }

    /// The file with its signing key.
    #[must_use]
    pub fn private_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.jwk", self.name))
    }

    /// The file with its public keys.
    #[must_use]
    pub fn public_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.jwks", self.name))
    }
}

/// Makes the missing keys of the folder and fills in the settings that are missing.
///
/// # Errors
/// When the folder cannot be written.
pub fn complete(config: &mut Config, folder: &Path, entropy: &dyn Entropy) -> io::Result<()> {
    make_keys(folder, entropy)?;
    if config.seal.key.is_none() {
        config.seal.key = Some(Secret::file(folder.join("seal.key")));
    }
    if config.identity.issuers.is_empty() {
        config.identity.issuers = ISSUERS
            .iter()
            .map(|issuer| Issuer {
                issuer: issuer.name.to_owned(),
                tenant: TENANT.to_owned(),
                jwks_file: issuer.public_file(folder),
                algorithms: vec!["EdDSA".to_owned()],
                types: issuer.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            })
            .collect();
    }
    Ok(())
}

/// Makes the keys that are missing: one to seal with, and one for each issuer.
///
/// # Errors
/// When the folder cannot be written.
pub fn make_keys(folder: &Path, entropy: &dyn Entropy) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let seal = folder.join("seal.key");
    if !seal.exists() {
        write_secret(&seal, &KeyFile::generate(entropy).render())?;
    }
    for issuer in ISSUERS {
        let private = issuer.private_file(folder);
        if !private.exists() {
            let key = DevKey::generate(issuer.name, entropy);
            write_secret(&private, &key.private_jwk())?;
            fs::write(issuer.public_file(folder), key.public_jwks())?;
        }
    }
    Ok(())
}

/// Writes a new file that only its owner can read; an existing one is not overwritten.
///
/// # Errors
/// When it exists or cannot be written.
pub fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::daemon::{SystemEntropy, sealer, verifier};

    #[test]
    fn a_bare_configuration_becomes_a_usable_one_and_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        complete(&mut config, folder.path(), &SystemEntropy).unwrap();
        verifier(&config).unwrap();
        sealer(&config, &crate::config::Environment::default()).unwrap();
        let key = fs::read(folder.path().join("seal.key")).unwrap();
        complete(&mut Config::default(), folder.path(), &SystemEntropy).unwrap();
        assert_eq!(fs::read(folder.path().join("seal.key")).unwrap(), key, "not made anew");
        for name in ["seal.key", "dev-operator.jwk", "dev-portal.jwk"] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn what_is_configured_wins_over_development_keys() {
        let folder = tempfile::tempdir().unwrap();
        let own = Some(Secret::file("own.key"));
        let mut config = Config::default();
        config.seal.key.clone_from(&own);
        complete(&mut config, folder.path(), &SystemEntropy).unwrap();
        assert_eq!(config.seal.key, own);
    }
}
