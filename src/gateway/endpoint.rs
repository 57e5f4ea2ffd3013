//! Where tools live and the secrets they want; both come from the daemon's configuration.

use std::{collections::BTreeMap, fmt};

use http::{HeaderName, HeaderValue, Uri};
use secrecy::{ExposeSecret as _, SecretString};

/// The address of a tool server, with the secret headers it wants.
#[derive(Clone)]
pub struct Endpoint {
    tls: bool,
    host: String,
    port: u16,
    authority: String,
    base_path: String,
    headers: Vec<(HeaderName, SecretString)>,
}

/// Why an endpoint cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The address is not `http://HOST[:PORT]/PATH` or the like.
    #[error("`{0}` is not an `http` or `https` address without query and user name")]
    Address(String),
    /// A header name or its secret cannot stand in a request.
    #[error("header `{0}` cannot be sent; use a header name and a secret of printable ASCII")]
    Header(String),
}

impl Endpoint {
    /// An endpoint at a base URL; its path is put before that of every call.
    ///
    /// # Errors
    /// [`EndpointError`] when the address or a header cannot be used.
    pub fn new(
        base_url: &str,
        headers: Vec<(String, SecretString)>,
    ) -> Result<Self, EndpointError> {
        let wrong = || EndpointError::Address(base_url.to_owned());
        let uri: Uri = base_url.parse().map_err(|_| wrong())?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) | None => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        if uri.query().is_some() || authority.as_str().contains('@') {
            return Err(wrong());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self {
            tls,
            host,
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.to_string(),
            base_path: uri.path().trim_end_matches('/').to_owned(),
            headers: headers.into_iter().map(checked).collect::<Result<_, _>>()?,
        })
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        self.tls
    }

    /// The host to connect to; an IPv6 address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port to connect to.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The `Host` header.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The path before that of every call, without a closing slash.
    #[must_use]
    pub fn base_path(&self) -> &str {
        &self.base_path
    }

    /// The secret headers, marked so that nobody prints them.
    pub fn secret_headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> + '_ {
        self.headers.iter().filter_map(|(name, secret)| {
            let mut value = HeaderValue::from_str(secret.expose_secret()).ok()?;
            value.set_sensitive(true);
            Some((name.clone(), value))
        })
    }
}

fn checked(
    (name, secret): (String, SecretString),
) -> Result<(HeaderName, SecretString), EndpointError> {
    let parsed: Result<HeaderName, _> = name.parse();
    match parsed {
        Ok(parsed) if HeaderValue::from_str(secret.expose_secret()).is_ok() => Ok((parsed, secret)),
        Ok(_) | Err(_) => Err(EndpointError::Header(name)),
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("tls", &self.tls)
            .field("authority", &self.authority)
            .field("base_path", &self.base_path)
            .field("secret_headers", &names)
            .finish()
    }
}

/// The configured endpoints, by name.
pub type Endpoints = BTreeMap<String, Endpoint>;

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::new(url, vec![("X-Api-Key".to_owned(), SecretString::from("hush-4711"))])
    }

    #[test]
    fn addresses_are_taken_apart_and_odd_ones_refused() {
        let plain = endpoint("http://127.0.0.1:7430/").unwrap();
        assert_eq!((plain.host(), plain.port(), plain.base_path()), ("127.0.0.1", 7430, ""));
        let deep = endpoint("https://tools.example/api/").unwrap();
        assert_eq!((deep.port(), deep.base_path(), deep.is_tls()), (443, "/api", true));
        assert_eq!(endpoint("http://[::1]:80/").unwrap().host(), "::1");
        for wrong in ["ftp://a/", "tools", "http://u:p@a/", "http://a/?x=1", "/v1", ""] {
            assert_eq!(endpoint(wrong).unwrap_err(), EndpointError::Address(wrong.to_owned()));
        }
    }

    #[test]
    fn secrets_are_never_printed() {
        let endpoint = endpoint("http://a/").unwrap();
        assert!(!format!("{endpoint:?}").contains("hush"));
        let (_, value) = endpoint.secret_headers().next().unwrap();
        assert!(!format!("{value:?}").contains("hush"));
        let wrong = vec![("X".to_owned(), SecretString::from("a\nb"))];
        assert_eq!(
            Endpoint::new("http://a/", wrong).unwrap_err(),
            EndpointError::Header("X".to_owned())
        );
    }
}
