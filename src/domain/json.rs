//! The strict JSON reader: one document, no repeated names, bounded depth, exact numbers.
//!
//! `serde_json` keeps the last of two equal names and rounds numbers in silence; both are ways to
//! make a guard and a tool read different things. Whatever this reader returns can be held exactly
//! by `serde_json::Value`: integers of the `i64` range, and decimals whose shortest double prints
//! the same digits. Whole decimals (`1.0`, `5e2`) become integers and `-0` becomes `0`, as RFC 8785
//! prints them. See `docs/decisions/0002-own-json-reader.md`.

use serde_json::{Map, Number, Value};

use super::pointer::Pointer;

/// Caps of one read.
#[derive(Debug, Clone, Copy)]
pub struct JsonLimits {
    /// Bytes of the whole document.
    pub bytes: usize,
    /// Nesting of arrays and objects.
    pub depth: usize,
    /// Values in the document.
    pub nodes: usize,
    /// Bytes of one member name.
    pub key_bytes: usize,
}

impl JsonLimits {
    /// For arguments and everything an agent sends.
    pub const ARGUMENTS: Self = Self { bytes: 1 << 20, depth: 64, nodes: 100_000, key_bytes: 256 };
    /// For tool responses; the contract's own byte cap comes on top.
    pub const RESPONSE: Self = Self { bytes: 8 << 20, depth: 64, nodes: 100_000, key_bytes: 256 };
}

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonFaultKind {
    /// It ends too early.
    Incomplete,
    /// It is not JSON.
    Syntax,
    /// A member name occurs twice in one object, compared after unescaping.
    DuplicateKey,
    /// Something follows the document.
    MultipleDocuments,
    /// It begins with a byte-order mark.
    ByteOrderMark,
    /// It is not UTF-8.
    InvalidUtf8,
    /// A `\u` escape is half of a surrogate pair.
    LoneSurrogate,
    /// It nests too deep.
    DepthExceeded,
    /// It has too many values.
    NodesExceeded,
    /// A number is beyond what a double holds.
    NumberRange,
    /// A number cannot be held exactly.
    NumberLossy,
    /// A member name is too long.
    KeyTooLong,
    /// A member name is one that a JSON library treats as an instruction.
    ReservedKey,
    /// It has too many bytes.
    TooLarge,
}

/// A document that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind:?} at byte {at}")]
pub struct JsonFault {
    /// What is wrong.
    pub kind: JsonFaultKind,
    /// Where, in bytes from the start.
    pub at: usize,
}

/// Reads one document.
///
/// # Errors
/// The first fault met.
pub fn parse(bytes: &[u8], limits: &JsonLimits) -> Result<Value, JsonFault> {
    if bytes.len() > limits.bytes {
        return Err(JsonFault { kind: JsonFaultKind::TooLarge, at: limits.bytes });
    }
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return Err(JsonFault { kind: JsonFaultKind::ByteOrderMark, at: 0 });
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(JsonFault { kind: JsonFaultKind::InvalidUtf8, at: error.valid_up_to() });
    }
    let mut reader = Reader { bytes, at: 0, nodes: 0, limits };
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < bytes.len() {
        return Err(reader.fault(JsonFaultKind::MultipleDocuments));
    }
    Ok(value)
}

