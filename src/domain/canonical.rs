//! Canonical JSON: RFC 8785, except that integers of the `i64` range are printed in full (RFC 8785
//! prints them as doubles and so loses digits beyond 2^53). Digests are taken over these bytes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A value that has no canonical form: a number outside `i64` that no double holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("number `{0}` has no canonical form")]
pub struct NotCanonical(pub String);

/// A SHA-256 digest, written `sha256:<64 hex digits>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
    }

    /// Reads a digest; `None` when the text has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?;
        let is_hex = hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (hex.len() == 64 && is_hex).then(|| Self(text.to_owned()))
    }

    /// The digest as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The canonical bytes of a value.
///
/// # Errors
/// When a number has no canonical form; the strict reader lets none of these in.
pub fn to_bytes(value: &Value) -> Result<Vec<u8>, NotCanonical> {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out)?;
    Ok(out)
}

/// The digest of a value's canonical bytes.
///
/// # Errors
/// As [`to_bytes`].
pub fn digest(value: &Value) -> Result<Digest, NotCanonical> {
    to_bytes(value).map(|bytes| Digest::of(&bytes))
}

fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out)?,
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push(b'{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(name, out);
                out.push(b':');
                write(member, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn write_number(number: &serde_json::Number, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    if let Some(integer) = number.as_i64() {
        out.extend_from_slice(integer.to_string().as_bytes());
        return Ok(());
    }
    match number.as_f64() {
        Some(double) if double.is_finite() && !number.is_u64() => {
            out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
            Ok(())
        }
        Some(_) | None => Err(NotCanonical(number.to_string())),
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\r' => out.extend_from_slice(b"\\r"),
            c if u32::from(c) < 0x20 => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(value: &Value) -> String {
        String::from_utf8(to_bytes(value).unwrap()).unwrap()
    }

    #[test]
    fn the_example_of_rfc_8785_comes_out_as_printed_there() {
        let value: Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals":[null,true,false]}"#,
        )
        .unwrap();
        assert_eq!(
            text(&value),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    #[test]
    fn member_order_does_not_change_the_digest_and_utf16_orders_the_names() {
        let one: Value = serde_json::from_str(r#"{"b":1,"a":2}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":2,"b":1}"#).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_eq!(
            text(&json!({"\u{fb33}": 1, "\u{1f600}": 2})),
            "{\"\u{1f600}\":2,\"\u{fb33}\":1}"
        );
    }

    #[test]
    fn large_integers_keep_their_digits_and_larger_ones_are_refused() {
        assert_eq!(text(&json!(9_007_199_254_740_993_i64)), "9007199254740993");
        assert!(to_bytes(&json!(u64::MAX)).is_err());
    }
}
