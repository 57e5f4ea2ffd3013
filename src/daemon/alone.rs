//! One daemon a SQLite file: it takes up what another left on the way, so two would take up each other's.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::error::DaemonError;

/// Held as long as the daemon runs; the system gives it back however the process ends.
#[derive(Debug)]
pub(super) struct Alone {
    _lock: File,
}

/// Takes the file's lock, which lies beside it.
pub(super) fn claim(database: &Path) -> Result<Alone, DaemonError> {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let refuse = |why: String| DaemonError::Serve(format!("`{}`: {why}", path.display()));
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| refuse(error.to_string()))?;
    match lock.try_lock() {
        Ok(()) => Ok(Alone { _lock: lock }),
        Err(TryLockError::WouldBlock) => Err(refuse(
            "another daemon runs on this database; several daemons need PostgreSQL".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(refuse(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_daemon_on_one_file_is_refused_until_the_first_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let first = claim(&database).unwrap();
        let refused = claim(&database).unwrap_err().to_string();
        assert!(refused.contains("another daemon"), "{refused}");
        assert!(claim(&folder.path().join("b.db")).is_ok());
        drop(first);
        assert!(claim(&database).is_ok());
    }
}
