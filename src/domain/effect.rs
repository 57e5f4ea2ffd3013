//! Identity of what an action does to the world.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    canonical::{self, Digest, NotCanonical},
    ids::TenantId,
};

/// An amount of money: an integer of minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// Minor units, such as cents.
    pub minor: i64,
    /// ISO 4217 code.
    pub currency: String,
}

/// What identifies one effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectIdentity {
    /// The effect's name; the contract's unless it says otherwise.
    pub name: String,
    /// The request, as a list.
    pub key: Value,
    /// The business effect, without session, as a list.
    pub same: Value,
    /// Tells a repetition from another request under the same key.
    pub fingerprint: Digest,
    /// How much, where the contract says so.
    pub amount: Option<Money>,
}

/// The key that a tool is given: equal on all attempts, derived from nothing that changes between
/// them (no token, no time, no attempt number). 43 characters.
///
/// # Errors
/// When the key has no canonical form.
pub fn provider_key(
    tenant: &TenantId,
    tool: &str,
    key: &Value,
    generation: i64,
) -> Result<String, NotCanonical> {
    let parts = json!([tenant.as_str(), tool, key, generation]);
    Ok(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical::to_bytes(&parts)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_key_changes_with_each_of_its_parts_and_with_nothing_else() {
        let acme = TenantId::parse("acme").unwrap();
        let zeta = TenantId::parse("zeta").unwrap();
        let key = json!(["lend", "b1"]);
        let one = provider_key(&acme, "lend_book", &key, 0).unwrap();
        assert_eq!(one.len(), 43);
        assert_eq!(one, provider_key(&acme, "lend_book", &key, 0).unwrap());
        for other in [
            provider_key(&zeta, "lend_book", &key, 0),
            provider_key(&acme, "return_book", &key, 0),
            provider_key(&acme, "lend_book", &json!(["lend", "b2"]), 0),
            provider_key(&acme, "lend_book", &key, 1),
        ] {
            assert_ne!(one, other.unwrap());
        }
    }
}
