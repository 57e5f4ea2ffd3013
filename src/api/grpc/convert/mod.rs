//! Owns: translation between messages and what verbs take and answer; each message is taken apart
//! field by field, so that a new field breaks the build.
//! Must not know: who calls, what is decided.
//! Start reading at: `intent.rs`, then `action.rs`.

pub mod action;
pub mod approval;
pub mod audit;
pub mod data;
pub mod explanation;
pub mod intent;
pub mod session;

use crate::domain::{clock::Timestamp, label::Label};

pub use super::status::FieldError;

/// A protobuf time.
#[must_use]
pub fn time(at: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: at.seconds(),
        nanos: i32::try_from(at.micros().rem_euclid(1_000_000) * 1_000).unwrap_or(0),
    }
}

/// A time from a protobuf time, to the microsecond.
#[must_use]
pub fn timestamp(at: prost_types::Timestamp) -> Timestamp {
    let micros = at.seconds.saturating_mul(1_000_000).saturating_add(i64::from(at.nanos) / 1_000);
    Timestamp::from_micros(micros)
}

/// A label as a message.
#[must_use]
pub fn label(label: &Label) -> crate::pb::v1::Label {
    let readers: std::collections::BTreeSet<String> = label.readers.clone().into();
    crate::pb::v1::Label {
        integrity: label.integrity.as_str().to_owned(),
        sources: label.sources.iter().cloned().collect(),
        readers: readers.into_iter().collect(),
    }
}

/// Text within a limit.
pub(super) fn bounded(field: &str, text: String, max: usize) -> Result<String, FieldError> {
    if text.len() <= max {
        Ok(text)
    } else {
        Err(FieldError::new(field, format!("{} bytes; at most {max}", text.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_and_come_to_the_microsecond() {
        for micros in [0, 1, 999_999, 1_767_603_600_000_001, -1, 253_402_300_799_999_999] {
            let at = Timestamp::from_micros(micros);
            assert_eq!(timestamp(time(at)), at, "{micros}");
        }
    }
}
