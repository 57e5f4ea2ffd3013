//! The decision matrix as it stands in the documentation.

use std::{fs, path::Path};

use stateguard::bundle::{Bundle, matrix::Matrix};

#[test]
fn the_documented_matrix_is_the_one_that_the_base_rules_give() {
    let bundle = Bundle::load(&super::folder("library-desk")).unwrap();
    let text = Matrix::of(&bundle).render(&bundle);
    // The digest changes with every word of the bundle; the table does not.
    let table = text.split_once("\n\n").map(|(_, table)| table).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/generated/decision-matrix.txt");
    let documented = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(documented, table, "regenerate {}", file.display());
}

#[test]
fn a_replaced_rule_changes_its_cell_and_is_listed_with_its_reason() {
    let sources = super::changed(
        "library-desk",
        "bundle.yaml",
        "words_may_ask: [reversible]",
        "replace: [{ policy: base/reversible-unnamed, because: 'loans are numbered on the card' }]",
    );
    let bundle = Bundle::from_sources(sources).unwrap_or_else(|errors| panic!("{errors}"));
    let matrix = Matrix::of(&bundle);
    let text = matrix.render(&bundle);
    assert!(text.contains("confirmation (not clean), allow (not named)"), "{text}");
    assert!(text.contains("base/reversible-unnamed: loans are numbered on the card"), "{text}");
    assert_eq!(matrix.to_json(&bundle)["replaced"][0]["policy"], "base/reversible-unnamed");
}
