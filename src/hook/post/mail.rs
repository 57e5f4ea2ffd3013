//! A mail (RFC 5322, MIME) as JSON: `{from, to, subject, date, body, quoted, attachments}`.
//!
//! `from` is the address alone (names are free text that senders choose), `to` a list of addresses,
//! `date` RFC 3339 or empty, `body` the new text, `quoted` what was quoted or forwarded inline, and
//! `attachments` a list of `{name, media_type, bytes, text}` with the text of textual ones. Every
//! member is always there. All of it is untrusted; the split between `body` and `quoted` helps
//! people and models to read and decides nothing.

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};
use serde_json::{Value, json};

/// Attachments that are listed; more make the mail malformed.
const ATTACHMENTS_MAX: usize = 100;

/// Why bytes are not a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailFault {
    /// No headers could be read.
    #[error("there is no mail header")]
    NoHeader,
    /// Not exactly one `From` header with exactly one address.
    #[error("there is not exactly one sender")]
    Sender,
    /// Too many attachments.
    #[error("there are too many attachments")]
    TooManyParts,
}

/// Reads a mail.
///
/// # Errors
/// [`MailFault`] when it is not one, or not an unambiguous one.
pub fn parse(bytes: &[u8]) -> Result<Value, MailFault> {
    let message = MessageParser::default().parse(bytes).ok_or(MailFault::NoHeader)?;
    if message.attachment_count() > ATTACHMENTS_MAX {
        return Err(MailFault::TooManyParts);
    }
    let (body, quoted) = split(&text_of(&message));
    Ok(json!({
        "from": sender(&message)?,
        "to": addresses(message.to()),
        "subject": clean(message.subject().unwrap_or_default()).trim(),
        "date": message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default(),
        "body": body,
        "quoted": quoted,
        "attachments": message.attachments().map(attachment).collect::<Vec<Value>>(),
    }))
}

fn sender(message: &Message<'_>) -> Result<String, MailFault> {
    let headers = message.headers().iter();
    let count = headers.filter(|h| h.name.as_str().eq_ignore_ascii_case("from")).count();
    match (count, addresses(message.from()).as_slice()) {
        (1, [only]) => Ok(only.clone()),
        (0 | 1, _) | (2.., _) => Err(MailFault::Sender),
    }
}

fn addresses(list: Option<&Address<'_>>) -> Vec<String> {
    let found = list.into_iter().flat_map(Address::iter);
    found.filter_map(|one| one.address.as_deref()).map(clean).collect()
}

/// The text parts in order; a part that exists as HTML only is reduced to its text.
fn text_of(message: &Message<'_>) -> String {
    let texts: Vec<String> = (0..message.text_body_count())
        .filter_map(|index| message.body_text(index))
        .map(|text| clean(&text).trim_end().to_owned())
        .collect();
    texts.join("\n\n")
}

fn attachment(part: &MessagePart<'_>) -> Value {
    let media_type = part.content_type().map_or_else(
        || "application/octet-stream".to_owned(),
        |kind| match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase(),
            None => kind.ctype().to_ascii_lowercase(),
        },
    );
    let text = match &part.body {
        PartType::Text(text) | PartType::Html(text) => clean(text),
        PartType::Message(inner) => text_of(inner),
        PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Multipart(_) => String::new(),
    };
    json!({
        "name": clean(part.attachment_name().unwrap_or_default()),
        "media_type": media_type,
        "bytes": part.len(),
        "text": text,
    })
}

/// Line ends as LF; characters that no store keeps become U+FFFD.
fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if is_unstorable(c) { '\u{fffd}' } else { c })
        .collect()
}

fn is_unstorable(c: char) -> bool {
    let code = u32::from(c);
    code == 0 || (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

/// New text and quoted text.
fn split(text: &str) -> (String, String) {
    let lines: Vec<&str> = text.lines().collect();
    let mut quoted = vec![false; lines.len()];
    let mut rest = false;
    for (index, line) in lines.iter().enumerate() {
        rest = rest || begins_quotation(line, lines.get(index + 1..).unwrap_or_default());
        let is_quoted = rest || line.starts_with('>');
        if is_quoted && index.checked_sub(1).and_then(|i| quoted.get(i)) != Some(&true) {
            mark_attribution(&lines, &mut quoted, index);
        }
        if let Some(mark) = quoted.get_mut(index) {
            *mark = is_quoted;
        }
    }
    let pick = |wanted: bool| {
        let chosen = lines.iter().zip(&quoted).filter(|(_, q)| **q == wanted);
        chosen.map(|(line, _)| *line).collect::<Vec<_>>().join("\n").trim().to_owned()
    };
    (pick(false), pick(true))
}

/// `-----Original Message-----` in any language, or the header block of a forwarded mail.
fn begins_quotation(line: &str, next: &[&str]) -> bool {
    let line = line.trim();
    let ruled = line.starts_with("-----") && line.ends_with("-----") && line.len() > 10;
    let heads = ["from:", "de :", "de:", "von:", "від:"];
    let seconds = ["sent:", "date:", "date :", "envoyé", "gesendet:", "надіслано:", "дата:"];
    let starts = |text: &str, words: &[&str]| {
        let text = text.trim().to_lowercase();
        words.iter().any(|word| text.starts_with(word))
    };
    ruled || (starts(line, &heads) && next.iter().take(2).any(|l| starts(l, &seconds)))
}

/// Marks the line that introduces a quotation (`On 5 Jan 2026, A <a@b> wrote:`), and the line that
/// it was wrapped from.
fn mark_attribution(lines: &[&str], quoted: &mut [bool], begin: usize) {
    let before = lines.get(..begin).unwrap_or_default();
    let Some(at) = before.iter().rposition(|line| !line.trim().is_empty()) else { return };
    let line = before.get(at).map_or("", |line| line.trim());
    let introduces = line.ends_with(':') && line.contains(|c: char| c == '@' || c.is_ascii_digit());
    if !introduces || begin - at > 2 {
        return;
    }
    let wrapped = at.checked_sub(1).filter(|i| {
        let above = before.get(*i).map_or("", |line| line.trim());
        above.ends_with(',') && above.contains(|c: char| c.is_ascii_digit())
    });
    for index in [Some(at), wrapped].into_iter().flatten() {
        if let Some(mark) = quoted.get_mut(index) {
            *mark = true;
        }
    }
}

#[cfg(test)]
mod tests;
