//! Generated text that is kept in the repository and compared. `STATEGUARD_TEST_BLESS=1` writes it anew.

use std::{fs, path::PathBuf};

/// Compares `text` with the file `path` of the repository.
pub(crate) fn compare(path: &str, text: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    #[allow(clippy::disallowed_methods, reason = "a switch for whoever changes generated text")]
    if std::env::var("STATEGUARD_TEST_BLESS").is_ok() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        kept, text,
        "{path} is out of date; run the tests with STATEGUARD_TEST_BLESS=1 and read the difference"
    );
}
