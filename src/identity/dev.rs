//! Development keys and tokens, for `stateguard token`, the demo and tests. A production daemon never signs with these:
//! its issuers are its own identity provider and channels.

use std::{fmt, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer as _, SigningKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::kind::TokenKind;
use crate::domain::clock::{Entropy, Timestamp};

/// An Ed25519 signing key with its `kid`. `Debug` shows no key.
#[derive(Clone)]
pub struct DevKey {
    kid: String,
    key: SigningKey,
}

#[derive(Serialize, Deserialize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
struct PrivateJwk {
    kty: String,
    crv: String,
    kid: String,
    alg: String,
    x: String,
    d: String,
}

impl DevKey {
    /// A fresh key.
    pub fn generate(kid: &str, entropy: &dyn Entropy) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        entropy.fill(&mut *seed);
        Self { kid: kid.to_owned(), key: SigningKey::from_bytes(&seed) }
    }

    /// Reads a private JWK as `private_jwk` writes it.
    pub fn parse(text: &str) -> Result<Self, DevKeyError> {
        let raw: PrivateJwk = serde_json::from_str(text).map_err(|_| DevKeyError)?;
        let seed = Zeroizing::new(URL_SAFE_NO_PAD.decode(&raw.d).map_err(|_| DevKeyError)?);
        let seed: &[u8; 32] = seed.as_slice().try_into().map_err(|_| DevKeyError)?;
        let key = SigningKey::from_bytes(seed);
        let fits = raw.kty == "OKP"
            && raw.crv == "Ed25519"
            && raw.alg == "EdDSA"
            && raw.x == public_x(&key)
            && !raw.kid.is_empty();
        if fits { Ok(Self { kid: raw.kid.clone(), key }) } else { Err(DevKeyError) }
    }

    /// The private JWK, to be written to a file that only its owner reads; wiped when dropped.
    pub fn private_jwk(&self) -> Zeroizing<String> {
        let raw = PrivateJwk {
            kty: "OKP".into(),
            crv: "Ed25519".into(),
            kid: self.kid.clone(),
            alg: "EdDSA".into(),
            x: public_x(&self.key),
            d: URL_SAFE_NO_PAD.encode(self.key.as_bytes()),
        };
        Zeroizing::new(serde_json::to_string(&raw).unwrap_or_default())
    }

    /// The JWKS document for the issuer's `jwks_file`.
    pub fn public_jwks(&self) -> String {
        let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "alg": "EdDSA", "use": "sig",
            "x": public_x(&self.key)});
        format!("{:#}\n", json!({ "keys": [key] }))
    }

    /// Signs any header and claims.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        self.sign_bytes(header.to_string().as_bytes(), claims.to_string().as_bytes())
    }

    /// Signs any two parts, well formed or not; tests make attack tokens with it.
    pub fn sign_bytes(&self, header: &[u8], claims: &[u8]) -> String {
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    /// A well-formed token of `kind`: what `claims` holds, and iss, aud, iat, exp, jti around it.
    pub fn mint(&self, draft: &Draft<'_>, entropy: &dyn Entropy) -> String {
        let mut jti = [0; 16];
        entropy.fill(&mut jti);
        let mut claims = draft.claims.clone();
        let around = [
            ("iss", json!(draft.issuer)),
            ("aud", json!(draft.kind.audience())),
            ("iat", json!(draft.now.seconds())),
            ("exp", json!(draft.now.plus(draft.life).seconds())),
            ("jti", json!(hex::encode(jti))),
        ];
        for (name, value) in around {
            claims.entry(name).or_insert(value);
        }
        let header = json!({"alg": "EdDSA", "typ": draft.kind.typ(), "kid": self.kid});
        self.sign(&header, &Value::Object(claims))
    }
}

/// What a minted token says.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    /// Kind, and with it `typ` and audience.
    pub kind: TokenKind,
    /// `iss`.
    pub issuer: &'a str,
    /// `iat`.
    pub now: Timestamp,
    /// From `iat` to `exp`.
    pub life: Duration,
    /// sub, tenant and the claims of the kind; a claim given here wins over the generated one.
    pub claims: Map<String, Value>,
}

fn public_x(key: &SigningKey) -> String {
    URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes())
}

impl fmt::Debug for DevKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DevKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

/// A text that is no private development key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a private Ed25519 JWK; write one with `stateguard keys dev`")]
pub struct DevKeyError;
