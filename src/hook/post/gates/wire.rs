//! What the wire says: status, redirect, media type, charset, length framing, encodings, size.

use crate::{
    bundle::contract::{BodyFormat, ErrorClass, Response},
    domain::{
        json::{self, JsonLimits},
        reason::ReasonCode,
        response::{Framing, RawResponse},
    },
    hook::post::{StopKind, Stopped},
};

/// Checks everything that can be checked without reading the body as text.
pub(in crate::hook::post) fn check(
    expected: &Response,
    response: &RawResponse,
) -> Result<(), Stopped> {
    check_status(expected, response)?;
    if has_no_body(response.status) {
        return check_absent_body(response);
    }
    check_media_type(expected, response)?;
    check_framing(response)?;
    check_encodings(expected, response)?;
    check_size(expected, response)
}

/// Statuses that never carry a body.
pub(in crate::hook::post) const fn has_no_body(status: u16) -> bool {
    matches!(status, 204 | 205 | 304)
}

fn check_status(expected: &Response, response: &RawResponse) -> Result<(), Stopped> {
    let status = response.status;
    if expected.status.contains(&status) {
        return Ok(());
    }
    match status {
        300..=303 | 305..=399 => {
            Err(Stopped::corrupt(ReasonCode::RedirectRefused, format!("status {status}")))
        }
        400..=599 => Err(error_status(expected, response)),
        _ => Err(Stopped::corrupt(
            ReasonCode::StatusUnexpected,
            format!("status {status} is not one of {:?}", expected.status),
        )),
    }
}

/// What an error status means: the contract's first rule that fits, else unknown.
fn error_status(expected: &Response, response: &RawResponse) -> Stopped {
    let status = response.status;
    let body = matches!(response.framing, Framing::Whole)
        .then(|| json::parse(&response.body, &JsonLimits::RESPONSE).ok())
        .flatten();
    known_error(expected, status, body.as_ref()).unwrap_or_else(|| Stopped {
        kind: StopKind::UnknownError { status },
        code: ReasonCode::ToolErrorUnmapped,
        rule: None,
        detail: format!("status {status} fits no rule of the contract's error map"),
    })
}

/// The contract's first error rule that fits a status and a body.
pub(super) fn known_error(
    expected: &Response,
    status: u16,
    body: Option<&serde_json::Value>,
) -> Option<Stopped> {
    let found = |at: &crate::domain::pointer::Pointer| body.and_then(|value| at.get(value));
    let rule = expected.errors.iter().find(|rule| {
        let code_fits = match (&rule.code_at, &rule.code) {
            (Some(at), Some(code)) => found(at).and_then(|v| v.as_str()) == Some(code.as_str()),
            (Some(at), None) => found(at).is_some_and(|value| !value.is_null()),
            (None, _) => true,
        };
        rule.status == status && code_fits
    })?;
    let code = rule.code.as_deref().unwrap_or("any code");
    Some(Stopped {
        kind: StopKind::KnownError { retryable: rule.class == ErrorClass::Retryable },
        code: rule.reason,
        rule: rule.code.clone(),
        detail: format!("status {status} with {code}"),
    })
}

fn check_absent_body(response: &RawResponse) -> Result<(), Stopped> {
    if !response.body.is_empty() || response.framing == Framing::Overrun {
        return Err(Stopped::corrupt(ReasonCode::BodyOverrun, "a body where none can be"));
    }
    Ok(())
}

fn check_media_type(expected: &Response, response: &RawResponse) -> Result<(), Stopped> {
    let headers = response.header("content-type");
    let header = match headers.as_slice() {
        [] => {
            return Err(Stopped::corrupt(ReasonCode::MediaTypeMissing, "no `Content-Type`"));
        }
        [one] => *one,
        [_, _, ..] => return Err(mismatch("more than one `Content-Type`")),
    };
    let mut parts = header.split(';');
    let found = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = expected.parse == BodyFormat::Json;
    if is_json && found == "application/problem+json" {
        return Err(Stopped::corrupt(ReasonCode::ErrorInSuccess, "a problem document"));
    }
    if !fits(&expected.content_type.to_ascii_lowercase(), &found) {
        let hint = if found == "text/html" { "; an HTML page, perhaps to sign in" } else { "" };
        return Err(mismatch(&format!("not `{}`{hint}", expected.content_type)));
    }
    if is_json && response.body.trim_ascii_start().starts_with(b"<") {
        return Err(mismatch("the body begins as markup"));
    }
    check_charset(is_json, parts)
}

