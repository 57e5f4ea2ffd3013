//! Keys from keys: HMAC-SHA-256 over a label and length-prefixed parts.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// A 256-bit key that is wiped when dropped.
pub(crate) type Secret = Zeroizing<[u8; 32]>;

/// HMAC-SHA-256 of all `parts`, each preceded by its length, so that no two lists of parts agree.
pub(crate) fn mac_of_parts(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = keyed(key);
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The key that `parent` holds for `label` and `context`.
pub(crate) fn child(parent: &[u8; 32], label: &str, context: &[u8]) -> Secret {
    Zeroizing::new(mac_of_parts(parent, &[b"stateguard/key/v1", label.as_bytes(), context]))
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // A key shorter than the block is padded with zeros; done here, so that nothing can fail.
    let mut block = Zeroizing::new([0_u8; 64]);
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    Hmac::<Sha256>::new((&*block).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_be_moved_across_their_border() {
        let key = [7; 32];
        assert_ne!(mac_of_parts(&key, &[b"ab", b"c"]), mac_of_parts(&key, &[b"a", b"bc"]));
        assert_ne!(mac_of_parts(&key, &[b"ab"]), mac_of_parts(&key, &[b"ab", b""]));
    }

    #[test]
    fn hmac_agrees_with_rfc_4231_case_2() {
        let mut key = [0_u8; 32];
        key[..4].copy_from_slice(b"Jefe");
        let mut mac = keyed(&key);
        mac.update(b"what do ya want for nothing?");
        assert_eq!(
            hex::encode(mac.finalize().into_bytes()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn children_of_one_key_differ_by_label_and_context() {
        let parent = [1; 32];
        assert_ne!(*child(&parent, "seal", b"acme"), *child(&parent, "seal", b"other"));
        assert_ne!(*child(&parent, "seal", b"acme"), *child(&parent, "commitment", b"acme"));
        assert_eq!(*child(&parent, "seal", b"acme"), *child(&parent, "seal", b"acme"));
    }
}
