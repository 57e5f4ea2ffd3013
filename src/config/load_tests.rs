use super::*;
use crate::config::{LogFormat, Mode, Secret, Span};

const FILE: &str = "\
mode: production
grpc: { listen: 127.0.0.1:7420, max_message_bytes: 1048576 }
store: { url: 'sqlite:./stateguard.db' }
bundle: { path: ./policies/library }
identity:
  skew: 5s
  issuers:
    - { issuer: 'https://portal.acme.example', tenant: acme, jwks_file: ./keys/portal.jwks, algorithms: [EdDSA], types: [sg-session] }
seal: { key: { file: ./keys/seal.key } }
tools:
  endpoints: { shop: { base_url: 'http://127.0.0.1:7430/', headers: { X-Api-Key: { env: SHOP_API_KEY } } } }
log: { level: info, format: json }
";

fn with_file(
    text: &str,
    variables: &[(&str, &str)],
    flags: &[&str],
) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stateguard.yaml");
    fs::write(&path, text).unwrap();
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let environment = Environment::of(variables.iter().copied());
    load(&Sources { file: Some(&path), environment, flags: &flags, dev: false })
}

fn error(text: &str, variables: &[(&str, &str)], flags: &[&str]) -> String {
    let error = with_file(text, variables, flags).unwrap_err().to_string();
    error.rsplit_once("/stateguard.yaml").map_or(error.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn the_documented_file_loads() {
    let config = with_file(FILE, &[], &[]).unwrap();
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.identity.issuers[0].types, ["sg-session"]);
    assert_eq!(config.seal.key, Some(Secret::file("./keys/seal.key")));
    assert_eq!(config.http.listen.port(), 7421);
    assert_eq!(with_file("# nothing\n", &[], &[]).unwrap(), Config::default());
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let variables = [
        ("STATEGUARD_GRPC__LISTEN", "127.0.0.1:1"),
        ("STATEGUARD_IDENTITY__SKEW", "1s"),
        ("HOME", "/x"),
    ];
    let flags = ["grpc.listen=127.0.0.1:2", "log.format=text", "bundle.path=a=b"];
    let config = with_file(FILE, &variables, &flags).unwrap();
    assert_eq!(config.grpc.listen.port(), 2);
    assert_eq!(config.identity.skew, Span::parse("1s").unwrap());
    assert_eq!(config.log.format, LogFormat::Text);
    assert_eq!(config.bundle.path.to_str(), Some("a=b"));
    assert_eq!(config.store.url, "sqlite:./stateguard.db");
    let config = with_file(FILE, &variables, &[]).unwrap();
    assert_eq!(config.grpc.listen.port(), 1);
}

#[test]
fn a_value_of_a_source_may_be_a_list_a_number_or_a_text_that_looks_like_one() {
    let issuers =
        r#"identity.issuers=[{issuer: i, tenant: "1", jwks_file: j, types: [sg-person]}]"#;
    let config =
        with_file(FILE, &[], &[issuers, "grpc.max_message_bytes=2048", "log.level=1"]).unwrap();
    assert_eq!(config.identity.issuers[0].tenant, "1");
    assert_eq!(config.grpc.max_message_bytes, 2_048);
    assert_eq!(config.log.level, "1");
}

#[test]
fn an_error_in_the_file_has_its_line() {
    assert!(error("mode: production\nstroe: {}\n", &[], &[]).starts_with(":2:1: "));
    assert!(error("grpc:\n  listen: here\n", &[], &[]).starts_with(":2:"));
    assert!(error("mode: dev\nmode: dev\n", &[], &[]).starts_with(":2:1: "));
    assert!(error("log: { level: info, colour: red }\n", &[], &[]).contains("colour"));
    let literal = error("seal:\n  key: hunter2\n", &[], &[]);
    assert!(literal.starts_with(":2:") && literal.contains("{ file: PATH }"), "{literal}");
    assert!(!literal.contains("hunter2"), "{literal}");
}

#[test]
fn an_error_of_another_source_names_it() {
    let variable = error(FILE, &[("STATEGUARD_GRCP__LISTEN", "127.0.0.1:1")], &[]);
    assert!(
        variable.contains("`STATEGUARD_GRCP__LISTEN`") && variable.contains("grcp"),
        "{variable}"
    );
    let flag = error(FILE, &[], &["identity.skew=soon"]);
    assert!(flag.starts_with("--set identity.skew: ") && flag.contains("soon"), "{flag}");
    assert!(error(FILE, &[], &["mode"]).contains("path=value"));
    assert!(error(FILE, &[], &["mode.more=1"]).contains("no parts"));
    assert!(error(FILE, &[], &["=1"]).contains("names no setting"));
}

#[test]
fn variables_that_are_no_settings_are_left_alone_and_dev_is_a_flag() {
    let variables =
        [("STATEGUARD_TEST_POSTGRES", "x"), ("STATEGUARD_CONFIG", "y"), ("SHOP_API_KEY", "z")];
    assert!(with_file(FILE, &variables, &[]).is_ok());
    let dev = load(&Sources { dev: true, ..Sources::default() }).unwrap();
    assert_eq!(dev.mode, Mode::Dev);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let missing = load(&Sources { file: Some(Path::new("/nowhere.yaml")), ..Sources::default() });
    assert!(missing.unwrap_err().to_string().starts_with("`/nowhere.yaml` cannot be read"));
}
