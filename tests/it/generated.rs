//! Documents that are printed from the code.

use stateguard::domain::{action, reason, session::SessionState};

use crate::support::golden::compare;

#[test]
fn reason_codes_are_documented() {
    let head = "# Reason codes\n\nPrinted from `src/domain/reason.rs`. An agent sees the second column.\n\n";
    compare("docs/generated/reason-codes.md", &format!("{head}{}", reason::table()));
}

#[test]
fn the_life_cycles_are_documented() {
    let head = "# Life of an action\n\nPrinted from `src/domain/action.rs`; what is not listed cannot happen.\n\n";
    compare("docs/generated/action-states.md", &format!("{head}{}", action::table()));
    let mut lines = vec![
        "# Arrows between session states".to_owned(),
        String::new(),
        "Printed from `src/domain/session.rs`.".to_owned(),
        String::new(),
        "| from | to |".to_owned(),
        "|---|---|".to_owned(),
    ];
    for &from in SessionState::ALL {
        for &to in SessionState::ALL {
            if from.leads_to(to) {
                lines.push(format!("| `{from}` | `{to}` |"));
            }
        }
    }
    compare("docs/generated/session-states.md", &(lines.join("\n") + "\n"));
}
