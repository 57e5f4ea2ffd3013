//! Naming: did the principal's own words hold this identifier, as one of this type?

use std::collections::BTreeSet;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// The tokens of all statements that are not spent yet. One token backs one role of one intent.
#[derive(Debug, Clone)]
pub struct Statements {
    words: Vec<String>,
    spent: BTreeSet<(usize, usize)>,
}

impl Statements {
    /// Over the typed words of a session's statements.
    #[must_use]
    pub fn new(words: &[String]) -> Self {
        Self {
            words: words.iter().map(|text| text.nfc().collect()).collect(),
            spent: BTreeSet::new(),
        }
    }

    /// Whether a statement names `value` as a record of type `ty`; spends the token that does.
    ///
    /// A mixed identifier (`B-17`) stands for itself. A plain number stands for a record only
    /// beside its type: `event 13` names no file 13, and the 13 of `June 13` names nothing.
    pub fn name(&mut self, ty: Option<&str>, value: &Value) -> bool {
        let Some(identifier) = identifier(value) else { return false };
        let found = self.words.iter().enumerate().find_map(|(statement, text)| {
            places(text, &identifier)
                .into_iter()
                .filter(|at| !self.spent.contains(&(statement, *at)))
                .find(|at| !is_number(&identifier) || ty.is_some_and(|ty| is_typed(text, *at, ty)))
                .map(|at| (statement, at))
        });
        match found {
            Some(token) => self.spent.insert(token),
            None => false,
        }
    }
}

fn identifier(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text: String = text.trim().nfc().collect();
            // A word of letters alone ("loan", "all") is language, not an identifier.
            let is_id = text.chars().any(|c| c.is_ascii_digit()) || text.contains('@');
            (is_id && text.len() >= 2 || is_number(&text)).then_some(text)
        }
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
}

/// Where `identifier` stands as a whole token: letters, digits and the marks that join identifiers
/// (`-`, `_`, `/`, `@`) do not touch it; a full stop or comma may end a sentence after it.
fn places(text: &str, identifier: &str) -> Vec<usize> {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@' | '#' | '+');
    text.match_indices(identifier)
        .filter(|(at, found)| {
            let before = text.get(..*at).and_then(|head| head.chars().next_back());
            let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
            let next = after.next();
            // `.5` or `,000` goes on as one number; `. ` ends a sentence.
            let goes_on = matches!(next, Some('.' | ',' | ':'))
                && after.next().is_some_and(char::is_alphanumeric);
            let hash = before == Some('#') && is_number(identifier);
            (!before.is_some_and(joins) || hash) && !next.is_some_and(joins) && !goes_on
        })
        .map(|(at, _)| at)
        .collect()
}

/// Whether the word right before the place is the type, `#`, `no.` or `number` between them allowed.
fn is_typed(text: &str, at: usize, ty: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let mut words = before
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .rev()
        .map(str::to_lowercase);
    let ty = ty.to_lowercase();
    match words.next() {
        Some(word) if word == ty => true,
        Some(word) if matches!(word.as_str(), "no" | "number" | "nr" | "n") => {
            words.next().is_some_and(|word| word == ty)
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(words: &str, ty: &str, value: Value) -> bool {
        Statements::new(&[words.to_owned()]).name(Some(ty), &value)
    }

    #[test]
    fn a_mixed_identifier_stands_for_itself_as_a_whole_token() {
        assert!(names("please renew B-17.", "Loan", json!("B-17")));
        assert!(names("(B-17)", "Loan", json!("B-17")));
        assert!(!names("please renew B-171", "Loan", json!("B-17")));
        assert!(!names("please renew AB-17", "Loan", json!("B-17")));
        assert!(!names("please renew b-17", "Loan", json!("B-17")), "never fuzzy");
        assert!(!names("B-17.5 apples", "Loan", json!("B-17")));
    }

    #[test]
    fn a_plain_number_names_only_beside_its_type() {
        assert!(names("delete file 13", "File", json!("13")));
        assert!(names("delete File #13", "File", json!(13)));
        assert!(names("delete file no. 13", "File", json!(13)));
        assert!(!names("event 13", "File", json!("13")));
        assert!(!names("on June 13", "File", json!("13")));
        assert!(!names("13", "File", json!("13")));
    }

    #[test]
    fn one_token_backs_one_role() {
        let mut statements = Statements::new(&["move B-17 there".to_owned()]);
        assert!(statements.name(Some("Loan"), &json!("B-17")));
        assert!(!statements.name(Some("Shelf"), &json!("B-17")));
        let mut twice = Statements::new(&["from B-17 to B-17".to_owned()]);
        assert!(twice.name(Some("Loan"), &json!("B-17")));
        assert!(twice.name(Some("Shelf"), &json!("B-17")));
    }

    #[test]
    fn words_of_language_are_no_identifiers() {
        assert!(!names("renew all of them", "Loan", json!("all")));
    }
}
