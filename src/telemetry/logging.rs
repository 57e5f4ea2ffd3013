//! What the daemon says about itself, one line an event, on standard error.
//!
//! Redaction is by type: secrets are `SecretString` or types whose `Debug` shows nothing, and personal values are logged
//! as handles or keyed digests only. No token, argument or content is ever a field.

use std::io;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Why logging could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a log level or a list of directives")]
pub struct LevelError(String);

/// Sends events of this level to standard error. The first call of a process decides; later ones change nothing.
///
/// # Errors
/// When the level is neither a level nor directives.
pub fn init(level: &str, json: bool) -> Result<(), LevelError> {
    let filter = EnvFilter::try_new(level).map_err(|_| LevelError(level.to_owned()))?;
    let registry = tracing_subscriber::registry().with(filter);
    let lines = fmt::layer().with_writer(io::stderr).with_target(true);
    let set = if json {
        registry.with(lines.json().flatten_event(true)).try_init()
    } else {
        registry.with(lines.with_ansi(false)).try_init()
    };
    // Somebody was first, such as another daemon of the same test process.
    drop(set);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_directives_are_accepted_and_nonsense_is_not() {
        assert_eq!(init("warn", true), Ok(()));
        assert_eq!(init("info,stateguard::store=debug", false), Ok(()));
        assert!(init("stateguard=loud", true).is_err());
    }
}
