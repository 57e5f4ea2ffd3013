use std::path::PathBuf;

use super::*;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("policies").join(name)
}

#[test]
fn the_shipped_bundles_load_without_warnings() {
    for name in ["refund-desk"] {
        let bundle = Bundle::load(&folder(name)).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(bundle.warnings, [], "{name}");
        assert_eq!(bundle.name, name);
    }
}
