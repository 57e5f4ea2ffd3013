//! `stateguard token`: sign a token with a development key.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::output::Exit;
use crate::{
    config::Span,
    daemon::{Seam, dev},
    domain::clock::Timestamp,
    identity::{
        TokenKind,
        dev::{DevKey, Draft},
    },
};

/// What the token says.
#[derive(Debug, Args)]
pub struct TokenCommand {
    /// Its kind.
    pub kind: Kind,
    /// The folder of the development keys.
    #[arg(long, value_name = "FOLDER", default_value = dev::FOLDER)]
    pub dir: PathBuf,
    /// Another signing key than the folder's: a private JWK.
    #[arg(long, value_name = "FILE", requires = "issuer")]
    pub key: Option<PathBuf>,
    /// `iss`; with the folder's keys it follows from the kind.
    #[arg(long)]
    pub issuer: Option<String>,
    /// `sub`.
    #[arg(long)]
    pub sub: String,
    /// `tenant`.
    #[arg(long, default_value = dev::TENANT)]
    pub tenant: String,
    /// How long it lives, such as `10m`; the longest that its kind may, unless given.
    #[arg(long, value_name = "TIME")]
    pub life: Option<String>,
    /// A claim, as JSON or plain text: `--claim channel=portal --claim 'acts=["lend"]'`; may be repeated, wins over the default.
    #[arg(long, value_name = "NAME=VALUE")]
    pub claim: Vec<String>,
}

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Drives an agent; holds `session:run` unless `--claim rights=…` says otherwise.
    Workload,
    /// Names the principal of a session.
    Session,
    /// A call of the principal himself; a confirmation needs `--claim digest=…`.
    Principal,
    /// What a session may do: `--claim acts=… --claim targets=…`.
    Scope,
    /// An operator, approver or auditor: `--claim roles=…`.
    Person,
}

impl Kind {
    fn token(self) -> TokenKind {
        match self {
            Self::Workload => TokenKind::Workload,
            Self::Session => TokenKind::Session,
            Self::Principal => TokenKind::Principal,
            Self::Scope => TokenKind::Scope,
            Self::Person => TokenKind::Person,
        }
    }

    /// What the kind needs and nobody cares about in development.
    fn defaults(self, now: Timestamp) -> Value {
        let signed_in = now.seconds();
        match self {
            Self::Workload => {
                json!({"agent": "dev-agent", "agent_instance": "dev-1", "rights": ["session:run"]})
            }
            Self::Session => {
                json!({"kind": "person", "roles": [], "channel": "portal", "auth_time": signed_in, "amr": ["pwd"],
                "consents": []})
            }
            Self::Principal => json!({"auth_time": signed_in, "amr": ["pwd"], "azp": "dev-portal"}),
            Self::Scope => json!({"source": "principal"}),
            Self::Person => json!({"roles": [], "auth_time": signed_in, "amr": ["pwd"]}),
        }
    }
}

/// Prints one token.
///
/// # Errors
/// When the key cannot be read or `out` cannot be written.
pub fn run(command: &TokenCommand, out: &mut dyn Write) -> io::Result<Exit> {
    let seam = Seam::system();
    match token(command, &seam) {
        Ok(token) => writeln!(out, "{token}").map(|()| Exit::Good),
        Err(why) => {
            writeln!(io::stderr(), "stateguard: {why}")?;
            Ok(Exit::Bad)
        }
    }
}

