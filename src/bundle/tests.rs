use std::path::PathBuf;

use super::*;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("policies").join(name)
}

/// The names of all bundles in `policies/`.
fn shipped() -> Vec<String> {
    let entries = std::fs::read_dir(folder("")).unwrap();
    let folders = entries.map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 2, "{names:?}");
    names
}

#[test]
fn the_shipped_bundles_load_without_warnings() {
    for name in shipped() {
        let bundle = Bundle::load(&folder(&name)).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(bundle.warnings, [], "{name}");
        assert_eq!(bundle.name, name);
    }
}

/// The table of the design, word for word in what it decides.
const DESIGN: &[(Risk, [&str; 6])] = &[
    (Risk::Read, ["allow", "allow", "allow", "allow", "allow", "deny"]),
    (Risk::ReadSensitive, ["allow", "allow", "confirmation", "approval", "deny", "deny"]),
    (Risk::Reversible, ["allow", "confirmation", "confirmation", "approval", "approval", "deny"]),
    (
        Risk::Sensitive,
        [
            "confirmation",
            "confirmation + approval",
            "confirmation + approval",
            "approval",
            "deny",
            "deny",
        ],
    ),
    (
        Risk::Financial,
        ["allow", "confirmation + approval", "confirmation", "approval", "approval", "deny"],
    ),
    (
        Risk::Irreversible,
        ["allow", "confirmation + approval", "confirmation + approval", "approval", "deny", "deny"],
    ),
    (
        Risk::Grant,
        ["allow", "confirmation + approval", "confirmation + approval", "approval", "deny", "deny"],
    ),
    (Risk::Egress, ["allow", "confirmation", "confirmation", "approval", "approval", "deny"]),
];

#[test]
fn the_base_rules_are_the_table_of_the_design() {
    let bundle = Bundle::load(&folder("library-desk")).unwrap();
    let matrix = matrix::Matrix::of(&bundle);
    for (row, (risk, expected)) in matrix.rows.iter().zip(DESIGN) {
        assert_eq!(row.risk, *risk);
        for (cell, expected) in row.cells.iter().zip(expected) {
            // In the first column the further situations are those of the design's "if … else".
            let all = cell.answers.len();
            let count = if cell.column == matrix::Column::Clean { 1 } else { all };
            let answers = &cell.answers[..count];
            for answer in answers {
                assert_eq!(answer.text(), *expected, "{risk} {} {}", cell.column, answer.situation);
            }
        }
    }
    let further = |risk: Risk| {
        matrix.rows.iter().find(|row| row.risk == risk).unwrap().cells[0].answers[1].text()
    };
    assert_eq!(further(Risk::Irreversible), "confirmation");
    assert_eq!(further(Risk::Grant), "confirmation");
    assert_eq!(further(Risk::Egress), "approval");
}

fn with_base(name: &str, base: &str) -> Bundle {
    let mut sources = Bundle::load(&folder(name)).unwrap().sources;
    sources.insert(BASE_FILE.to_owned(), base.as_bytes().to_vec());
    Bundle::from_sources(sources).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn deleting_any_base_rule_changes_the_matrix() {
    let bundle = Bundle::load(&folder("library-desk")).unwrap();
    let whole = matrix::Matrix::of(&bundle);
    let base = bundle.policies.rules.iter().filter(|rule| rule.file == BASE_FILE);
    let mut seen = 0;
    for rule in base {
        let probes =
            bundle.policies.probes.iter().map(|(risk, probe)| (*risk, probe.without(&rule.id)));
        assert_ne!(whole, matrix::Matrix::of_probes(&probes.collect()), "{}", rule.id);
        seen += 1;
    }
    assert_eq!(seen, include_str!("../../policies/base.cedar").matches("@id(").count());
}

/// The base file without one statement.
fn without_rule(base: &str, id: &str) -> String {
    let start = base.find(&format!("@id(\"{id}\")")).unwrap();
    let (before, rest) = base.split_at(start);
    format!("{before}{}", rest.split_once(';').unwrap().1)
}

#[test]
fn a_base_file_among_the_sources_wins_and_changes_the_digest() {
    let base = include_str!("../../policies/base.cedar");
    let now = with_base("library-desk", base);
    let then = with_base("library-desk", &without_rule(base, "base/financial-threshold"));
    assert_ne!(now.digest, then.digest);
    assert_eq!(Bundle::from_sources(then.sources.clone()).unwrap().digest, then.digest);
}
