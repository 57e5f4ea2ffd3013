//! What `bundle new` and `contract new` write loads as it is.

use std::fs;

use stateguard::{
    bundle::Bundle,
    cli::{
        bundle::{self, BundleCommand},
        contract::{self, ContractCommand},
        output::{Exit, Output},
        policy::{self, PolicyCommand},
    },
};

fn new_bundle(folder: &std::path::Path) -> String {
    let mut out = Vec::new();
    let command =
        BundleCommand::New { name: "help-desk".to_owned(), path: Some(folder.to_owned()) };
    assert_eq!(bundle::run(&command, &mut out).unwrap(), Exit::Good);
    String::from_utf8(out).unwrap()
}

fn new_contract(folder: &std::path::Path, name: &str, write: bool) -> (Exit, String) {
    let mut out = Vec::new();
    let command = ContractCommand::New {
        name: name.to_owned(),
        write,
        read: !write,
        bundle: folder.to_owned(),
    };
    let exit = contract::run(&command, &mut out).unwrap();
    (exit, String::from_utf8(out).unwrap())
}

#[test]
fn a_new_bundle_and_new_contracts_load_without_warnings() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("help-desk");
    let said = new_bundle(&folder);
    assert!(said.contains("policy check"), "{said}");
    for (name, write) in [("find_things", false), ("change_item", true), ("close_item", true)] {
        let (exit, said) = new_contract(&folder, name, write);
        assert_eq!(exit, Exit::Good, "{said}");
        let bundle = Bundle::load(&folder).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(bundle.warnings, [], "{name}");
        assert_eq!(bundle.contracts[name].is_read(), !write);
    }
    let manifest = fs::read_to_string(folder.join("bundle.yaml")).unwrap();
    assert!(
        manifest.contains("contracts: [get_item, find_things, change_item, close_item] "),
        "{manifest}"
    );
}

fn run(command: &PolicyCommand) -> (Exit, String) {
    let mut out = Vec::new();
    let exit = policy::run(command, &mut out).unwrap();
    (exit, String::from_utf8(out).unwrap())
}

#[test]
fn the_fixtures_of_a_new_bundle_hold_and_a_new_write_asks_for_more() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("help-desk");
    new_bundle(&folder);
    let test = PolicyCommand::Test { bundle: folder.clone(), write: false, output: Output::Text };
    let (exit, said) = run(&test);
    assert_eq!((exit, said.as_str()), (Exit::Good, "2 cases, 0 failed\n"));
    assert_eq!(new_contract(&folder, "change_item", true).0, Exit::Good);
    let (exit, said) = run(&test);
    assert_eq!(exit, Exit::Bad);
    assert!(said.contains("base/reversible-claimed"), "{said}");
    let json = PolicyCommand::Test { bundle: folder.clone(), write: false, output: Output::Json };
    let report: serde_json::Value = serde_json::from_str(&run(&json).1).unwrap();
    assert_eq!(report["good"], false);
    assert_eq!(report["cases"][1]["holds"], true);
    let (exit, said) =
        run(&PolicyCommand::Test { bundle: folder.clone(), write: true, output: Output::Text });
    assert_eq!(exit, Exit::Good, "{said}");
    assert!(said.contains("with 9 cases; read them"), "{said}");
    let (exit, said) = run(&test);
    assert_eq!(exit, Exit::Good, "{said}");
}

#[test]
fn nothing_is_overwritten_and_bad_names_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("help-desk");
    new_bundle(&folder);
    let again = BundleCommand::New { name: "help-desk".to_owned(), path: Some(folder.clone()) };
    assert_eq!(bundle::run(&again, &mut Vec::new()).unwrap(), Exit::Bad);
    let bad = BundleCommand::New { name: "../x".to_owned(), path: None };
    assert_eq!(bundle::run(&bad, &mut Vec::new()).unwrap(), Exit::Bad);
    assert_eq!(new_contract(&folder, "get_item", false).0, Exit::Bad);
    assert_eq!(new_contract(&folder, "../evil", true).0, Exit::Bad);
    assert_eq!(new_contract(&place.path().join("nowhere"), "x", true).0, Exit::Bad);
}

#[test]
fn a_list_in_block_form_grows_too() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("help-desk");
    new_bundle(&folder);
    let file = folder.join("bundle.yaml");
    let manifest = fs::read_to_string(&file).unwrap();
    let line = manifest.lines().find(|line| line.starts_with("contracts:")).unwrap().to_owned();
    fs::write(&file, manifest.replace(&line, "contracts:\n  - get_item")).unwrap();
    assert_eq!(new_contract(&folder, "change_item", true).0, Exit::Good);
    assert!(fs::read_to_string(&file).unwrap().contains("  - get_item\n  - change_item\n"));
    Bundle::load(&folder).unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn check_and_matrix_print_for_people_and_for_programs() {
    let run = |command: PolicyCommand| run(&command);
    let folder = super::folder("library-desk");
    let (exit, said) = run(PolicyCommand::Check { bundle: folder.clone(), output: Output::Text });
    assert_eq!(exit, Exit::Good);
    assert!(said.starts_with("library-desk 1.0.0 loads: sha256:"), "{said}");
    let (_, said) = run(PolicyCommand::Check { bundle: folder.clone(), output: Output::Json });
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["loads"], true);
    let (_, said) = run(PolicyCommand::Matrix { bundle: folder.clone(), output: Output::Json });
    let matrix: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(matrix["rows"].as_array().unwrap().len(), 8);
    assert_eq!(matrix["rows"][4]["cells"][4]["text"], "approval");
    let (_, said) = run(PolicyCommand::Schema { bundle: folder });
    assert!(said.contains("action \"extend_loan\" in"), "{said}");
    let nowhere = super::folder("no-such-desk");
    let (exit, said) = run(PolicyCommand::Check { bundle: nowhere.clone(), output: Output::Json });
    assert_eq!(exit, Exit::Bad);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["errors"][0]["file"], "bundle.yaml");
    let (exit, _) = run(PolicyCommand::Matrix { bundle: nowhere, output: Output::Text });
    assert_eq!(exit, Exit::Bad);
}
