//! The public keys of an issuer, read from a JWKS file. A key's algorithm follows from the key, never from a token.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::domain::json::{self, JsonLimits};

/// More keys than this in one file is a mistake.
const MAX_KEYS: usize = 32;
const LIMITS: JsonLimits = JsonLimits { bytes: 64 << 10, depth: 8, nodes: 4_000, key_bytes: 128 };

/// A signature algorithm that issuers may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Ed25519.
    EdDsa,
    /// ECDSA over P-256 with SHA-256.
    Es256,
}

impl Algorithm {
    /// The JOSE name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
        }
    }

    /// From the JOSE name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::EdDsa, Self::Es256].into_iter().find(|alg| alg.as_str() == name)
    }
}

/// One public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) kid: String,
    pub(crate) algorithm: Algorithm,
    bytes: Vec<u8>,
}

impl Key {
    pub(crate) fn verifies(&self, signed: &str, signature: &[u8]) -> bool {
        let checked = match self.algorithm {
            Algorithm::EdDsa => {
                UnparsedPublicKey::new(&ED25519, &self.bytes).verify(signed.as_bytes(), signature)
            }
            Algorithm::Es256 => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &self.bytes)
                .verify(signed.as_bytes(), signature),
        };
        checked.is_ok()
    }

    /// SHA-256 of the key itself, so that the same key is known under any `kid`.
    pub(crate) fn thumbprint(&self) -> String {
        hex::encode(Sha256::digest(&self.bytes))
    }
}

/// The keys of one issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwkSet {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct RawKey {
    kty: String,
    kid: Option<String>,
    crv: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    x: Option<String>,
    y: Option<String>,
    d: Option<String>,
    k: Option<String>,
}

impl JwkSet {
    /// Reads a JWKS document with at least one key that can be used; every key must be understood.
    pub fn parse(text: &[u8]) -> Result<Self, JwksError> {
        let document =
            json::parse(text, &LIMITS).map_err(|fault| JwksError::NotJson(fault.to_string()))?;
        let Some(Value::Array(list)) = document.get("keys") else {
            return Err(JwksError::NoKeys);
        };
        if list.is_empty() {
            return Err(JwksError::NoKeys);
        }
        if list.len() > MAX_KEYS {
            return Err(JwksError::TooMany);
        }
        let mut keys: Vec<Key> = Vec::with_capacity(list.len());
        for (at, raw) in list.iter().enumerate() {
            let key = read_key(raw).map_err(|fault| JwksError::Key(at, fault))?;
            if keys.iter().any(|known| known.kid == key.kid) {
                return Err(JwksError::Key(at, KeyFault::RepeatedKid));
            }
            keys.push(key);
        }
        Ok(Self { keys })
    }

    pub(crate) fn find(&self, kid: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.kid == kid)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter()
    }
}

fn read_key(raw: &Value) -> Result<Key, KeyFault> {
    let raw = RawKey::deserialize(raw).map_err(|_| KeyFault::Form)?;
    if raw.d.is_some() || raw.k.is_some() {
        return Err(KeyFault::Private);
    }
    let signs = raw.usage.as_deref().is_none_or(|usage| usage == "sig")
        && raw.key_ops.as_deref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
    if !signs {
        return Err(KeyFault::NotForSignatures);
    }
    let kid = raw.kid.filter(|kid| !kid.is_empty()).ok_or(KeyFault::NoKid)?;
    let (algorithm, bytes) = match (raw.kty.as_str(), raw.crv.as_deref()) {
        ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, coordinate(raw.x.as_deref())?.to_vec()),
        ("EC", Some("P-256")) => {
            let mut point = vec![0x04];
            point.extend_from_slice(&coordinate(raw.x.as_deref())?);
            point.extend_from_slice(&coordinate(raw.y.as_deref())?);
            (Algorithm::Es256, point)
        }
        _ => return Err(KeyFault::Unsupported),
    };
    if raw.alg.is_some_and(|alg| alg != algorithm.as_str()) {
        return Err(KeyFault::Unsupported);
    }
    Ok(Key { kid, algorithm, bytes })
}