fn token(command: &TokenCommand, seam: &Seam) -> Result<String, String> {
    let kind = command.kind.token();
    let default_issuer = dev::DevIssuer::of(kind);
    let file = command.key.clone().unwrap_or_else(|| default_issuer.private_file(&command.dir));
    let text = fs::read_to_string(&file).map_err(|error| {
        format!("{}: {error}; `stateguard keys dev` makes keys", file.display())
    })?;
    let key = DevKey::parse(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let life = match &command.life {
        None => kind.longest_life(),
        Some(text) => {
            Span::parse(text).ok_or_else(|| format!("`{text}` is not a time such as `10m`"))?.0
        }
    };
    let now = seam.clock.now();
    let issuer = command.issuer.as_deref().unwrap_or(default_issuer.name);
    let draft = Draft { kind, issuer, now, life, claims: claims(command, now)? };
    Ok(key.mint(&draft, seam.entropy.as_ref()))
}

fn claims(command: &TokenCommand, now: Timestamp) -> Result<Map<String, Value>, String> {
    let mut claims = command.kind.defaults(now).as_object().cloned().unwrap_or_default();
    claims.insert("sub".to_owned(), Value::from(command.sub.as_str()));
    claims.insert("tenant".to_owned(), Value::from(command.tenant.as_str()));
    for given in &command.claim {
        let (name, value) = given
            .split_once('=')
            .ok_or_else(|| format!("`{given}` is not `--claim NAME=VALUE`"))?;
        let read = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        claims.insert(name.to_owned(), fit(name, claims.get(name), read, value)?);
    }
    Ok(claims)
}

/// A claim that the kind has as text stays text (`agent_instance=1`); one that it has as a list must be one, since the
/// daemon would only say that the token is malformed.
fn fit(name: &str, default: Option<&Value>, read: Value, given: &str) -> Result<Value, String> {
    if default.is_some_and(Value::is_string) && !read.is_string() {
        return Ok(Value::from(given));
    }
    let is_list =
        default.is_some_and(Value::is_array) || matches!(name, "acts" | "roles" | "rights");
    if is_list && !read.is_array() {
        return Err(format!("claim `{name}` is a list: --claim '{name}=[\"…\"]'"));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_where_text_belongs_is_text_and_a_scalar_where_a_list_belongs_is_refused() {
        let text = Value::from("dev-1");
        let fitted = fit("agent_instance", Some(&text), Value::from(1), "1");
        assert_eq!(fitted, Ok(Value::from("1")));
        assert!(fit("acts", None, Value::from("lend"), "lend").is_err());
        let list = serde_json::json!(["lend"]);
        assert_eq!(fit("acts", None, list.clone(), "[\"lend\"]"), Ok(list));
        assert_eq!(fit("customer_id", None, Value::from("c_1"), "c_1"), Ok(Value::from("c_1")));
    }
    use crate::{config::Config, daemon::verifier};

    #[test]
    fn tokens_of_every_kind_pass_the_daemon_that_uses_the_same_folder() {
        let folder = tempfile::tempdir().unwrap();
        let seam = Seam::system();
        let mut config = Config::default();
        dev::complete(&mut config, folder.path(), seam.entropy.as_ref()).unwrap();
        let verifier = verifier(&config).unwrap();
        let minted = |kind: Kind, claim: &[&str]| {
            let command = TokenCommand {
                kind,
                dir: folder.path().to_owned(),
                key: None,
                issuer: None,
                sub: "x_1".into(),
                tenant: dev::TENANT.into(),
                life: None,
                claim: claim.iter().map(|text| (*text).to_owned()).collect(),
            };
            token(&command, &seam).unwrap()
        };
        let now = seam.clock.now();
        assert!(
            verifier
                .workload(&minted(Kind::Workload, &[]), now)
                .unwrap()
                .rights
                .contains("session:run")
        );
        let session = minted(Kind::Session, &["channel=mail", "customer_id=c_17"]);
        let principal = verifier.session_principal(&session, now).unwrap();
        assert_eq!(
            (principal.channel.as_str(), &principal.claims["customer_id"]),
            ("mail", &json!("c_17"))
        );
        assert!(
            verifier.principal_call(&minted(Kind::Principal, &["digest=sha256:0"]), now).is_ok()
        );
        let scope = minted(Kind::Scope, &[r#"acts=["lend"]"#, r#"targets={"Book":["B-1"]}"#]);
        assert!(verifier.scope_grant(&scope, now).unwrap().acts.contains("lend"));
        let person = minted(Kind::Person, &[r#"roles=["auditor"]"#]);
        assert!(verifier.person(&person, now).unwrap().roles.contains("auditor"));
    }
}
