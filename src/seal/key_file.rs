//! The key file: one line a key, the first one seals, the others only open what they sealed earlier.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::derive::Secret;
use crate::domain::clock::Entropy;

const PREFIX: &str = "stateguard-seal-1";
/// More keys than this in one file is a mistake, not a rotation.
const MAX_KEYS: usize = 16;

/// Names one key of the file; stored with every sealed row. Derived from the key, so it cannot be mixed up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// The id as it stands in a sealed row.
    pub fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The four bytes that a sealed row carries.
    pub fn to_bytes(self) -> [u8; 4] {
        self.0
    }

    fn of(key: &[u8; 32]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"stateguard/key-id/v1");
        hasher.update(key);
        let digest: [u8; 32] = hasher.finalize().into();
        let [a, b, c, d, ..] = digest;
        Self([a, b, c, d])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// The keys of one installation. `Debug` shows ids, never keys.
pub struct KeyFile {
    keys: Vec<(KeyId, Secret)>,
}

impl KeyFile {
    /// A new file with one fresh key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        entropy.fill(&mut *key);
        Self { keys: vec![(KeyId::of(&key), key)] }
    }

    /// Reads the text of a key file: `stateguard-seal-1 KEY_ID KEY` per line, `#` starts a comment line.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut keys: Vec<(KeyId, Secret)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (id, key) = parse_line(line).map_err(|what| KeyFileError::Line(index + 1, what))?;
            if keys.iter().any(|(known, _)| *known == id) {
                return Err(KeyFileError::Line(index + 1, LineFault::Repeated));
            }
            keys.push((id, key));
        }
        match keys.len() {
            0 => Err(KeyFileError::Empty),
            1..=MAX_KEYS => Ok(Self { keys }),
            _ => Err(KeyFileError::TooMany),
        }
    }

    /// The text to write; wiped when dropped. The file should be readable by the daemon's user only.
    pub fn render(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::from(
            "# Stateguard seal keys. The first line seals, later lines only open. Keep it secret, keep a copy.\n",
        ));
        for (id, key) in &self.keys {
            let encoded = Zeroizing::new(URL_SAFE_NO_PAD.encode(key.as_slice()));
            text.push_str(&format!("{PREFIX} {id} "));
            text.push_str(&encoded);
            text.push('\n');
        }
        text
    }

    /// The key that seals.
    pub fn active(&self) -> Option<KeyId> {
        self.keys.first().map(|(id, _)| *id)
    }

    pub(crate) fn into_keys(self) -> Vec<(KeyId, Secret)> {
        self.keys
    }
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<KeyId> = self.keys.iter().map(|(id, _)| *id).collect();
        f.debug_struct("KeyFile").field("ids", &ids).field("keys", &"[redacted]").finish()
    }
}

fn parse_line(line: &str) -> Result<(KeyId, Secret), LineFault> {
    let mut words = line.split_ascii_whitespace();
    let (Some(PREFIX), Some(id), Some(key), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(LineFault::Form);
    };
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(key).map_err(|_| LineFault::Key)?);
    let mut secret = Zeroizing::new([0; 32]);
    if bytes.len() != secret.len() {
        return Err(LineFault::Key);
    }
    secret.copy_from_slice(&bytes);
    let derived = KeyId::of(&secret);
    if id != derived.to_string() { Err(LineFault::Id) } else { Ok((derived, secret)) }
}

/// Why a key file cannot be used. Never holds a part of a key.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum KeyFileError {
    /// No key in it.
    #[error("the seal key file holds no key; write one with `stateguard keys new`")]
    Empty,
    /// More keys than any rotation needs.
    #[error("the seal key file holds more than {MAX_KEYS} keys; remove those whose rows are gone")]
    TooMany,
    /// One line is wrong.
    #[error("line {0} of the seal key file {1}")]
    Line(usize, LineFault),
}

/// What is wrong with one line.
#[derive(Debug, Clone, Copy, thiserror::Error, PartialEq, Eq)]
pub enum LineFault {
    /// Not three words of the known version.
    #[error("is not `{PREFIX} KEY_ID KEY`")]
    Form,
    /// The key is not 32 bytes of unpadded base64url.
    #[error("does not hold 32 bytes in base64url")]
    Key,
    /// The id is not that of the key.
    #[error("names a key id that does not belong to its key; a character was changed")]
    Id,
    /// The same key twice.
    #[error("repeats a key")]
    Repeated,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::test_entropy::CountingEntropy;

    #[test]
    fn a_written_file_reads_back_to_the_same_key() {
        let file = KeyFile::generate(&CountingEntropy::new(3));
        let again = KeyFile::parse(&file.render()).unwrap();
        assert_eq!(file.active(), again.active());
        assert_eq!(*file.keys[0].1, *again.keys[0].1);
    }

    #[test]
    fn debug_shows_no_key() {
        let file = KeyFile::generate(&CountingEntropy::new(3));
        let key = URL_SAFE_NO_PAD.encode(file.keys[0].1.as_slice());
        let shown = format!("{file:?}");
        assert!(!shown.contains(&key) && shown.contains("redacted"), "{shown}");
    }

    #[test]
    fn a_changed_character_is_named_with_its_line() {
        let file = KeyFile::generate(&CountingEntropy::new(3));
        let text = file.render();
        let mut broken = text.trim_end().to_owned();
        let swapped = if broken.ends_with('A') { 'E' } else { 'A' };
        broken.replace_range(broken.len() - 2..broken.len() - 1, &swapped.to_string());
        assert_eq!(KeyFile::parse(&broken).unwrap_err(), KeyFileError::Line(2, LineFault::Id));
    }

    #[test]
    fn empty_short_repeated_and_unknown_lines_are_refused() {
        let line = KeyFile::generate(&CountingEntropy::new(3)).render().to_string();
        assert_eq!(KeyFile::parse("# nothing\n").unwrap_err(), KeyFileError::Empty);
        let twice = format!("{line}{line}");
        assert_eq!(KeyFile::parse(&twice).unwrap_err(), KeyFileError::Line(4, LineFault::Repeated));
        let short = "stateguard-seal-1 00000000 AAAA";
        assert_eq!(KeyFile::parse(short).unwrap_err(), KeyFileError::Line(1, LineFault::Key));
        assert_eq!(KeyFile::parse("key").unwrap_err(), KeyFileError::Line(1, LineFault::Form));
    }
}
