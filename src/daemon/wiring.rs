//! From settings to the parts of the app. Whatever is wrong is said with its setting.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use secrecy::ExposeSecret;

use super::{error::DaemonError, seam::Seam};
use crate::{
    app::Parts,
    bundle::{
        Bundle,
        contract::{Call, HttpCall},
    },
    config::{Config, ConfigError, Environment, Issuer as IssuerSettings, Mode},
    domain::ids::TenantId,
    gateway::{Endpoint, Endpoints, Gateway, HttpExecutor, RetryPolicy},
    identity::{Algorithm, Issuer, JwkSet, TokenKind, Verifier},
    seal::{KeyFile, Sealer},
    store,
};

/// Everything that the app is made of.
///
/// # Errors
/// The first setting that is wrong, with its name.
pub async fn parts(
    config: &Config,
    environment: &Environment,
    seam: &Seam,
) -> Result<Parts, DaemonError> {
    config.check()?;
    let sealer = Arc::new(sealer(config, environment)?);
    let verifier = Arc::new(verifier(config)?);
    let bundle = Arc::new(bundle(config)?);
    let gateway = Arc::new(gateway(config, environment, seam, &bundle)?);
    let password = config.store.password.as_ref();
    let password =
        password.map(|secret| secret.resolve("store.password", environment)).transpose()?;
    let store = store::open(&config.store.url, password.as_ref(), config.store.connections).await?;
    Ok(Parts {
        store,
        bundle,
        gateway,
        sealer,
        verifier,
        clock: Arc::clone(&seam.clock),
        entropy: Arc::clone(&seam.entropy),
        retry: RetryPolicy::default(),
    })
}

/// The tenants' keys.
///
/// # Errors
/// When the key file is missing or wrong.
pub fn sealer(config: &Config, environment: &Environment) -> Result<Sealer, ConfigError> {
    let Some(key) = &config.seal.key else {
        return Err(wrong(
            "seal.key",
            "name a key file, `{ file: PATH }`; `stateguard keys new` writes one",
        ));
    };
    let text = key.resolve("seal.key", environment)?;
    let file =
        KeyFile::parse(text.expose_secret()).map_err(|e| wrong("seal.key", &e.to_string()))?;
    Sealer::new(file).map_err(|e| wrong("seal.key", &e.to_string()))
}

/// Who may issue tokens.
///
/// # Errors
/// When an issuer, its keys or its kinds are wrong.
pub fn verifier(config: &Config) -> Result<Verifier, ConfigError> {
    let issuers = config.identity.issuers.iter().enumerate();
    let issuers = issuers.map(|(n, settings)| issuer(n, settings)).collect::<Result<_, _>>()?;
    Verifier::new(issuers, config.identity.skew.0)
        .map_err(|error| wrong("identity.issuers", &error.to_string()))
}

fn issuer(n: usize, settings: &IssuerSettings) -> Result<Issuer, ConfigError> {
    let at = |name: &str| format!("identity.issuers[{n}].{name}");
    if settings.issuer.is_empty() {
        return Err(wrong(&at("issuer"), "it is empty"));
    }
    let tenant =
        TenantId::parse(&settings.tenant).map_err(|e| wrong(&at("tenant"), &e.to_string()))?;
    let algorithms: BTreeSet<Algorithm> = settings
        .algorithms
        .iter()
        .map(|name| {
            Algorithm::parse(name)
                .ok_or_else(|| unknown(&at("algorithms"), name, "`EdDSA` or `ES256`"))
        })
        .collect::<Result<_, _>>()?;
    let kinds: BTreeSet<TokenKind> = settings
        .types
        .iter()
        .map(|name| {
            let known = "`sg-workload`, `sg-session`, `sg-principal`, `sg-scope` or `sg-person`";
            TokenKind::parse(name).ok_or_else(|| unknown(&at("types"), name, known))
        })
        .collect::<Result<_, _>>()?;
    if algorithms.is_empty() || kinds.is_empty() {
        return Err(wrong(
            &at("types"),
            "an issuer without a type or an algorithm can sign nothing",
        ));
    }
    let keys = keys(&settings.jwks_file).map_err(|why| wrong(&at("jwks_file"), &why))?;
    Ok(Issuer { issuer: settings.issuer.clone(), tenant, keys, algorithms, kinds })
}

fn keys(path: &Path) -> Result<JwkSet, String> {
    let text = fs::read(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    JwkSet::parse(&text).map_err(|error| format!("`{}`: {error}", path.display()))
}

fn bundle(config: &Config) -> Result<Bundle, DaemonError> {
    let folder = config.bundle.path.display().to_string();
    let refuse = |problems: String| DaemonError::Bundle { folder: folder.clone(), problems };
    let bundle = Bundle::load(&config.bundle.path).map_err(|errors| refuse(errors.to_string()))?;
    if bundle.fixtures.is_empty() && config.mode == Mode::Production {
        let why =
            "bundle.yaml: it has no fixtures; write some, or use `serve --dev` until there are";
        return Err(refuse(why.to_owned()));
    }
    for warning in &bundle.warnings {
        tracing::warn!(bundle = %bundle.name, "{warning}");
    }
    Ok(bundle)
}

fn gateway(
    config: &Config,
    environment: &Environment,
    seam: &Seam,
    bundle: &Bundle,
) -> Result<Gateway, ConfigError> {
    let mut endpoints = Endpoints::new();
    for (name, settings) in &config.tools.endpoints {
        let at = |part: &str| format!("tools.endpoints.{name}.{part}");
        let mut headers = Vec::new();
        for (header, secret) in &settings.headers {
            let value = secret.resolve(&at(&format!("headers.{header}")), environment)?;
            headers.push((header.clone(), value));
        }
        let endpoint = Endpoint::new(&settings.base_url, headers)
            .map_err(|error| wrong(&at("base_url"), &error.to_string()))?;
        endpoints.insert(name.clone(), endpoint);
    }
    let executor = HttpExecutor::new(Arc::clone(&seam.clock))
        .map_err(|error| wrong("tools.endpoints", &format!("TLS cannot be set up: {error}")))?;
    let gateway = Gateway::new(endpoints, Arc::new(executor), Arc::clone(&seam.clock));
    for contract in bundle.contracts.values() {
        let Call::Http(HttpCall { endpoint, .. }) = &contract.executor.call;
        if !gateway.has_endpoint(endpoint) {
            let why = format!("contract `{}` calls it and it is not configured", contract.name);
            return Err(wrong(&format!("tools.endpoints.{endpoint}"), &why));
        }
    }
    Ok(gateway)
}

fn wrong(setting: &str, why: &str) -> ConfigError {
    ConfigError::Setting { setting: setting.to_owned(), why: why.to_owned() }
}

fn unknown(setting: &str, given: &str, known: &str) -> ConfigError {
    wrong(setting, &format!("`{given}` is not {known}"))
}
