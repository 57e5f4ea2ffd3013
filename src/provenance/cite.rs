//! Citations: the datum is read again and compared; a claim that does not hold earns nothing.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::domain::{
    datum::{Content, Datum},
    intent::{Citation, CitedPlace},
    label::Label,
    pointer::Pointer,
};

/// What became of one citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cited {
    /// The datum holds exactly this value there; its label, with the datum among the sources.
    Holds(Label),
    /// The place exists and holds another value.
    Differs,
    /// The value does not stand there exactly once, or the place does not exist.
    Fails,
    /// The session has no such datum.
    UnknownDatum,
}

/// Checks one citation of `value` against the session's data.
#[must_use]
pub fn check(citation: &Citation, value: &Value, data: &[Datum]) -> Cited {
    let Some(datum) = data.iter().find(|datum| datum.id.as_str() == citation.datum) else {
        return Cited::UnknownDatum;
    };
    match &citation.place {
        CitedPlace::Pointer(pointer) => by_pointer(datum, pointer, value),
        CitedPlace::Text { pointer, exact } => by_text(datum, pointer, exact, value),
    }
}

fn by_pointer(datum: &Datum, pointer: &Pointer, value: &Value) -> Cited {
    match datum.content.at(pointer) {
        None => Cited::Fails,
        Some(held) if same(&held, value) => Cited::Holds(label_at(datum, pointer)),
        Some(_) => Cited::Differs,
    }
}

fn by_text(datum: &Datum, pointer: &Pointer, exact: &str, value: &Value) -> Cited {
    let Some(Value::String(text)) = datum.content.at(pointer) else {
        return Cited::Fails;
    };
    let (text, span) = (normal(&text), normal(exact));
    // Once at all, and there as a whole: `B-1` neither counts inside `B-11` nor beside it.
    if span.is_empty() || text.matches(&span).count() != 1 || occurrences(&text, &span) != 1 {
        return Cited::Fails;
    }
    if same(&Value::String(exact.to_owned()), value) || number_text(value) == Some(normal(exact)) {
        Cited::Holds(label_at(datum, pointer))
    } else {
        Cited::Differs
    }
}

/// The label of a place of a datum, with the datum among the sources.
#[must_use]
pub fn label_at(datum: &Datum, pointer: &Pointer) -> Label {
    datum.labels.at(pointer).with_source(datum.id.as_str())
}

/// Equal after the only normalisation there is: Unicode NFC and trimmed white space.
fn same(held: &Value, value: &Value) -> bool {
    match (held, value) {
        (Value::String(held), Value::String(value)) => normal(held) == normal(value),
        (held, value) => held == value,
    }
}

fn normal(text: &str) -> String {
    text.trim().nfc().collect()
}

fn number_text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// How often `needle` stands in `text` as a whole token, overlaps counted: a longer number or
/// identifier that merely contains it is another value.
#[must_use]
pub fn occurrences(text: &str, needle: &str) -> usize {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let first_is_word = is_word(needle.chars().next());
    let last_is_word = is_word(needle.chars().next_back());
    text.char_indices()
        .filter(|(at, _)| {
            let Some((before, rest)) = text.split_at_checked(*at) else { return false };
            let Some(after) = rest.strip_prefix(needle) else { return false };
            let glued_left = first_is_word && is_word(before.chars().next_back());
            let glued_right = last_is_word && is_word(after.chars().next());
            !glued_left && !glued_right
        })
        .count()
}

/// Whether a datum's content is JSON or text, and so can be cited at all.
#[must_use]
pub fn is_citable(content: &Content) -> bool {
    matches!(content, Content::Json(_) | Content::Text(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{
        clock::Timestamp,
        datum::Origin,
        ids::{DatumId, SessionId},
        label::{Integrity, LabelMap},
    };

    fn datum(content: Content, labels: LabelMap) -> Datum {
        Datum {
            id: DatumId::parse(&format!("mail_{}", "0".repeat(26))).unwrap(),
            session: SessionId::parse(&format!("ses_{}", "0".repeat(26))).unwrap(),
            media_type: "application/json".to_owned(),
            content,
            labels,
            origin: Origin::Ingested,
            created_at: Timestamp::from_micros(0),
            display: None,
        }
    }

    fn cite(place: CitedPlace) -> Citation {
        Citation {
            argument: Pointer::parse("/book_id").unwrap(),
            datum: format!("mail_{}", "0".repeat(26)),
            place,
        }
    }

    fn text_cite(exact: &str) -> Citation {
        cite(CitedPlace::Text { pointer: Pointer::root(), exact: exact.to_owned() })
    }

    #[test]
    fn a_pointer_earns_the_label_of_its_own_field() {
        let internal = Label { integrity: Integrity::Internal, ..Label::constant() };
        let mut labels = LabelMap::whole(internal);
        labels.set(Pointer::parse("/note").unwrap(), Label::unlabelled());
        let record = datum(Content::Json(json!({"id": "B-1", "note": "B-1"})), labels);
        let at = |p: &str| cite(CitedPlace::Pointer(Pointer::parse(p).unwrap()));
        let value = json!("B-1");
        let data = [record];
        let Cited::Holds(label) = check(&at("/id"), &value, &data) else { panic!("holds") };
        assert_eq!(label.integrity, Integrity::Internal);
        let Cited::Holds(label) = check(&at("/note"), &value, &data) else { panic!("holds") };
        assert_eq!(label.integrity, Integrity::Untrusted, "a field keeps its own label");
        assert_eq!(check(&at("/id"), &json!("B-2"), &data), Cited::Differs);
        assert_eq!(check(&at("/none"), &value, &data), Cited::Fails);
    }

    #[test]
    fn a_text_span_must_stand_exactly_once_and_exactly_so() {
        let once = [datum(Content::Text("about B-1, please".into()), LabelMap::default())];
        assert!(matches!(check(&text_cite("B-1"), &json!("B-1"), &once), Cited::Holds(_)));
        assert_eq!(check(&text_cite("b-1"), &json!("b-1"), &once), Cited::Fails, "other case");
        assert_eq!(check(&text_cite(""), &json!(""), &once), Cited::Fails);
        assert_eq!(check(&text_cite("B-1"), &json!("B-7"), &once), Cited::Differs);
        let twice = [datum(Content::Text("B-1 and B-1".into()), LabelMap::default())];
        assert_eq!(check(&text_cite("B-1"), &json!("B-1"), &twice), Cited::Fails);
        for longer in ["about B-11", "about B-1-7", "about AB-1", "about X-B-1", "B-1 or B-11"] {
            let data = [datum(Content::Text(longer.into()), LabelMap::default())];
            assert_eq!(check(&text_cite("B-1"), &json!("B-1"), &data), Cited::Fails, "{longer}");
        }
    }

    #[test]
    fn composed_and_decomposed_letters_are_one_text() {
        let data = [datum(Content::Text("re\u{301}sume\u{301}".into()), LabelMap::default())];
        assert!(matches!(check(&text_cite("résumé"), &json!("résumé"), &data), Cited::Holds(_)));
    }

    #[test]
    fn a_foreign_handle_is_unknown() {
        assert_eq!(check(&text_cite("x"), &json!("x"), &[]), Cited::UnknownDatum);
    }
}
