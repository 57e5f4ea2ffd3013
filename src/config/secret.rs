//! Secrets are named, never written: `{ env: NAME }` or `{ file: PATH }`.

use std::{fs, path::PathBuf};

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Environment, error::ConfigError};

/// The longest secret file, in bytes.
const SECRET_MAX_BYTES: u64 = 64 * 1024;

/// Where a secret is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a secret is named, as `{ env: NAME }` or `{ file: PATH }`, never written here"
)]
pub enum Secret {
    /// In an environment variable.
    Env(InEnvironment),
    /// In a file; a line break at its end does not count.
    File(InFile),
}

/// `{ env: NAME }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InEnvironment {
    /// The variable.
    pub env: String,
}

/// `{ file: PATH }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InFile {
    /// The file.
    pub file: PathBuf,
}

impl Secret {
    /// A secret in a file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(InFile { file: path.into() })
    }

    /// Fetches the secret.
    ///
    /// # Errors
    /// When it is not there, empty, or not text; the error names the place, never the secret.
    pub fn resolve(
        &self,
        setting: &str,
        environment: &Environment,
    ) -> Result<SecretString, ConfigError> {
        let text = match self {
            Self::Env(InEnvironment { env }) => environment
                .get(env)
                .map(|value| Zeroizing::new(value.to_owned()))
                .ok_or_else(|| self.missing(setting, "the variable is not set"))?,
            Self::File(InFile { file }) => {
                let size =
                    fs::metadata(file).map_err(|e| self.missing(setting, &e.to_string()))?.len();
                if size > SECRET_MAX_BYTES {
                    return Err(self.missing(setting, "the file is too large for a secret"));
                }
                fs::read_to_string(file)
                    .map(Zeroizing::new)
                    .map_err(|error| self.missing(setting, &error.to_string()))?
            }
        };
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Err(self.missing(setting, "it is empty"));
        }
        Ok(SecretString::from(text.to_owned()))
    }

    fn missing(&self, setting: &str, why: &str) -> ConfigError {
        let place = match self {
            Self::Env(InEnvironment { env }) => format!("environment variable `{env}`"),
            Self::File(InFile { file }) => format!("file `{}`", file.display()),
        };
        ConfigError::Secret { setting: setting.to_owned(), place, why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_secret_comes_from_where_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "from file\n").unwrap();
        let environment = Environment::of([("KEY", "from environment")]);
        let from = |secret: Secret| {
            secret.resolve("x", &environment).map(|s| s.expose_secret().to_owned())
        };
        assert_eq!(from(Secret::file(&path)).unwrap(), "from file");
        assert_eq!(
            from(Secret::Env(InEnvironment { env: "KEY".into() })).unwrap(),
            "from environment"
        );
        fs::write(&path, "\n").unwrap();
        assert!(from(Secret::file(&path)).unwrap_err().to_string().contains("it is empty"));
        let missing =
            from(Secret::Env(InEnvironment { env: "OTHER".into() })).unwrap_err().to_string();
        assert!(missing.contains("`OTHER`") && missing.contains("`x`"), "{missing}");
    }
}
