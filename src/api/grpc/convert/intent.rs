//! SubmitIntentRequest and its parts.

use std::time::Duration;

use prost::Message as _;

use super::{FieldError, bounded};
use crate::{
    app::intent::{Submission, WaitFor},
    domain::{
        canonical::Digest,
        intent::{Citation, CitedPlace, Intent},
        limits,
        pointer::Pointer,
    },
    pb::v1,
};

/// Whether a view hands content out.
///
/// # Errors
/// When no view is chosen.
pub fn exposes(field: &str, view: i32) -> Result<bool, FieldError> {
    match v1::View::try_from(view) {
        Ok(v1::View::Full | v1::View::Redacted) => Ok(true),
        Ok(v1::View::Handle) => Ok(false),
        Ok(v1::View::Unspecified) | Err(_) => {
            Err(FieldError::new(field, "choose FULL, REDACTED or HANDLE"))
        }
    }
}

/// Whether a view leaves out what its caller may not read.
#[must_use]
pub fn redacts(view: i32) -> bool {
    view == v1::View::Redacted as i32
}

impl TryFrom<v1::SubmitIntentRequest> for Submission {
    type Error = FieldError;

    fn try_from(message: v1::SubmitIntentRequest) -> Result<Self, FieldError> {
        let digest = request_digest(&message);
        let v1::SubmitIntentRequest { session, intent, result_view, wait, wait_for, request_id } =
            message;
        let request = if request_id.is_empty() {
            None
        } else {
            uuid::Uuid::parse_str(&request_id)
                .map_err(|_| FieldError::new("request_id", "not a UUID"))?;
            Some((request_id, digest))
        };
        let wait_for = match v1::submit_intent_request::WaitFor::try_from(wait_for) {
            Ok(v1::submit_intent_request::WaitFor::Outcome) => WaitFor::Outcome,
            Ok(v1::submit_intent_request::WaitFor::Verified) => WaitFor::Verified,
            Err(_) => return Err(FieldError::new("wait_for", "choose OUTCOME or VERIFIED")),
        };
        Ok(Self {
            session,
            intent: intent.ok_or_else(|| FieldError::new("intent", "missing"))?.try_into()?,
            wait: wait.map(duration).transpose()?,
            wait_for,
            request,
            exposes: exposes("result_view", result_view)?,
        })
    }
}

/// Over everything but how long the caller waits.
fn request_digest(message: &v1::SubmitIntentRequest) -> Digest {
    let mut asked = message.clone();
    asked.wait = None;
    asked.wait_for = 0;
    Digest::of(&asked.encode_to_vec())
}

fn duration(wait: prost_types::Duration) -> Result<Duration, FieldError> {
    Duration::try_from(wait).map_err(|_| FieldError::new("wait", "a negative time"))
}

impl TryFrom<v1::Intent> for Intent {
    type Error = FieldError;

    fn try_from(message: v1::Intent) -> Result<Self, FieldError> {
        let v1::Intent { purpose, tool, arguments_json, citations, evidence, reason, expects_json } =
            message;
        let few = |field: &str, count: usize, max: usize| {
            if count <= max {
                Ok(())
            } else {
                Err(FieldError::new(field, format!("at most {max}")))
            }
        };
        few("intent.citations", citations.len(), limits::CITATIONS_MAX)?;
        few("intent.evidence", evidence.len(), limits::EVIDENCE_MAX)?;
        let name = limits::NAME_MAX_BYTES;
        let text = limits::MODEL_TEXT_MAX_BYTES;
        for handle in &evidence {
            bounded("intent.evidence", handle.clone(), name)?;
        }
        Ok(Self {
            purpose: bounded("intent.purpose", purpose, name)?,
            tool: bounded("intent.tool", tool, name)?,
            arguments_json,
            citations: citations
                .into_iter()
                .enumerate()
                .map(|(index, citation)| citation_of(index, citation))
                .collect::<Result<_, _>>()?,
            evidence,
            reason: bounded("intent.reason", reason, text)?,
            expects_json: bounded("intent.expects_json", expects_json, text)?,
        })
    }
}

