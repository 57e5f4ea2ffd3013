//! A request to a tool, fully rendered: what is fingerprinted, shown and sent. It holds no secret
//! and no idempotency key, so that its digest is the same on every attempt.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::canonical::{self, Digest, NotCanonical};

/// All that RFC 3986 does not call unreserved is encoded, so no value can end its segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request without its endpoint's address and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedRequest {
    /// Name of a configured endpoint.
    pub endpoint: String,
    /// `GET`, `POST` …
    pub method: String,
    /// Path segments, not yet encoded.
    pub path: Vec<String>,
    /// Query parameters, not yet encoded, in order.
    pub query: Vec<(String, String)>,
    /// Headers of the contract, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The JSON body.
    pub body: Option<Value>,
}

/// Why a request cannot be sent as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// A segment that a server or proxy would resolve away.
    #[error("path segment `{0}` is empty or a dot segment")]
    Segment(String),
    /// A header name or value that cannot stand in a request.
    #[error("header `{0}` cannot be sent")]
    Header(String),
    /// The body has no canonical form.
    #[error("the body cannot be written: {0}")]
    Body(String),
}

impl RenderedRequest {
    /// The digest of everything in it.
    ///
    /// # Errors
    /// When the body has no canonical form.
    pub fn digest(&self) -> Result<Digest, NotCanonical> {
        canonical::digest(&json!({
            "endpoint": self.endpoint,
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": self.headers,
            "body": self.body,
        }))
    }

    /// Path and query below the endpoint's address, percent-encoded, without a leading slash.
    ///
    /// # Errors
    /// [`Unsendable::Segment`] for an empty segment and for `.` and `..`, which normalisation
    /// between us and the tool would turn into another path.
    pub fn target(&self) -> Result<String, Unsendable> {
        if let Some(bad) = self.path.iter().find(|s| matches!(s.as_str(), "" | "." | "..")) {
            return Err(Unsendable::Segment(bad.clone()));
        }
        let path: Vec<String> = self.path.iter().map(|s| encode(s)).collect();
        let query: Vec<String> = self
            .query
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
            .collect();
        let path = path.join("/");
        Ok(if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) })
    }

    /// The bytes of the body: its canonical form, so that all attempts send the same.
    ///
    /// # Errors
    /// [`Unsendable::Body`] when it has none.
    pub fn body_bytes(&self) -> Result<Option<Vec<u8>>, Unsendable> {
        let bytes = self.body.as_ref().map(canonical::to_bytes).transpose();
        bytes.map_err(|error| Unsendable::Body(error.to_string()))
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &[&str]) -> RenderedRequest {
        RenderedRequest {
            endpoint: "library".to_owned(),
            method: "GET".to_owned(),
            path: path.iter().map(|s| (*s).to_owned()).collect(),
            query: vec![("q".to_owned(), "a&b=ü".to_owned())],
            headers: BTreeMap::new(),
            body: None,
        }
    }

    #[test]
    fn a_value_cannot_leave_its_segment() {
        let target = get(&["v1", "books", "a/../b?x=1#y", "%2e%2e"]).target().unwrap();
        assert_eq!(target, "v1/books/a%2F..%2Fb%3Fx%3D1%23y/%252e%252e?q=a%26b%3D%C3%BC");
        for dots in ["", ".", ".."] {
            assert_eq!(get(&["v1", dots]).target(), Err(Unsendable::Segment(dots.to_owned())));
        }
    }

    #[test]
    fn the_digest_covers_every_part() {
        let first = get(&["v1", "books"]);
        let mut seen = vec![first.digest().unwrap()];
        for other in [
            get(&["v1", "book"]),
            RenderedRequest { method: "POST".to_owned(), ..first.clone() },
            RenderedRequest { endpoint: "archive".to_owned(), ..first.clone() },
            RenderedRequest { query: Vec::new(), ..first.clone() },
            RenderedRequest { body: Some(json!({"n": 1})), ..first.clone() },
            RenderedRequest {
                headers: BTreeMap::from([("x".to_owned(), "1".to_owned())]),
                ..first.clone()
            },
        ] {
            let digest = other.digest().unwrap();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        }
    }
}
