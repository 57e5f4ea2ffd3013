//! The bytes as text: no byte-order mark, UTF-8 throughout.

use crate::{domain::reason::ReasonCode, hook::post::Stopped};

/// Checks that the bytes are UTF-8 without a byte-order mark.
pub(super) fn check(bytes: &[u8]) -> Result<(), Stopped> {
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return Err(Stopped::corrupt(ReasonCode::JsonBom, "a byte-order mark at the beginning"));
    }
    std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
        let detail = format!("not UTF-8 at byte {}", error.valid_up_to());
        Stopped::corrupt(ReasonCode::JsonInvalidUtf8, detail)
    })
}
