//! Seals and opens rows, and makes the keyed digests that stand in entries instead of personal values.

use std::{collections::BTreeMap, fmt};

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use subtle::ConstantTimeEq;

use super::{
    derive::{Secret, child, mac_of_parts},
    key_file::{KeyFile, KeyFileError, KeyId},
};
use crate::domain::{clock::Entropy, ids::TenantId};

/// First byte of every sealed row.
const ROW_VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
/// Bytes that sealing adds to the plaintext: version, key id, nonce, tag.
const OVERHEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/// Where a sealed value lives. Bound into the ciphertext, so a row moved elsewhere does not open.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The tenant whose key seals.
    pub tenant: &'a TenantId,
    /// Table and column kind, such as `data`.
    pub table: &'a str,
    /// The row's id.
    pub row: &'a str,
}

/// Holds the installation's keys; everything it does is done with a key derived per tenant and use.
pub struct Sealer {
    active: (KeyId, Secret),
    older: BTreeMap<KeyId, Secret>,
}

impl Sealer {
    /// Takes the keys of a key file; the first one seals.
    pub fn new(file: KeyFile) -> Result<Self, KeyFileError> {
        let mut keys = file.into_keys().into_iter();
        let active = keys.next().ok_or(KeyFileError::Empty)?;
        Ok(Self { active, older: keys.collect() })
    }

    /// Encrypts `plaintext` for one place.
    ///
    /// Row format: version (1 byte), key id (4), nonce (24), ciphertext with its tag.
    pub fn seal(
        &self,
        place: Place<'_>,
        plaintext: &[u8],
        entropy: &dyn Entropy,
    ) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_BYTES];
        entropy.fill(&mut nonce);
        let (id, root) = (self.active.0, &self.active.1);
        let cipher = cipher(root, place.tenant);
        let aad = associated_data(place, id);
        let payload = Payload { msg: plaintext, aad: &aad };
        let ciphertext =
            cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::TooLarge)?;
        let mut row = Vec::with_capacity(plaintext.len() + OVERHEAD_BYTES);
        row.push(ROW_VERSION);
        row.extend_from_slice(&id.to_bytes());
        row.extend_from_slice(&nonce);
        row.extend_from_slice(&ciphertext);
        Ok(row)
    }

    /// Decrypts what `seal` made for exactly this place.
    pub fn open(&self, place: Place<'_>, row: &[u8]) -> Result<Vec<u8>, SealError> {
        let (version, rest) = row.split_first().ok_or(SealError::NotSealed)?;
        if *version != ROW_VERSION || row.len() < OVERHEAD_BYTES {
            return Err(SealError::NotSealed);
        }
        let (id, rest) = rest.split_first_chunk::<KEY_ID_BYTES>().ok_or(SealError::NotSealed)?;
        let (nonce, ciphertext) =
            rest.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::NotSealed)?;
        let id = KeyId::from_bytes(*id);
        let root = self.root(id).ok_or(SealError::UnknownKey(id))?;
        let aad = associated_data(place, id);
        cipher(root, place.tenant)
            .decrypt(&XNonce::from(*nonce), Payload { msg: ciphertext, aad: &aad })
            .map_err(|_| SealError::Tampered)
    }

    /// A keyed digest `hmac-sha256:<hex>` of `bytes`: equal inputs of one tenant and purpose agree, nobody
    /// without the key can guess the input.
    pub fn commitment(&self, tenant: &TenantId, purpose: &str, bytes: &[u8]) -> String {
        commitment_under(&self.active.1, tenant, purpose, bytes)
    }

    /// Whether `commitment` is that of `bytes`, under any key of the file (an older entry keeps its older key).
    pub fn is_commitment(
        &self,
        commitment: &str,
        tenant: &TenantId,
        purpose: &str,
        bytes: &[u8],
    ) -> bool {
        std::iter::once(&self.active.1).chain(self.older.values()).any(|root| {
            let expected = commitment_under(root, tenant, purpose, bytes);
            expected.as_bytes().ct_eq(commitment.as_bytes()).into()
        })
    }

    fn root(&self, id: KeyId) -> Option<&Secret> {
        if id == self.active.0 { Some(&self.active.1) } else { self.older.get(&id) }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("active", &self.active.0).finish_non_exhaustive()
    }
}

fn tenant_key(root: &[u8; 32], tenant: &TenantId) -> Secret {
    child(root, "tenant", tenant.as_str().as_bytes())
}

fn cipher(root: &[u8; 32], tenant: &TenantId) -> XChaCha20Poly1305 {
    let key = child(&tenant_key(root, tenant), "seal", b"");
    XChaCha20Poly1305::new((&*key).into())
}

fn commitment_under(root: &[u8; 32], tenant: &TenantId, purpose: &str, bytes: &[u8]) -> String {
    let key = child(&tenant_key(root, tenant), "commitment", purpose.as_bytes());
    format!("hmac-sha256:{}", hex::encode(mac_of_parts(&key, &[bytes])))
}

fn associated_data(place: Place<'_>, key: KeyId) -> Vec<u8> {
    let parts = [place.tenant.as_str(), place.table, place.row];
    let mut out = Vec::with_capacity(64);
    out.extend_from_slice(b"stateguard/row/v1");
    out.extend_from_slice(&key.to_bytes());
    for part in parts {
        out.extend_from_slice(&(part.len() as u64).to_be_bytes());
        out.extend_from_slice(part.as_bytes());
    }
    out
}

/// Why a row was not sealed or did not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Too short, or of a version this daemon does not know.
    #[error("the stored bytes are not a sealed row of version {ROW_VERSION}")]
    NotSealed,
    /// The key that sealed it is not in the key file.
    #[error("the row was sealed with key `{0}`, which the seal key file does not hold")]
    UnknownKey(KeyId),
    /// Changed, moved from another row, table or tenant, or sealed with another key of the same id.
    #[error("the sealed row does not belong here or was changed")]
    Tampered,
    /// Larger than the cipher takes.
    #[error("the content is too large to seal")]
    TooLarge,
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
