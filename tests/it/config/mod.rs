//! The reference of the settings is the one in the repository.

use stateguard::config;

use crate::support::golden;

#[test]
fn the_reference_is_generated_from_the_settings() {
    golden::compare("docs/generated/settings.md", &config::reference());
    golden::compare("docs/generated/settings.schema.json", &format!("{:#}\n", config::schema()));
}
