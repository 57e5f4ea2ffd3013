//! Data messages.

use super::{FieldError, bounded, label, time};
use crate::{
    app::data::{EndorseRequest, Endorsed, Ingest},
    domain::{
        contract_terms::PartKind,
        datum::{Content, Datum, StatementPart},
        limits,
    },
    pb::v1,
};

impl TryFrom<v1::IngestDatumRequest> for Ingest {
    type Error = FieldError;

    fn try_from(message: v1::IngestDatumRequest) -> Result<Self, FieldError> {
        let v1::IngestDatumRequest { session, kind, media_type, content } = message;
        Ok(Self {
            session,
            kind: bounded("kind", kind, limits::NAME_MAX_BYTES)?,
            media_type: bounded("media_type", media_type, limits::NAME_MAX_BYTES)?,
            content,
        })
    }
}

/// The parts of a statement.
///
/// # Errors
/// When a part has no kind.
pub fn parts(messages: Vec<v1::StatementPart>) -> Result<Vec<StatementPart>, FieldError> {
    messages
        .into_iter()
        .enumerate()
        .map(|(index, v1::StatementPart { kind, text })| {
            let kind = match v1::PartKind::try_from(kind) {
                Ok(v1::PartKind::Typed) => PartKind::Typed,
                Ok(v1::PartKind::Pasted) => PartKind::Pasted,
                Ok(v1::PartKind::Quoted) => PartKind::Quoted,
                Ok(v1::PartKind::Attached) => PartKind::Attached,
                Ok(v1::PartKind::Unspecified) | Err(_) => {
                    let field = format!("parts[{index}].kind");
                    return Err(FieldError::new(field, "choose TYPED, PASTED, QUOTED or ATTACHED"));
                }
            };
            Ok(StatementPart { kind, text })
        })
        .collect()
}

impl From<v1::EndorseValueRequest> for EndorseRequest {
    fn from(message: v1::EndorseValueRequest) -> Self {
        let v1::EndorseValueRequest { session, tool, argument, datum, pointer } = message;
        Self { session, tool, argument, datum, pointer }
    }
}

impl From<Endorsed> for v1::EndorseValueResponse {
    fn from(endorsed: Endorsed) -> Self {
        Self {
            endorsed: endorsed.rule.is_some(),
            rule: endorsed.rule.unwrap_or_default().to_owned(),
            label: Some(label(&endorsed.label)),
        }
    }
}

/// A datum as a message; `exposes`: with its content.
#[must_use]
pub fn datum(datum: &Datum, exposes: bool) -> v1::Datum {
    let (content_json, content) = match &datum.content {
        Content::Json(value) if exposes => (value.to_string(), Vec::new()),
        Content::Text(text) if exposes => (String::new(), text.clone().into_bytes()),
        Content::Bytes(bytes) if exposes => (String::new(), bytes.clone()),
        Content::Json(_) | Content::Text(_) | Content::Bytes(_) => (String::new(), Vec::new()),
    };
    v1::Datum {
        handle: datum.id.to_string(),
        kind: datum.id.kind().to_owned(),
        media_type: datum.media_type.clone(),
        size_bytes: i64::try_from(datum.content.size()).unwrap_or(i64::MAX),
        labels: datum
            .labels
            .iter()
            .map(|(at, held)| v1::PlacedLabel { pointer: at.to_string(), label: Some(label(held)) })
            .collect(),
        origin: datum.origin.describe(),
        content_json,
        content,
        shape_json: datum.content.shape().to_string(),
        created_at: Some(time(datum.created_at)),
    }
}
