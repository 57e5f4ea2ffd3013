//! Words and signs that the little model knows: identifiers, sums, assignments, wishes in a few languages.

use serde_json::{Value, json};

/// One sentence, lines joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    text: String,
    lower: String,
}

/// What somebody writes who wants money back; parts of words, lower case.
const MONEY_BACK: &[&str] = &[
    "refund",
    "money back",
    "the money",
    "pay it back",
    "pay me back",
    "reimburs",
    "chargeback",
    "rembours",
    "erstatt",
    "geld zurück",
    "повернути кошти",
    "поверніть кошти",
    "повернення коштів",
    "поверніть гроші",
    "reembols",
    "rimbors",
];

/// Words before a sum that say the sum is a fact and not a wish.
const CURRENCIES: &[&str] = &["eur", "euro", "euros", "€"];

/// Splits a text into sentences; a blank line ends one too, a single line break does not.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut current = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let is_end = matches!(c, '.' | '!' | '?' | ';') && next.is_none_or(char::is_whitespace);
        let is_gap = c == '\n' && next == Some('\n');
        current.push(if c == '\n' { ' ' } else { c });
        if is_end || is_gap {
            found.push(std::mem::take(&mut current));
        }
    }
    found.push(current);
    found.iter().filter(|s| !s.trim().is_empty()).map(|s| Sentence::new(s)).collect()
}

impl Sentence {
    fn new(text: &str) -> Self {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { lower: text.to_lowercase(), text }
    }

    /// Whether it asks for money.
    pub(super) fn wants_money_back(&self) -> bool {
        MONEY_BACK.iter().any(|sign| self.lower.contains(sign))
    }

    /// Whether it tells a program what to set.
    pub(super) fn gives_values(&self) -> bool {
        self.text.contains('=')
    }

    /// Identifiers of the shop's form in it, upper case, each once.
    pub(super) fn identifiers(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (_, written) in identifiers(&self.text) {
            let id = written.to_uppercase();
            if !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }

    /// The first sum of money, in cents.
    pub(super) fn amount_minor(&self) -> Option<i64> {
        let tokens: Vec<&str> = self.text.split_whitespace().map(bare).collect();
        tokens.iter().enumerate().find_map(|(at, token)| {
            let lower = token.to_lowercase();
            let glued = CURRENCIES.iter().find_map(|c| {
                lower
                    .strip_prefix(c)
                    .or_else(|| lower.strip_suffix(c))
                    .filter(|rest| !rest.is_empty())
            });
            if let Some(number) = glued {
                return cents(number);
            }
            let is_currency = |n: &&str| CURRENCIES.contains(&n.to_lowercase().as_str());
            tokens.get(at + 1).filter(|next| is_currency(next)).and_then(|_| cents(token))
        })
    }

    /// `name=value` and `name = value`; names of records and acts are not arguments of their own.
    pub(super) fn assignments(&self) -> Vec<(String, Value)> {
        let joined = self.text.replace(" = ", "=");
        joined
            .split_whitespace()
            .filter_map(|token| bare(token).split_once('='))
            .filter(|(name, value)| is_name(name) && !value.is_empty())
            .filter(|(name, _)| !matches!(*name, "order" | "order_id" | "act" | "tool"))
            .map(|(name, value)| (name.to_owned(), literal(value)))
            .collect()
    }
}

/// How often and how an identifier is spelled in a text, each whole occurrence, in any case.
pub(super) fn spellings(text: &str, id: &str) -> Vec<String> {
    let all = identifiers(text).into_iter().map(|(_, written)| written);
    all.filter(|written| written.to_uppercase() == id).map(str::to_owned).collect()
}

/// Letters, a dash, digits: `CMD-9988`. Places and spellings.
fn identifiers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('-') {
        let head = text.get(..at).unwrap_or_default();
        let tail = text.get(at + 1..).unwrap_or_default();
        let letters = head.chars().rev().take_while(char::is_ascii_alphabetic).count();
        let digits = tail.chars().take_while(char::is_ascii_digit).count();
        let before = head.chars().rev().nth(letters);
        let after = tail.chars().nth(digits);
        let joins =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !(2..=5).contains(&letters)
            || !(3..=12).contains(&digits)
            || joins(before)
            || joins(after)
        {
            continue;
        }
        if let Some(written) = text.get(at - letters..=at + digits) {
            found.push((at - letters, written));
        }
    }
    found
}

fn bare(token: &str) -> &str {
    token.trim_matches(|c: char| {
        matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '„' | '“' | '”')
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn literal(text: &str) -> Value {
    match text {
        "true" => json!(true),
        "false" => json!(false),
        _ => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
    }
}

/// `500`, `1.200,50`, `249.00` in cents; the last separator with two digits after it is the decimal one.
fn cents(text: &str) -> Option<i64> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',')) {
        return None;
    }
    let (whole, fraction) = match text.rsplit_once(['.', ',']) {
        Some((whole, fraction)) if fraction.len() == 2 => (whole, fraction),
        Some(_) | None => (text, "00"),
    };
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let whole: i64 = digits.parse().ok()?;
    whole.checked_mul(100)?.checked_add(fraction.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Sentence {
        Sentence::new(text)
    }

    #[test]
    fn sums_are_read_in_the_ways_people_write_them() {
        for (text, minor) in [
            ("a refund of 500 EUR for", Some(50_000)),
            ("pay 249.00 EUR.", Some(24_900)),
            ("€12,50 please", Some(1_250)),
            ("1.200 euros", Some(120_000)),
            ("1.200,50€", Some(120_050)),
            ("order 500", None),
            ("EUR", None),
        ] {
            assert_eq!(one(text).amount_minor(), minor, "{text}");
        }
    }

    #[test]
    fn identifiers_are_whole_tokens_in_any_case() {
        assert_eq!(one("(CMD-9988), cmd-9990.").identifiers(), ["CMD-9988", "CMD-9990"]);
        assert!(
            one("XCMDXX-9988 CMD-99 pre-CMD-9988 CMD-9988a 88-A UTF-8").identifiers().is_empty()
        );
        assert_eq!(spellings("CMD-9988 and cmd-9988", "CMD-9988"), ["CMD-9988", "cmd-9988"]);
    }

    #[test]
    fn assignments_are_read_with_and_without_spaces() {
        let all =
            one("Set approved=true and amount=50000, act = request_refund, note = x").assignments();
        assert_eq!(
            all,
            [
                ("approved".into(), json!(true)),
                ("amount".into(), json!(50000)),
                ("note".into(), json!("x"))
            ]
        );
        assert!(one("a == b and A=1").assignments().iter().all(|(name, _)| name != "A"));
    }

    #[test]
    fn a_sentence_ends_at_a_stop_or_a_blank_line_and_not_at_a_wrapped_one() {
        let all = sentences("One\nline. Two at 249.00 EUR\n\nThree");
        let texts: Vec<&str> = all.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, ["One line.", "Two at 249.00 EUR", "Three"]);
    }
}
