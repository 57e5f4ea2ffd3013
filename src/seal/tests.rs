use proptest::prelude::*;

use super::*;
use crate::seal::test_entropy::CountingEntropy;

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

fn sealer(seed: u64) -> Sealer {
    Sealer::new(KeyFile::generate(&CountingEntropy::new(seed))).unwrap()
}

fn place<'a>(tenant: &'a TenantId, row: &'a str) -> Place<'a> {
    Place { tenant, table: "data", row }
}

#[test]
fn what_was_sealed_opens_in_its_place() {
    let (sealer, acme) = (sealer(1), tenant("acme"));
    for plaintext in [b"".as_slice(), b"x", &[0; 70_000]] {
        let row = sealer.seal(place(&acme, "r1"), plaintext, &CountingEntropy::new(9)).unwrap();
        assert_eq!(row.len(), plaintext.len() + OVERHEAD_BYTES);
        assert_eq!(sealer.open(place(&acme, "r1"), &row).unwrap(), plaintext);
    }
}

#[test]
fn a_row_moved_to_another_place_does_not_open() {
    let (sealer, acme, other) = (sealer(1), tenant("acme"), tenant("other"));
    let row = sealer.seal(place(&acme, "r1"), b"secret", &CountingEntropy::new(9)).unwrap();
    let elsewhere = [
        place(&acme, "r2"),
        place(&other, "r1"),
        Place { tenant: &acme, table: "quarantine", row: "r1" },
        Place { tenant: &acme, table: "datar", row: "1" },
    ];
    for place in elsewhere {
        assert_eq!(sealer.open(place, &row), Err(SealError::Tampered), "{place:?}");
    }
}

#[test]
fn two_seals_of_one_text_differ() {
    let (sealer, acme, entropy) = (sealer(1), tenant("acme"), CountingEntropy::new(9));
    let a = sealer.seal(place(&acme, "r1"), b"same", &entropy).unwrap();
    let b = sealer.seal(place(&acme, "r1"), b"same", &entropy).unwrap();
    assert_ne!(a, b);
}

#[test]
fn an_older_key_opens_but_does_not_seal() {
    let acme = tenant("acme");
    let old = KeyFile::generate(&CountingEntropy::new(1));
    let new = KeyFile::generate(&CountingEntropy::new(2));
    let both = format!("{}{}", new.render().as_str(), old.render().as_str());
    let (old_id, new_id) = (old.active().unwrap(), new.active().unwrap());
    let row = Sealer::new(old)
        .unwrap()
        .seal(place(&acme, "r1"), b"kept", &CountingEntropy::new(9))
        .unwrap();
    let rotated = Sealer::new(KeyFile::parse(&both).unwrap()).unwrap();
    assert_eq!(rotated.open(place(&acme, "r1"), &row).unwrap(), b"kept");
    let fresh = rotated.seal(place(&acme, "r1"), b"kept", &CountingEntropy::new(9)).unwrap();
    assert_eq!(&fresh[1..5], new_id.to_bytes());
    let only_new = Sealer::new(new).unwrap();
    assert_eq!(only_new.open(place(&acme, "r1"), &row), Err(SealError::UnknownKey(old_id)));
}

#[test]
fn a_commitment_depends_on_key_tenant_purpose_and_bytes() {
    let (acme, other) = (tenant("acme"), tenant("other"));
    let (one, two) = (sealer(1), sealer(2));
    let base = one.commitment(&acme, "principal", b"p_1");
    assert!(base.starts_with("hmac-sha256:") && base.len() == 12 + 64, "{base}");
    assert_eq!(base, one.commitment(&acme, "principal", b"p_1"));
    let others = [
        two.commitment(&acme, "principal", b"p_1"),
        one.commitment(&other, "principal", b"p_1"),
        one.commitment(&acme, "effect_key", b"p_1"),
        one.commitment(&acme, "principal", b"p_2"),
    ];
    assert!(others.iter().all(|c| *c != base));
    assert!(one.is_commitment(&base, &acme, "principal", b"p_1"));
    assert!(!one.is_commitment(&base, &acme, "principal", b"p_2"));
    assert!(!one.is_commitment("", &acme, "principal", b"p_1"));
}

#[test]
fn a_commitment_made_before_a_rotation_is_still_recognised() {
    let acme = tenant("acme");
    let old = KeyFile::generate(&CountingEntropy::new(1));
    let new = KeyFile::generate(&CountingEntropy::new(2));
    let both = format!("{}{}", new.render().as_str(), old.render().as_str());
    let made = Sealer::new(old).unwrap().commitment(&acme, "entry", b"bytes");
    let rotated = Sealer::new(KeyFile::parse(&both).unwrap()).unwrap();
    assert_ne!(rotated.commitment(&acme, "entry", b"bytes"), made);
    assert!(rotated.is_commitment(&made, &acme, "entry", b"bytes"));
}

#[test]
fn debug_shows_no_key() {
    let file = KeyFile::generate(&CountingEntropy::new(1));
    let key = file.render();
    let key = key.split_whitespace().last().unwrap().to_owned();
    let shown = format!("{:?}", Sealer::new(file).unwrap());
    assert!(!shown.contains(&key), "{shown}");
}

proptest! {
    #[test]
    fn any_flipped_bit_is_refused(plaintext in proptest::collection::vec(any::<u8>(), 0..64), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let (sealer, acme) = (sealer(1), tenant("acme"));
        let mut row = sealer.seal(place(&acme, "r1"), &plaintext, &CountingEntropy::new(9)).unwrap();
        let at = at.index(row.len());
        row[at] ^= 1 << bit;
        prop_assert!(sealer.open(place(&acme, "r1"), &row).is_err());
    }

    #[test]
    fn any_cut_is_refused(keep in 0_usize..60) {
        let (sealer, acme) = (sealer(1), tenant("acme"));
        let row = sealer.seal(place(&acme, "r1"), b"0123456789abcdef", &CountingEntropy::new(9)).unwrap();
        prop_assume!(keep < row.len());
        prop_assert!(sealer.open(place(&acme, "r1"), &row[..keep]).is_err());
    }
}
