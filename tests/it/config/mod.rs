//! The reference of the settings is the one in the repository, and the sample is a configuration.

use std::path::Path;

use stateguard::config::{self, Environment, Sources};

use crate::support::golden;

#[test]
fn the_reference_is_generated_from_the_settings() {
    golden::compare("docs/generated/settings.md", &config::reference());
    golden::compare("docs/generated/settings.schema.json", &format!("{:#}\n", config::schema()));
}

#[test]
fn the_sample_is_a_configuration() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/samples/stateguard.yaml");
    let environment = Environment::of([("SHOP_API_KEY", "k")]);
    let sources = Sources { file: Some(&sample), environment, flags: &[], dev: false };
    let loaded = config::load(&sources).unwrap();
    assert_eq!(loaded.identity.issuers.len(), 3);
    let flags = ["grpc.lissten=127.0.0.1:1".to_owned()];
    assert!(
        config::load(&Sources { flags: &flags, ..sources }).is_err(),
        "unknown keys are refused"
    );
}