fn mismatch(detail: &str) -> Stopped {
    Stopped::corrupt(ReasonCode::MediaTypeMismatch, detail)
}

/// The same type, or one with the structured suffix `+json` where JSON is expected.
fn fits(expected: &str, found: &str) -> bool {
    let suffixed = found
        .strip_prefix("application/")
        .and_then(|subtype| subtype.strip_suffix("+json"))
        .is_some_and(|name| !name.is_empty());
    found == expected || (expected == "application/json" && suffixed)
}

fn check_charset<'a>(
    is_json: bool,
    parameters: impl Iterator<Item = &'a str>,
) -> Result<(), Stopped> {
    for parameter in parameters {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        let is_charset = is_json && name.trim().eq_ignore_ascii_case("charset");
        if is_charset && !matches!(value.as_str(), "utf-8" | "utf8" | "us-ascii") {
            return Err(Stopped::corrupt(ReasonCode::CharsetUnsupported, "charset is not UTF-8"));
        }
    }
    Ok(())
}

fn check_framing(response: &RawResponse) -> Result<(), Stopped> {
    let stop = |code, detail: &str| Err(Stopped::corrupt(code, detail));
    match response.framing {
        Framing::LengthConflict => stop(ReasonCode::LengthConflict, "two lengths in the head"),
        Framing::Overrun => stop(ReasonCode::BodyOverrun, "bytes after the end of the body"),
        Framing::Truncated => stop(ReasonCode::BodyTruncated, "the connection ended too early"),
        Framing::Stalled => stop(ReasonCode::BodyStalled, "the time ran out within the body"),
        // Its own gate comes after the encodings.
        Framing::TooLarge | Framing::Whole => Ok(()),
    }
}

fn check_encodings(expected: &Response, response: &RawResponse) -> Result<(), Stopped> {
    let headers = response.header("content-encoding");
    let layers = headers.iter().flat_map(|value| value.split(',')).map(str::trim);
    let count = layers.filter(|l| !l.is_empty() && !l.eq_ignore_ascii_case("identity")).count();
    if count > 1 {
        let detail = format!("{count} layers of content encoding");
        return Err(Stopped::corrupt(ReasonCode::EncodingLayersExceeded, detail));
    }
    let transfer = response.header("transfer-encoding");
    let only_chunked = transfer.iter().all(|value| value.trim().eq_ignore_ascii_case("chunked"));
    if count == 1 || !only_chunked {
        let detail = "an encoding that was not asked for";
        return Err(Stopped::corrupt(ReasonCode::EncodingUnsupported, detail));
    }
    let is_gzip = response.body.starts_with(&[0x1f, 0x8b]);
    if is_gzip && expected.parse == BodyFormat::Json {
        return Err(Stopped::corrupt(ReasonCode::EncodingUndeclared, "the body begins as gzip"));
    }
    Ok(())
}

fn check_size(expected: &Response, response: &RawResponse) -> Result<(), Stopped> {
    let read = response.body.len();
    let over = u64::try_from(read).map_or(true, |read| read > expected.max_bytes);
    if response.framing == Framing::TooLarge || over {
        let detail = format!("more than {} bytes; {read} were read", expected.max_bytes);
        return Err(Stopped::corrupt(ReasonCode::BodyTooLarge, detail));
    }
    if response.body.trim_ascii().is_empty() {
        return Err(Stopped::corrupt(ReasonCode::BodyEmpty, "an empty body"));
    }
    Ok(())
}
