//! Lengths of time as people write them: `250ms`, `5s`, `15m`, `24h`.

use std::{borrow::Cow, fmt, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A length of time in a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl Span {
    /// Reads a whole number with one of the units `ms`, `s`, `m`, `h`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at_checked(digits)?;
        let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let number: u64 = number.parse().ok()?;
        Some(Self(Duration::from_millis(number.checked_mul(*millis)?)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let largest = UNITS.iter().rev().find(|(_, unit)| millis > 0 && millis % unit == 0);
        let (name, unit) = largest.unwrap_or(&("s", 1_000));
        write!(f, "{}{name}", millis / unit)
    }
}

impl TryFrom<String> for Span {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| {
            format!("`{text}` is not a length of time such as `250ms`, `5s`, `15m`, `24h`")
        })
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_reads_and_prints_alike() {
        for (text, millis) in [("250ms", 250), ("5s", 5_000), ("15m", 900_000), ("24h", 86_400_000)]
        {
            let span = Span::parse(text).unwrap();
            assert_eq!(
                (span.0, span.to_string()),
                (Duration::from_millis(millis), text.to_owned())
            );
        }
        assert_eq!(Span::parse("90s").unwrap().to_string(), "90s");
        for wrong in [
            "",
            "5",
            "s",
            "5 s",
            "-5s",
            "1.5h",
            "5d",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert_eq!(Span::parse(wrong), None, "{wrong}");
        }
    }
}
