use serde_json::json;

use super::*;

fn read(text: &str) -> Result<Value, JsonFaultKind> {
    parse(text.as_bytes(), &JsonLimits::ARGUMENTS).map_err(|fault| fault.kind)
}

#[test]
fn plain_documents_are_read() {
    assert_eq!(read(" {\"a\":[1,true,null,\"x\"]}\n"), Ok(json!({"a":[1,true,null,"x"]})));
    assert_eq!(read(r#""é😀\n""#), Ok(json!("é😀\n")));
    assert_eq!(read("{}"), Ok(json!({})));
    assert_eq!(read("[]"), Ok(json!([])));
}

#[test]
fn each_fault_has_its_name() {
    for (text, kind) in [
        ("", JsonFaultKind::Incomplete),
        (r#"{"ok":true"#, JsonFaultKind::Incomplete),
        (r#"{"ok":tr"#, JsonFaultKind::Incomplete),
        (r#"{"a":1,}"#, JsonFaultKind::Syntax),
        ("{'a':1}", JsonFaultKind::Syntax),
        ("NaN", JsonFaultKind::Syntax),
        ("[1,2,]", JsonFaultKind::Syntax),
        ("01", JsonFaultKind::Syntax),
        ("1.", JsonFaultKind::Incomplete),
        ("\"a\u{1}\"", JsonFaultKind::Syntax),
        (r#"{"amount":10,"amount":10000}"#, JsonFaultKind::DuplicateKey),
        (r#"{"role":1,"r\u006fle":2}"#, JsonFaultKind::DuplicateKey),
        (r#"{"a":1}{"a":2}"#, JsonFaultKind::MultipleDocuments),
        ("{} x", JsonFaultKind::MultipleDocuments),
        ("\u{feff}{}", JsonFaultKind::ByteOrderMark),
        (r#""\ud800""#, JsonFaultKind::LoneSurrogate),
        (r#""\udc00x""#, JsonFaultKind::LoneSurrogate),
        (r#""\ud800\u0041""#, JsonFaultKind::LoneSurrogate),
        ("1e400", JsonFaultKind::NumberRange),
        ("1e-999", JsonFaultKind::NumberLossy),
        ("-9223372036854775809", JsonFaultKind::NumberLossy),
        ("12345678901234567890123", JsonFaultKind::NumberLossy),
        ("1.000000000000000005", JsonFaultKind::NumberLossy),
        ("1e99999999999999999999", JsonFaultKind::NumberRange),
        (r#"{"$serde_json::private::RawValue":"[1]"}"#, JsonFaultKind::ReservedKey),
    ] {
        assert_eq!(read(text), Err(kind), "{text}");
    }
    assert_eq!(
        parse(&[b'"', 0xFF, b'"'], &JsonLimits::ARGUMENTS).unwrap_err().kind,
        JsonFaultKind::InvalidUtf8
    );
}

#[test]
fn numbers_are_exact_or_refused() {
    for (text, value) in [
        ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1E2", json!(100)),
        ("1.0", json!(1)),
        ("500.00", json!(500)),
        ("5e2", json!(500)),
        ("-0", json!(0)),
        ("-0.0", json!(0)),
        ("19.99", json!(19.99)),
        ("0.1", json!(0.1)),
    ] {
        assert_eq!(read(text), Ok(value), "{text}");
    }
    for cents in 0..200_000_i64 {
        let text = format!("{}.{:02}", cents / 100, cents % 100);
        assert!(read(&text).is_ok(), "{text}");
    }
}

#[test]
fn caps_hold_at_the_limit_and_one_past_it() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(read(&nested(64)).is_ok());
    assert_eq!(read(&nested(65)), Err(JsonFaultKind::DepthExceeded));
    assert_eq!(read(&"[".repeat(100_000)), Err(JsonFaultKind::DepthExceeded));
    let key = |n: usize| format!("{{\"{}\":1}}", "k".repeat(n));
    assert!(read(&key(256)).is_ok());
    assert_eq!(read(&key(257)), Err(JsonFaultKind::KeyTooLong));
    let many = |n: usize| format!("[{}0]", "0,".repeat(n - 2));
    assert!(read(&many(100_000)).is_ok());
    assert_eq!(read(&many(100_001)), Err(JsonFaultKind::NodesExceeded));
    let long = |n: usize| format!("\"{}\"", "x".repeat(n - 2));
    assert!(read(&long(1 << 20)).is_ok());
    assert_eq!(read(&long((1 << 20) + 1)), Err(JsonFaultKind::TooLarge));
}

#[test]
fn unstorable_characters_are_found_where_they_stand() {
    assert_eq!(
        find_unstorable(&json!({"a": ["x", "b\u{0}"]})).map(|p| p.to_string()),
        Some("/a/1".to_owned())
    );
    assert!(find_unstorable(&json!({"a\u{ffff}": 1})).is_some());
    assert!(find_unstorable(&json!({"a": "plain \u{fffd}"})).is_none());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|n| json!(n)),
            ".{0,12}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                prop::collection::btree_map(".{0,6}", inner, 0..5)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_what_serde_json_reads(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(read(&text).unwrap(), value);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes, &JsonLimits::ARGUMENTS);
        }
    }
}
