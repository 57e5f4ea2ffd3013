//! May the session close: the workflow's condition over what was verified.

use crate::{bundle::workflow::Close, expr::Bindings};

/// The outcome with which the session may close, or nothing.
///
/// `bindings` holds `verified` (how often each write of the session was verified), `case` and
/// `session`. A condition that cannot be evaluated keeps the session open.
#[must_use]
pub fn check_close(close: Option<&Close>, bindings: &Bindings) -> Option<String> {
    let close = close?;
    (close.when.eval_true(bindings) == Ok(true)).then(|| close.outcome.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::expr::{Expr, Roots, Shape};

    fn close(when: &str) -> Close {
        let roots = Roots::new().with("verified", Shape::Any);
        Close { when: Expr::compile(when, &roots).unwrap(), outcome: "lent".to_owned() }
    }

    #[test]
    fn a_session_closes_when_its_condition_holds_and_only_then() {
        let close = close("verified.lend_book >= 1");
        let closes = |verified| {
            let mut bindings = Bindings::new();
            bindings.bind("verified", verified);
            check_close(Some(&close), &bindings)
        };
        assert_eq!(closes(json!({"lend_book": 1})), Some("lent".to_owned()));
        assert_eq!(closes(json!({"lend_book": 0})), None);
        assert_eq!(closes(json!({})), None);
        assert_eq!(check_close(None, &Bindings::new()), None);
    }
}
