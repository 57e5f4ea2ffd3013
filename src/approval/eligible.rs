//! Who may vote: a role of the rule, and no part in what is decided. There is no exception and no
//! key for one.

use std::collections::BTreeSet;

/// Whether this person may vote on a question that these roles answer and these were involved in.
#[must_use]
pub fn may_vote(
    person: &str,
    roles: &BTreeSet<String>,
    wanted: &[String],
    involved: &[&str],
) -> bool {
    let entitled = wanted.iter().any(|role| roles.contains(role));
    entitled && !involved.contains(&person)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entitled_outsider_may_and_nobody_else() {
        let roles: BTreeSet<String> = ["approver".to_owned(), "loans".to_owned()].into();
        let wanted = ["loans".to_owned()];
        assert!(may_vote("ann", &roles, &wanted, &["p_1", "svc"]));
        assert!(!may_vote("p_1", &roles, &wanted, &["p_1", "svc"]), "the principal himself");
        assert!(!may_vote("svc", &roles, &wanted, &["p_1", "svc"]), "the agent");
        assert!(
            !may_vote("ann", &["approver".to_owned()].into(), &wanted, &[]),
            "without the role"
        );
        assert!(!may_vote("ann", &roles, &[], &[]), "a rule without roles");
    }
}
