//! Bundles as files: what loads, what does not, and what is said about it.

mod load_errors;
mod matrix;
mod start;

use std::{collections::BTreeMap, path::PathBuf, sync::OnceLock};

use stateguard::bundle::Bundle;

/// The folder of a shipped bundle.
pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("policies").join(name)
}

/// The files of a shipped bundle, the base rules included.
pub(crate) fn sources(name: &str) -> BTreeMap<String, Vec<u8>> {
    static LIBRARY: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    let load = || Bundle::load(&folder(name)).unwrap_or_else(|errors| panic!("{errors}")).sources;
    if name == "library-desk" { LIBRARY.get_or_init(load).clone() } else { load() }
}

/// The same files with one passage of one file changed; the passage must occur exactly once.
pub(crate) fn changed(name: &str, file: &str, from: &str, to: &str) -> BTreeMap<String, Vec<u8>> {
    let mut sources = sources(name);
    let text = String::from_utf8(sources[file].clone()).unwrap();
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
    sources.insert(file.to_owned(), text.replace(from, to).into_bytes());
    sources
}
