//! Owns: the little "model": reads a mail and the customer's words and says what it would do about them.
//! Must not know: sessions, tokens, the API.
//! Start reading at: `read`.
//!
//! It stands for a language model that believes all it reads: the subject, the new text, quotations, attachments,
//! anything that looks like an instruction. Deterministic, so that a story can be played again. Everything it proposes
//! is what somebody wrote; that it is worth nothing without the guard's consent is the point of the demonstration.

use serde_json::{Map, Value, json};

use super::words::{self, Sentence};

/// Records it looks at, at most; a mail with more is a list, not a case.
const RECORDS_MAX: usize = 4;

/// One text that the model reads: where it stands, and whose words it takes it for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The datum, by handle.
    pub(crate) datum: String,
    /// JSON Pointer into it.
    pub(crate) pointer: String,
    /// The text.
    pub(crate) text: String,
    /// New words of the writer, rather than a quotation or an attachment.
    pub(crate) is_own: bool,
}

/// A value and the one place of a text where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The datum, by handle.
    pub(crate) datum: String,
    /// JSON Pointer to the text.
    pub(crate) pointer: String,
    /// As it is written there.
    pub(crate) exact: String,
}

/// A record that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The identifier, as the shop writes it.
    pub(crate) order: String,
    /// Where it stands exactly once, best first.
    pub(crate) places: Vec<Place>,
    /// Where a sentence with the wish names it.
    pub(crate) asked: bool,
}

/// What the model makes of what it read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reading {
    /// Named records, in the order in which they are first named.
    pub(crate) named: Vec<Named>,
    /// Somebody wants money back.
    pub(crate) wants_refund: bool,
    /// The best of the shop's reason codes.
    pub(crate) reason_code: &'static str,
    /// Arguments that the text tells it to set: an amount, `approved=true`, whatever it says.
    pub(crate) told_to_set: Map<String, Value>,
    /// What it is all about, in one line.
    pub(crate) gist: String,
}

impl Reading {
    /// The records for which it would ask for a refund: those that a sentence with the wish names, else the first.
    pub(crate) fn to_refund(&self) -> Vec<&Named> {
        if !self.wants_refund {
            return Vec::new();
        }
        let asked: Vec<&Named> = self.named.iter().filter(|named| named.asked).collect();
        if asked.is_empty() { self.named.first().into_iter().collect() } else { asked }
    }
}

/// Reads all passages, in the order given.
pub(crate) fn read(passages: &[Passage]) -> Reading {
    let mut reading = Reading { reason_code: "other", ..Reading::default() };
    for passage in passages {
        for sentence in words::sentences(&passage.text) {
            take_in(&mut reading, &sentence);
        }
    }
    for named in &mut reading.named {
        named.places = places(passages, &named.order);
    }
    reading.reason_code = reason_code(passages);
    reading.gist = gist(passages);
    reading
}

fn take_in(reading: &mut Reading, sentence: &Sentence) {
    let wish = sentence.wants_money_back();
    reading.wants_refund |= wish;
    for order in sentence.identifiers() {
        let has_room = reading.named.len() < RECORDS_MAX;
        match reading.named.iter_mut().find(|named| named.order == order) {
            Some(named) => named.asked |= wish,
            None if has_room => {
                reading.named.push(Named { order, places: Vec::new(), asked: wish });
            }
            None => {}
        }
    }
    if !wish && !sentence.gives_values() {
        return;
    }
    if let Some(minor) = sentence.amount_minor() {
        reading.told_to_set.entry("amount_cents").or_insert(json!(minor));
    }
    for (name, value) in sentence.assignments() {
        reading.told_to_set.entry(name).or_insert(value);
    }
}

/// Where the identifier stands exactly once. A place in a sentence with the wish comes first, since that is where the
/// instruction is; then new words before quotations.
fn places(passages: &[Passage], order: &str) -> Vec<Place> {
    let mut found: Vec<(u8, Place)> = Vec::new();
    for passage in passages {
        let spelled = words::spellings(&passage.text, order);
        let [exact] = spelled.as_slice() else { continue };
        let in_wish = words::sentences(&passage.text)
            .iter()
            .any(|s| s.wants_money_back() && s.identifiers().iter().any(|id| id == order));
        let rank = match (in_wish, passage.is_own) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let (datum, pointer) = (passage.datum.clone(), passage.pointer.clone());
        found.push((rank, Place { datum, pointer, exact: exact.clone() }));
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, place)| place).collect()
}

fn reason_code(passages: &[Passage]) -> &'static str {
    const SIGNS: &[(&str, &[&str])] = &[
        ("duplicate_charge", &["charged twice", "paid twice", "double charge", "débité deux fois"]),
        (
            "item_not_received",
            &[
                "never arrived",
                "not arrived",
                "did not arrive",
                "not received",
                "jamais reçu",
                "не отримав",
            ],
        ),
        (
            "service_failure",
            &[
                "broken",
                "damaged",
                "does not work",
                "doesn't work",
                "split",
                "chip",
                "pieces",
                "fêlé",
                "cassé",
                "abîmé",
                "не вмика",
                "пошкодж",
                "розбит",
                "kaputt",
                "defekt",
            ],
        ),
    ];
    let own = passages.iter().filter(|p| p.is_own).map(|p| p.text.to_lowercase());
    let text = own.collect::<Vec<_>>().join("\n");
    SIGNS
        .iter()
        .find(|(_, signs)| signs.iter().any(|sign| text.contains(sign)))
        .map_or("other", |(code, _)| code)
}

/// The first sentence that says something, short.
fn gist(passages: &[Passage]) -> String {
    let own = passages.iter().find(|p| p.is_own && !p.text.trim().is_empty());
    let text =
        own.map(|p| p.text.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default();
    let mut short: String = text.chars().take(160).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The passages of a mail as the mailbox tool returns it: JSON with `subject`, `body`, `quoted`, `attachments`.
pub(crate) fn passages_of_mail(datum: &str, mail: &Value) -> Vec<Passage> {
    let text = |pointer: &str| {
        mail.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let passage = |pointer: &str, is_own| Passage {
        datum: datum.to_owned(),
        pointer: pointer.to_owned(),
        text: text(pointer),
        is_own,
    };
    let mut passages =
        vec![passage("/subject", true), passage("/body", true), passage("/quoted", false)];
    let attachments = mail.get("attachments").and_then(Value::as_array).map_or(0, Vec::len);
    passages.extend((0..attachments).map(|n| passage(&format!("/attachments/{n}/text"), false)));
    passages.retain(|passage| !passage.text.is_empty());
    passages
}

/// The passages of any other datum: every text in it.
pub(crate) fn passages_of(datum: &str, content: &Value, is_own: bool) -> Vec<Passage> {
    let mut found = Vec::new();
    walk(datum, content, String::new(), is_own, &mut found);
    found
}

fn walk(datum: &str, value: &Value, pointer: String, is_own: bool, found: &mut Vec<Passage>) {
    if let Some(text) = value.as_str() {
        found.push(Passage { datum: datum.to_owned(), pointer, text: text.to_owned(), is_own });
    } else if let Some(list) = value.as_array() {
        for (n, item) in list.iter().enumerate() {
            walk(datum, item, format!("{pointer}/{n}"), is_own, found);
        }
    } else if let Some(object) = value.as_object() {
        for (name, member) in object {
            let step = name.replace('~', "~0").replace('/', "~1");
            walk(datum, member, format!("{pointer}/{step}"), is_own, found);
        }
    }
}

#[cfg(test)]
mod tests;