fn citation_of(index: usize, message: v1::Citation) -> Result<Citation, FieldError> {
    let at = |field: &str| format!("intent.citations[{index}].{field}");
    let pointer = |field: &str, text: &str| {
        Pointer::parse(text).map_err(|error| FieldError::new(at(field), error.to_string()))
    };
    let v1::Citation { argument, datum, place } = message;
    let place = match place {
        Some(v1::citation::Place::Pointer(text)) => CitedPlace::Pointer(pointer("pointer", &text)?),
        Some(v1::citation::Place::Text(v1::TextSpan { pointer: text, exact })) => {
            CitedPlace::Text {
                pointer: pointer("text.pointer", &text)?,
                exact: bounded(&at("text.exact"), exact, limits::CITATION_SPAN_MAX_BYTES)?,
            }
        }
        None => return Err(FieldError::new(at("place"), "choose pointer or text")),
    };
    Ok(Citation {
        argument: pointer("argument", &argument)?,
        datum: bounded(&at("datum"), datum, limits::NAME_MAX_BYTES)?,
        place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> v1::SubmitIntentRequest {
        v1::SubmitIntentRequest {
            session: "sessions/x".to_owned(),
            intent: Some(v1::Intent {
                purpose: "p".to_owned(),
                tool: "t".to_owned(),
                arguments_json: "{\"n\":9007199254740993}".to_owned(),
                citations: vec![v1::Citation {
                    argument: "/a".to_owned(),
                    datum: "d".to_owned(),
                    place: Some(v1::citation::Place::Pointer("/b".to_owned())),
                }],
                ..v1::Intent::default()
            }),
            result_view: v1::View::Full as i32,
            ..v1::SubmitIntentRequest::default()
        }
    }

    #[test]
    fn digits_of_arguments_arrive_as_they_were_sent() {
        let submission = Submission::try_from(message()).unwrap();
        assert_eq!(submission.intent.arguments_json, "{\"n\":9007199254740993}");
        assert!(submission.exposes);
    }

    #[test]
    fn what_is_missing_or_malformed_is_named() {
        let field =
            |message: v1::SubmitIntentRequest| Submission::try_from(message).unwrap_err().field;
        assert_eq!(field(v1::SubmitIntentRequest { result_view: 0, ..message() }), "result_view");
        assert_eq!(field(v1::SubmitIntentRequest { intent: None, ..message() }), "intent");
        let with = |change: fn(&mut v1::Intent)| {
            let mut message = message();
            change(message.intent.as_mut().unwrap());
            field(message)
        };
        assert_eq!(with(|i| i.citations[0].place = None), "intent.citations[0].place");
        assert_eq!(with(|i| i.citations[0].argument = "a".into()), "intent.citations[0].argument");
        assert_eq!(with(|i| i.tool = "t".repeat(129)), "intent.tool");
        assert_eq!(with(|i| i.evidence = vec!["e".into(); 65]), "intent.evidence");
        let reused = v1::SubmitIntentRequest { request_id: "x".into(), ..message() };
        assert_eq!(field(reused), "request_id");
    }

    #[test]
    fn the_wait_is_no_part_of_what_is_asked() {
        let id = "7f9f2a44-9a7c-4b8e-8a53-5a6b2f6f7c11".to_owned();
        let plain = v1::SubmitIntentRequest { request_id: id, ..message() };
        let mut waiting = plain.clone();
        waiting.wait = Some(prost_types::Duration { seconds: 3, nanos: 0 });
        let digest = |message| Submission::try_from(message).unwrap().request.unwrap().1;
        assert_eq!(digest(plain.clone()), digest(waiting));
        let mut other = plain.clone();
        other.intent.as_mut().unwrap().tool = "u".into();
        assert_ne!(digest(plain), digest(other));
    }
}
