//! Which schema there is and which is wanted.

use sha2::{Digest as _, Sha256};

use crate::store::StoreError;

/// One file of `migrations/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Migration {
    pub(crate) fn checksum(&self) -> String {
        hex::encode(Sha256::digest(self.text))
    }
}

/// Embeds `migrations/<dialect>/<name>.sql`, numbered in order from 1.
macro_rules! migrations {
    ($dialect:literal: $($version:literal $name:literal),+ $(,)?) => {
        &[$($crate::store::sql::Migration {
            version: $version,
            name: $name,
            text: include_str!(concat!("../../../migrations/", $dialect, "/", $name, ".sql")),
        }),+]
    };
}

pub(crate) use migrations;

/// Of `known`, what a database with this history still needs.
pub(crate) fn check_history<'m>(
    history: &[(i64, String, String)],
    known: &'m [Migration],
) -> Result<&'m [Migration], StoreError> {
    let newest = known.last().map_or(0, |migration| migration.version);
    if let Some((found, ..)) = history.last().filter(|(version, ..)| *version > newest) {
        return Err(StoreError::NewerSchema { found: *found, known: newest });
    }
    for ((version, name, checksum), expected) in history.iter().zip(known) {
        if *version != expected.version || *checksum != expected.checksum() {
            return Err(StoreError::Corrupt {
                table: "schema_version",
                key: version.to_string(),
                what: format!("`{name}` was made by other files than this program's"),
            });
        }
    }
    Ok(known.get(history.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Migration] = &[
        Migration { version: 1, name: "0001_a", text: "a" },
        Migration { version: 2, name: "0002_b", text: "b" },
    ];

    fn history(of: &[Migration]) -> Vec<(i64, String, String)> {
        of.iter().map(|m| (m.version, m.name.to_owned(), m.checksum())).collect()
    }

    #[test]
    fn what_is_missing_is_applied_and_nothing_twice() {
        assert_eq!(check_history(&[], KNOWN).unwrap().len(), 2);
        assert_eq!(check_history(&history(&KNOWN[..1]), KNOWN).unwrap()[0].version, 2);
        assert!(check_history(&history(KNOWN), KNOWN).unwrap().is_empty());
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let mut newer = history(KNOWN);
        newer.push((3, "0003_c".to_owned(), String::new()));
        let refused = check_history(&newer, KNOWN).unwrap_err();
        assert_eq!(refused, StoreError::NewerSchema { found: 3, known: 2 });
    }

    #[test]
    fn a_schema_made_by_other_files_is_refused() {
        let mut other = history(KNOWN);
        other[0].2 = "00".to_owned();
        assert!(matches!(check_history(&other, KNOWN), Err(StoreError::Corrupt { .. })));
    }
}
