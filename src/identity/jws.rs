//! Compact JWS: three base64url parts, a header of three members, nothing else.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use super::error::IdentityError;
use crate::domain::{
    json::{self, JsonLimits},
    limits::TOKEN_MAX_BYTES,
};

const MAX_KID_BYTES: usize = 128;
const LIMITS: JsonLimits =
    JsonLimits { bytes: TOKEN_MAX_BYTES, depth: 8, nodes: 2_000, key_bytes: 128 };

/// A token taken apart; nothing in it is proven yet.
pub(crate) struct Unverified<'a> {
    /// `alg` as the header says; only ever compared with that of the key.
    pub(crate) alg: String,
    pub(crate) typ: String,
    pub(crate) kid: String,
    /// What the signature is over.
    pub(crate) signed: &'a str,
    pub(crate) signature: Vec<u8>,
    pub(crate) claims: Map<String, Value>,
}

pub(crate) fn take_apart(token: &str) -> Result<Unverified<'_>, IdentityError> {
    if token.len() > TOKEN_MAX_BYTES {
        return Err(IdentityError::TooLarge);
    }
    let malformed = IdentityError::Malformed;
    let (signed, signature) = token.rsplit_once('.').ok_or(malformed("not three parts"))?;
    let (header, payload) = signed.split_once('.').ok_or(malformed("not three parts"))?;
    if payload.contains('.') {
        return Err(malformed("not three parts"));
    }
    let header = object(header, "header")?;
    let claims = object(payload, "claims")?;
    let signature = decode(signature, "signature")?;
    let (alg, typ, kid) = header_members(header)?;
    Ok(Unverified { alg, typ, kid, signed, signature, claims })
}

/// Exactly `alg`, `typ` and `kid`. Any other member (`jku`, `jwk`, `x5u`, `crit`, `zip`, `b64`, …) would ask us
/// to do something that the token must not ask for.
fn header_members(
    mut header: Map<String, Value>,
) -> Result<(String, String, String), IdentityError> {
    let alg = member(&mut header, "alg")?;
    let typ = member(&mut header, "typ")?;
    let kid = member(&mut header, "kid")?;
    if !header.is_empty() {
        return Err(IdentityError::Malformed("the header has a member other than alg, typ, kid"));
    }
    Ok((alg, typ, kid))
}

fn member(header: &mut Map<String, Value>, name: &str) -> Result<String, IdentityError> {
    match header.remove(name) {
        Some(Value::String(text)) if !text.is_empty() && text.len() <= MAX_KID_BYTES => Ok(text),
        Some(_) | None => Err(IdentityError::Malformed("the header needs alg, typ and kid")),
    }
}

fn object(part: &str, what: &'static str) -> Result<Map<String, Value>, IdentityError> {
    let bytes = decode(part, what)?;
    match json::parse(&bytes, &LIMITS) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(IdentityError::Malformed("a part is not a JSON object")),
        Err(_) => Err(IdentityError::Malformed("a part is not strict JSON")),
    }
}

fn decode(part: &str, what: &'static str) -> Result<Vec<u8>, IdentityError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| {
        IdentityError::Malformed(match what {
            "header" => "the header is not unpadded base64url",
            "claims" => "the claims are not unpadded base64url",
            _ => "the signature is not unpadded base64url",
        })
    })
}
