//! Handles: `<kind>_<26 characters>`, a UUIDv7 in Crockford base 32, so that ids sort by time and
//! carry nothing personal.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::clock::{Clock, Entropy};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of the part after the underscore.
pub const HANDLE_TAIL: usize = 26;
/// The longest kind of a handle, in bytes.
pub const KIND_MAX_BYTES: usize = 32;

/// Why a text is not a handle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a handle of kind `{kind}`")]
pub struct NotAHandle {
    /// What was given, shortened to 64 characters.
    pub text: String,
    /// The kind that was expected.
    pub kind: String,
}

fn is_tail(tail: &str) -> bool {
    tail.len() == HANDLE_TAIL && tail.bytes().all(|b| ALPHABET.contains(&b))
}

fn is_kind(kind: &str) -> bool {
    !kind.is_empty()
        && kind.len() <= KIND_MAX_BYTES
        && kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn refuse(text: &str, kind: &str) -> NotAHandle {
    NotAHandle { text: text.chars().take(64).collect(), kind: kind.to_owned() }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The part before the underscore.
            pub const KIND: &'static str = $kind;

            /// Reads a handle of this kind.
            ///
            /// # Errors
            /// When the text has another kind or form.
            pub fn parse(text: &str) -> Result<Self, NotAHandle> {
                match text.rsplit_once('_') {
                    Some((kind, tail)) if kind == $kind && is_tail(tail) => {
                        Ok(Self(text.to_owned()))
                    }
                    Some(_) | None => Err(refuse(text, $kind)),
                }
            }

            /// The handle as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAHandle;
            fn try_from(text: String) -> Result<Self, NotAHandle> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

handle!(
    /// Names a session.
    SessionId, "ses");
handle!(
    /// Names an action.
    ActionId, "act");
handle!(
    /// Names an entry of the decision log.
    EntryId, "ent");
handle!(
    /// Names the stored inputs of one decision.
    InputsRef, "dec");
handle!(
    /// Names a question to a person: a confirmation or an approval.
    QuestionId, "que");
handle!(
    /// Names a quarantined response.
    QuarantineId, "qua");

/// Names a datum; the kind is the datum's own (`mail_…`, `loan_…`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DatumId(String);

impl DatumId {
    /// Reads a handle of any kind.
    ///
    /// # Errors
    /// When the text has not the form of a handle.
    pub fn parse(text: &str) -> Result<Self, NotAHandle> {
        match text.rsplit_once('_') {
            Some((kind, tail)) if is_kind(kind) && is_tail(tail) => Ok(Self(text.to_owned())),
            Some(_) | None => Err(refuse(text, "datum")),
        }
    }

    /// The handle as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind, such as `mail`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.0.rsplit_once('_').map_or("", |(kind, _)| kind)
    }
}

impl fmt::Display for DatumId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DatumId {
    type Error = NotAHandle;
    fn try_from(text: String) -> Result<Self, NotAHandle> {
        Self::parse(&text)
    }
}

impl From<DatumId> for String {
    fn from(id: DatumId) -> String {
        id.0
    }
}

/// Names a tenant: 1 to 64 characters of `a-z 0-9 - _ .`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(String);

impl TenantId {
    /// Reads a tenant name.
    ///
    /// # Errors
    /// When it is empty, too long or has other characters.
    pub fn parse(text: &str) -> Result<Self, NotAHandle> {
        let fits = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b));
        if fits { Ok(Self(text.to_owned())) } else { Err(refuse(text, "tenant")) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TenantId {
    type Error = NotAHandle;
    fn try_from(text: String) -> Result<Self, NotAHandle> {
        Self::parse(&text)
    }
}

impl From<TenantId> for String {
    fn from(id: TenantId) -> String {
        id.0
    }
}

/// Mints handles from the injected clock and randomness.
#[derive(Debug, Clone)]
pub struct IdSource {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl IdSource {
    /// A source over this clock and this randomness.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy }
    }

    fn tail(&self) -> String {
        let mut random = [0_u8; 10];
        self.entropy.fill(&mut random);
        let millis = u64::try_from(self.clock.now().micros() / 1_000).unwrap_or(0);
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
        encode(id.as_u128())
    }

    /// A new session handle.
    #[must_use]
    pub fn session(&self) -> SessionId {
        SessionId(format!("{}_{}", SessionId::KIND, self.tail()))
    }

    /// A new action handle.
    #[must_use]
    pub fn action(&self) -> ActionId {
        ActionId(format!("{}_{}", ActionId::KIND, self.tail()))
    }

    /// A new entry handle.
    #[must_use]
    pub fn entry(&self) -> EntryId {
        EntryId(format!("{}_{}", EntryId::KIND, self.tail()))
    }

    /// A new handle for decision inputs.
    #[must_use]
    pub fn inputs(&self) -> InputsRef {
        InputsRef(format!("{}_{}", InputsRef::KIND, self.tail()))
    }

    /// A new question handle.
    #[must_use]
    pub fn question(&self) -> QuestionId {
        QuestionId(format!("{}_{}", QuestionId::KIND, self.tail()))
    }

    /// A new quarantine handle.
    #[must_use]
    pub fn quarantine(&self) -> QuarantineId {
        QuarantineId(format!("{}_{}", QuarantineId::KIND, self.tail()))
    }

    /// A new datum handle of this kind.
    ///
    /// # Errors
    /// When the kind is not 1 to 32 characters of `a-z 0-9 _`.
    pub fn datum(&self, kind: &str) -> Result<DatumId, NotAHandle> {
        if is_kind(kind) {
            Ok(DatumId(format!("{kind}_{}", self.tail())))
        } else {
            Err(refuse(kind, "datum"))
        }
    }
}

fn encode(value: u128) -> String {
    (0..HANDLE_TAIL)
        .rev()
        .map(|place| {
            let digit = usize::try_from((value >> (5 * place)) & 31).unwrap_or(0);
            char::from(ALPHABET.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::clock::Timestamp;

    #[derive(Debug)]
    struct Fixed;
    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(1_767_603_600_000_000)
        }
    }
    impl Entropy for Fixed {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(7);
        }
    }

    #[test]
    fn a_handle_reads_back_and_foreign_kinds_are_refused() {
        let ids = IdSource::new(Arc::new(Fixed), Arc::new(Fixed));
        let session = ids.session();
        assert_eq!(SessionId::parse(session.as_str()), Ok(session.clone()));
        assert!(ActionId::parse(session.as_str()).is_err());
        assert!(SessionId::parse("ses_short").is_err());
        assert_eq!(ids.datum("mail").unwrap().kind(), "mail");
        assert!(ids.datum("Mail").is_err());
    }

    #[test]
    fn handles_sort_by_time() {
        assert!(encode(1_u128 << 100) < encode(2_u128 << 100));
        assert_eq!(encode(u128::MAX).len(), HANDLE_TAIL);
    }
}