fn coordinate(text: Option<&str>) -> Result<[u8; 32], KeyFault> {
    let bytes = URL_SAFE_NO_PAD.decode(text.ok_or(KeyFault::Form)?).map_err(|_| KeyFault::Form)?;
    bytes.try_into().map_err(|_| KeyFault::Form)
}

/// Why a JWKS file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwksError {
    /// Not strict JSON.
    #[error("the key set is not strict JSON: {0}")]
    NotJson(String),
    /// No `keys` member, or an empty one.
    #[error("the key set has no `keys`")]
    NoKeys,
    /// More keys than an issuer needs.
    #[error("the key set has more than {MAX_KEYS} keys")]
    TooMany,
    /// One key is wrong.
    #[error("key {0} of the key set {1}")]
    Key(usize, KeyFault),
}

/// What is wrong with one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Not a JWK with the members of its type.
    #[error("is not a public JWK")]
    Form,
    /// A private or symmetric key in a file of public keys.
    #[error("is a private or symmetric key; put public keys only into a key set")]
    Private,
    /// `use` or `key_ops` exclude verification.
    #[error("is not for signatures")]
    NotForSignatures,
    /// No `kid`.
    #[error("has no `kid`")]
    NoKid,
    /// A `kid` that was used before.
    #[error("repeats a `kid`")]
    RepeatedKid,
    /// Neither Ed25519 with EdDSA nor P-256 with ES256.
    #[error("is neither Ed25519 (EdDSA) nor P-256 (ES256)")]
    Unsupported,
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn parse(text: &str) -> Result<JwkSet, JwksError> {
        JwkSet::parse(text.as_bytes())
    }

    fn fault(key: &str) -> KeyFault {
        let refused = parse(&format!(r#"{{"keys":[{key}]}}"#)).unwrap_err();
        let JwksError::Key(0, fault) = refused else { panic!("{refused:?}") };
        fault
    }

    #[test]
    fn the_key_of_rfc_8037_is_read_and_verifies_its_signature() {
        let set =
            parse(&format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"a","x":"{X}"}}]}}"#));
        let set = set.unwrap();
        let key = set.find("a").unwrap();
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature = URL_SAFE_NO_PAD
            .decode("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
            .unwrap();
        assert!(key.verifies(signed, &signature));
        assert!(!key.verifies("eyJhbGciOiJFZERTQSJ9.other", &signature));
        assert!(set.find("b").is_none());
    }

    #[test]
    fn keys_that_must_not_be_trusted_are_refused_by_name() {
        let key =
            |extra: &str| format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"a","x":"{X}"{extra}}}"#);
        assert_eq!(fault(&key(r#","d":"AAAA""#)), KeyFault::Private);
        assert_eq!(fault(r#"{"kty":"oct","kid":"a","k":"AAAA"}"#), KeyFault::Private);
        assert_eq!(fault(&key(r#","use":"enc""#)), KeyFault::NotForSignatures);
        assert_eq!(fault(&key(r#","alg":"HS256""#)), KeyFault::Unsupported);
        assert_eq!(
            fault(r#"{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}"#),
            KeyFault::Unsupported
        );
        assert_eq!(
            fault(&format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{X}"}}"#)),
            KeyFault::NoKid
        );
        assert_eq!(fault(r#"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AAAA"}"#), KeyFault::Form);
        let twice = parse(&format!(r#"{{"keys":[{0},{0}]}}"#, key("")));
        assert_eq!(twice, Err(JwksError::Key(1, KeyFault::RepeatedKid)));
        assert_eq!(parse(r#"{"keys":[]}"#), Err(JwksError::NoKeys));
        assert!(matches!(parse(r#"{"keys":[],"keys":[]}"#), Err(JwksError::NotJson(_))));
    }
}
