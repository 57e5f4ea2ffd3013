//! Settings from their sources: flag before environment before file before default.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Map, Value};

use super::{error::ConfigError, settings::Config};

/// Begins the names of variables that are settings: `STATEGUARD_GRPC__LISTEN` is `grpc.listen`.
const PREFIX: &str = "STATEGUARD_";
/// Variables with that prefix which are no settings.
const NOT_SETTINGS: [&str; 2] = ["STATEGUARD_CONFIG", "STATEGUARD_TEST_"];
/// The largest configuration file, in bytes.
const FILE_MAX_BYTES: usize = 1 << 20;

/// The environment of the process, taken once. `Debug` shows no values.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// That of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// One of these variables.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self(variables.into_iter().map(owned).collect())
    }

    /// One variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Environment").field(&self.0.len()).finish()
    }
}

/// Where settings come from.
#[derive(Debug, Clone, Default)]
pub struct Sources<'a> {
    /// The file.
    pub file: Option<&'a Path>,
    /// The environment.
    pub environment: Environment,
    /// `--set path=value`, in order.
    pub flags: &'a [String],
    /// Whether `serve --dev` was said; a flag like `--set mode=dev`.
    pub dev: bool,
}

/// Loads and merges; [`Config::check`] is a step of its own, since what is missing may still be made (`--dev`).
///
/// # Errors
/// With file, line and column; with the variable; or with the flag.
pub fn load(sources: &Sources<'_>) -> Result<Config, ConfigError> {
    let mut tree = match sources.file {
        Some(path) => read_file(path)?,
        None => Value::Object(Map::new()),
    };
    for (name, value) in &sources.environment.0 {
        if let Some(path) = setting_of(name) {
            let source = format!("environment variable `{name}`");
            overlay(&mut tree, &path, value, &source)?;
        }
    }
    for flag in sources.flags {
        let source = format!("--set {}", flag.split('=').next().unwrap_or_default());
        let Some((path, value)) = flag.split_once('=') else {
            let why = "a setting is given as `--set path=value`".to_owned();
            return Err(ConfigError::Override { source, why });
        };
        overlay(&mut tree, path, value, &source)?;
    }
    if sources.dev {
        overlay(&mut tree, "mode", "dev", "--dev")?;
    }
    config_of(&tree).map_err(|why| ConfigError::setting("configuration", why))
}

/// Read twice on purpose: as settings, so that an error has its line, and as a tree to lay the other sources over.
fn read_file(path: &Path) -> Result<Value, ConfigError> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|e| ConfigError::Unreadable { file: file.clone(), why: e.to_string() })?;
    if text.len() > FILE_MAX_BYTES {
        let why = format!("it is larger than {FILE_MAX_BYTES} bytes");
        return Err(ConfigError::Unreadable { file, why });
    }
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Value::Object(Map::new()));
    }
    let fault = |error: serde_saphyr::Error| {
        let at = error.location().map(|place| (place.line(), place.column()));
        ConfigError::File { file: file.clone(), at, why: first_line(&error.to_string()) }
    };
    serde_saphyr::from_str::<Config>(&text).map_err(fault)?;
    serde_saphyr::from_str::<Value>(&text).map_err(fault)
}

/// The message without the place (we say it ourselves) and without the excerpt.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match line.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest.to_owned(),
        Some(_) | None => line.split(" at line ").next().unwrap_or(line).to_owned(),
    }
}

/// `STATEGUARD_GRPC__LISTEN` → `grpc.listen`; none for variables that are no settings.
fn setting_of(variable: &str) -> Option<String> {
    let rest = variable.strip_prefix(PREFIX)?;
    if NOT_SETTINGS.iter().any(|other| variable.starts_with(other)) {
        return None;
    }
    Some(rest.to_ascii_lowercase().replace("__", "."))
}

/// Puts one value at a path and makes sure that the whole still is a configuration, so that the error names its source.
fn overlay(tree: &mut Value, path: &str, text: &str, source: &str) -> Result<(), ConfigError> {
    let refuse = |why: String| ConfigError::Override { source: source.to_owned(), why };
    let as_text = Value::String(text.to_owned());
    // A value is YAML (`7`, `true`, `[a, b]`), and where that does not fit, the text itself.
    let as_yaml = serde_saphyr::from_str::<Value>(text).unwrap_or_else(|_| as_text.clone());
    let mut first_fault = None;
    for value in [as_yaml, as_text] {
        let mut changed = tree.clone();
        put(&mut changed, path, value).map_err(&refuse)?;
        match config_of(&changed) {
            Ok(_) => {
                *tree = changed;
                return Ok(());
            }
            Err(why) => {
                first_fault.get_or_insert(why);
            }
        }
    }
    Err(refuse(first_fault.unwrap_or_default()))
}

fn put(tree: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let mut place = tree;
    for part in path.split('.') {
        if part.is_empty() {
            return Err(format!("`{path}` names no setting"));
        }
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(map) = place else {
            return Err(format!("`{path}` names no setting: what is before `{part}` has no parts"));
        };
        place = map.entry(part).or_insert(Value::Null);
    }
    *place = value;
    Ok(())
}

fn config_of(tree: &Value) -> Result<Config, String> {
    serde_json::from_value(tree.clone()).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