/// The first place whose text (value or member name) holds NUL or a non-character, which no
/// store keeps and no reader sees.
#[must_use]
pub fn find_unstorable(value: &Value) -> Option<Pointer> {
    fn search(at: &Pointer, value: &Value) -> Option<Pointer> {
        match value {
            Value::String(text) => text.chars().any(is_unstorable).then(|| at.clone()),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| search(&at.child(&index.to_string()), item)),
            Value::Object(members) => members.iter().find_map(|(name, member)| {
                let place = at.child(name);
                if name.chars().any(is_unstorable) { Some(place) } else { search(&place, member) }
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    search(&Pointer::root(), value)
}

fn is_unstorable(c: char) -> bool {
    let code = u32::from(c);
    code == 0 || (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: usize,
    limits: &'a JsonLimits,
}

impl Reader<'_> {
    fn fault(&self, kind: JsonFaultKind) -> JsonFault {
        JsonFault { kind, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, JsonFault> {
        let byte = self.peek().ok_or_else(|| self.fault(JsonFaultKind::Incomplete))?;
        self.at += 1;
        Ok(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonFault> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            return Err(self.fault(JsonFaultKind::NodesExceeded));
        }
        self.skip_space();
        match self.peek() {
            None => Err(self.fault(JsonFaultKind::Incomplete)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                self.at += 1;
                Ok(Value::String(self.string()?))
            }
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.fault(JsonFaultKind::Syntax)),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonFault> {
        for expected in word.bytes() {
            if self.next()? != expected {
                self.at -= 1;
                return Err(self.fault(JsonFaultKind::Syntax));
            }
        }
        Ok(value)
    }

    fn enter(&mut self, depth: usize) -> Result<(), JsonFault> {
        if depth > self.limits.depth {
            return Err(self.fault(JsonFaultKind::DepthExceeded));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonFault> {
        self.enter(depth)?;
        let mut members = Map::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_space();
            if self.next()? != b'"' {
                self.at -= 1;
                return Err(self.fault(JsonFaultKind::Syntax));
            }
            let name = self.string()?;
            self.check_name(&name)?;
            if members.contains_key(&name) {
                return Err(self.fault(JsonFaultKind::DuplicateKey));
            }
            self.skip_space();
            if self.next()? != b':' {
                self.at -= 1;
                return Err(self.fault(JsonFaultKind::Syntax));
            }
            let member = self.value(depth)?;
            members.insert(name, member);
            if self.ends(b'}')? {
                return Ok(Value::Object(members));
            }
        }
    }

    fn check_name(&self, name: &str) -> Result<(), JsonFault> {
        if name.len() > self.limits.key_bytes {
            return Err(self.fault(JsonFaultKind::KeyTooLong));
        }
        if name.starts_with("$serde_json::private::") {
            return Err(self.fault(JsonFaultKind::ReservedKey));
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonFault> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn ends(&mut self, close: u8) -> Result<bool, JsonFault> {
        self.skip_space();
        let byte = self.next()?;
        if byte == close {
            return Ok(true);
        }
        if byte == b',' {
            return Ok(false);
        }
        self.at -= 1;
        Err(self.fault(JsonFaultKind::Syntax))
    }

    fn string(&mut self) -> Result<String, JsonFault> {
        let mut text = Vec::new();
        loop {
            match self.next()? {
                b'"' => break,
                b'\\' => self.escape(&mut text)?,
                0..=0x1F => {
                    self.at -= 1;
                    return Err(self.fault(JsonFaultKind::Syntax));
                }
                byte => text.push(byte),
            }
        }
        String::from_utf8(text).map_err(|_| self.fault(JsonFaultKind::InvalidUtf8))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), JsonFault> {
        let plain = match self.next()? {
            b'"' => b'"',
            b'\\' => b'\\',
            b'/' => b'/',
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let c = self.unicode()?;
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => {
                self.at -= 1;
                return Err(self.fault(JsonFaultKind::Syntax));
            }
        };
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, JsonFault> {
        let high = self.hex4()?;
        let code = match high {
            0xD800..=0xDBFF => {
                if self.peek() == Some(b'\\') && self.bytes.get(self.at + 1) == Some(&b'u') {
                    self.at += 2;
                    let low = self.hex4()?;
                    if !(0xDC00..=0xDFFF).contains(&low) {
                        return Err(self.fault(JsonFaultKind::LoneSurrogate));
                    }
                    0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                } else {
                    return Err(self.fault(JsonFaultKind::LoneSurrogate));
                }
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(|| self.fault(JsonFaultKind::LoneSurrogate))
    }

    fn hex4(&mut self) -> Result<u32, JsonFault> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.next()?;
            let digit = char::from(byte).to_digit(16).ok_or_else(|| JsonFault {
                kind: JsonFaultKind::Syntax,
                at: self.at.saturating_sub(1),
            })?;
            code = code * 16 + digit;
        }
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            let kind = if self.peek().is_none() {
                JsonFaultKind::Incomplete
            } else {
                JsonFaultKind::Syntax
            };
            return Err(self.fault(kind));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, JsonFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fault(JsonFaultKind::Syntax));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let token = self.bytes.get(start..self.at).and_then(|t| std::str::from_utf8(t).ok());
        let token = token.ok_or_else(|| self.fault(JsonFaultKind::Syntax))?;
        exact(token).map(Value::Number).map_err(|kind| JsonFault { kind, at: start })
    }
}

/// Significant digits and the power of ten of the last one.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

fn decimal(token: &str) -> Decimal {
    let (negative, token) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
    let (mantissa, power) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    // An exponent of over 18 digits is beyond any double; the far value keeps the order.
    let far = if power.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
    let power: i64 = power.trim_start_matches('+').parse().unwrap_or(far);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    let dropped = i64::try_from(all.len() - kept.len()).unwrap_or(0);
    let places = i64::try_from(fraction.len()).unwrap_or(0);
    let digits = kept.trim_start_matches('0').to_owned();
    Decimal { negative, digits, exponent: power.saturating_sub(places).saturating_add(dropped) }
}

fn exact(token: &str) -> Result<Number, JsonFaultKind> {
    let given = decimal(token);
    if given.digits.is_empty() {
        return Ok(Number::from(0));
    }
    if (0..=18).contains(&given.exponent) {
        let zeros = "0".repeat(usize::try_from(given.exponent).unwrap_or(0));
        let sign = if given.negative { "-" } else { "" };
        let whole = format!("{sign}{}{zeros}", given.digits);
        return whole.parse::<i64>().map(Number::from).map_err(|_| {
            let finite = token.parse::<f64>().is_ok_and(f64::is_finite);
            if finite { JsonFaultKind::NumberLossy } else { JsonFaultKind::NumberRange }
        });
    }
    let double: f64 = token.parse().map_err(|_| JsonFaultKind::Syntax)?;
    if !double.is_finite() {
        return Err(JsonFaultKind::NumberRange);
    }
    let held = decimal(&format!("{double:e}"));
    let same = held.negative == given.negative
        && held.digits == given.digits
        && held.exponent == given.exponent;
    // A whole number beyond i64 would come back in another form; money and ids never need it.
    if !same || given.exponent > 18 {
        return Err(JsonFaultKind::NumberLossy);
    }
    Number::from_f64(double).ok_or(JsonFaultKind::NumberRange)
}

#[cfg(test)]
mod tests;
