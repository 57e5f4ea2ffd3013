//! Owns: the gates an answer passes, cheapest first.
//! Must not know: how bytes arrived; what is done with a stop.
//! Start reading at: `wire.rs`, then `text.rs`, `json.rs`, `meaning.rs`.

pub mod json;
mod lookalike;
pub mod meaning;
pub mod text;
pub mod wire;

use serde_json::Value;

use super::{Stopped, mail};
use crate::{
    bundle::contract::{BodyFormat, Response},
    domain::{reason::ReasonCode, response::RawResponse},
};

/// The body as JSON, after the gates of its form.
pub(super) fn read(expected: &Response, response: &RawResponse) -> Result<Value, Stopped> {
    if wire::has_no_body(response.status) {
        return Ok(Value::Null);
    }
    match expected.parse {
        BodyFormat::Json => {
            text::check(&response.body)?;
            let value = json::read(&response.body)?;
            json::check_characters(&value, expected.schema.source())?;
            json::check_names(&value, expected.schema.source())?;
            meaning::check_error_in_success(expected, response.status, &value)?;
            Ok(value)
        }
        BodyFormat::Mail => mail::parse(&response.body)
            .map_err(|fault| Stopped::corrupt(ReasonCode::MailMalformed, fault.to_string())),
    }
}
