//! Who may call what, as the API really is.

use std::collections::BTreeSet;

use prost::Message;
use stateguard::{
    identity::rights::{Right, Rpc},
    pb::FILE_DESCRIPTORS,
};

use crate::support::golden;

fn methods_of_the_api() -> BTreeSet<String> {
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTORS).unwrap();
    let files = set.file.into_iter().filter(|file| file.package() == "stateguard.v1");
    files
        .flat_map(|file| file.service)
        .flat_map(|service| {
            let name = service.name().to_owned();
            service.method.into_iter().map(move |method| format!("{name}/{}", method.name()))
        })
        .collect()
}

#[test]
fn every_method_of_the_api_has_a_row_and_no_row_is_without_method() {
    let rows: BTreeSet<String> = Rpc::ALL.iter().map(|rpc| rpc.as_str().to_owned()).collect();
    assert_eq!(rows, methods_of_the_api());
}

#[test]
fn the_permission_matrix_is_the_one_that_was_agreed() {
    let mut table = String::from(
        "# Who may call what\n\nGenerated; the source is `src/identity/rights.rs`. A call needs one of the rights marked in its row.\n\n| call |",
    );
    for right in Right::ALL {
        table.push_str(&format!(" `{}` |", right.as_str()));
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(Right::ALL.len()));
    for rpc in Rpc::ALL {
        table.push_str(&format!("\n| {} |", rpc.as_str()));
        for right in Right::ALL {
            table.push_str(if rpc.rights().contains(&right) { " x |" } else { " |" });
        }
    }
    table.push('\n');
    golden::compare("docs/generated/permissions.md", &table);
}
