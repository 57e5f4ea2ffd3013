//! IngestDatum: content that the agent hands in; always untrusted, and the agent has seen it.

use serde_json::json;

use crate::{
    app::{App, Caller, Refused, RefusedKind, access, journal::Said},
    bundle::Bundle,
    domain::{
        datum::{Content, Datum, Origin, STATEMENT_KIND},
        entry::EntryKind,
        ids::{ActionId, EntryId, InputsRef, QuarantineId, QuestionId, SessionId},
        json::{self, JsonLimits},
        label::{Integrity, Label, LabelMap},
        limits,
        reason::ReasonCode,
        session::SessionState,
    },
    identity::rights::Rpc,
};

/// What an agent hands in.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// `sessions/ses_…`.
    pub session: String,
    /// The handle's prefix.
    pub kind: String,
    /// With or without parameters.
    pub media_type: String,
    /// The bytes.
    pub content: Vec<u8>,
}

impl App {
    /// Stores content.
    ///
    /// # Errors
    /// When the session is not the caller's, or the content is too large or not what its media
    /// type says.
    pub async fn ingest(&self, caller: &Caller, ingest: Ingest) -> Result<Datum, Refused> {
        let id = access::session_id(&ingest.session)?;
        self.authorize(caller, Rpc::IngestDatum, Some(&id)).await?;
        if ingest.content.len() > limits::DATUM_MAX_BYTES {
            let mut refused =
                Refused::field("content", format!("at most {} bytes", limits::DATUM_MAX_BYTES));
            refused.code = ReasonCode::LimitExceeded;
            return Err(refused);
        }
        let session = self.session_for(caller, &id).await?;
        let bundle = self.bundle(&session.bundle_digest).await?;
        if is_reserved(&bundle, &ingest.kind) {
            return Err(Refused::field(
                "kind",
                "this kind is for data that the daemon itself stores",
            ));
        }
        let media_type = media_type(&ingest.media_type)?;
        let datum = Datum {
            id: self
                .ids()
                .datum(&ingest.kind)
                .map_err(|_| Refused::field("kind", "1 to 32 characters of a-z, 0-9 and _"))?,
            session: session.id.clone(),
            content: content(&media_type, ingest.content)?,
            media_type,
            labels: LabelMap::whole(Label::unlabelled()),
            origin: Origin::Ingested,
            created_at: self.now(),
            display: None,
        };
        self.keep_datum(caller, &datum, EntryKind::Datum).await?;
        Ok(datum)
    }

    /// Stores a datum of a session that is open and has room for it.
    pub(super) async fn keep_datum(
        &self,
        caller: &Caller,
        datum: &Datum,
        kind: EntryKind,
    ) -> Result<(), Refused> {
        let label = datum.labels.joined();
        let unit = if kind == EntryKind::Statement { "data.state" } else { "data.ingest" };
        let is_statement = kind == EntryKind::Statement;
        self.change_session(caller, &datum.session, unit, |journal| {
            if matches!(journal.session.state, SessionState::Closed) {
                return Err(Refused::state(ReasonCode::SessionClosed));
            }
            if journal.now >= journal.session.expires_at {
                return Err(Refused::state(ReasonCode::SessionExpired));
            }
            if journal.session.data_count >= limits::DATA_PER_SESSION_MAX {
                return Err(Refused::new(RefusedKind::Exhausted, ReasonCode::LimitExceeded)
                    .saying(format!(
                        "a session holds at most {} data",
                        limits::DATA_PER_SESSION_MAX
                    )));
            }
            journal.new_datum(datum)?;
            let members = json!({
                "inputs": [datum.in_log()],
                "origin": datum.origin.describe(),
                "size_bytes": datum.content.size(),
            });
            journal.write(kind, Said::with(members))?;
            if !is_statement {
                // What the agent handed in, it had.
                journal.session.exposure.add(datum.id.as_str(), &label);
            }
            Ok(true)
        })
        .await?;
        Ok(())
    }
}

/// Kinds whose handles would make untrusted content look like a record or a statement.
fn is_reserved(bundle: &Bundle, kind: &str) -> bool {
    let own = [
        SessionId::KIND,
        ActionId::KIND,
        EntryId::KIND,
        InputsRef::KIND,
        QuestionId::KIND,
        QuarantineId::KIND,
        STATEMENT_KIND,
    ];
    let records = bundle.contracts.values().filter(|contract| {
        contract.response.labels.values().any(|label| label.integrity > Integrity::Untrusted)
    });
    own.contains(&kind) || records.into_iter().any(|contract| contract.response.datum.kind == kind)
}

fn media_type(given: &str) -> Result<String, Refused> {
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let fits = essence.len() <= limits::NAME_MAX_BYTES
        && essence.split_once('/').is_some_and(|(ty, sub)| {
            let token = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
            };
            token(ty) && token(sub)
        });
    if fits {
        Ok(essence)
    } else {
        Err(Refused::field("media_type", "a media type such as text/plain"))
    }
}

fn content(media_type: &str, bytes: Vec<u8>) -> Result<Content, Refused> {
    let is_json = media_type == "application/json" || media_type.ends_with("+json");
    if is_json {
        let value = json::parse(&bytes, &JsonLimits::ARGUMENTS)
            .map_err(|fault| Refused::field("content", format!("not strict JSON: {fault}")))?;
        return Ok(Content::Json(value));
    }
    if media_type.starts_with("text/") || media_type == "message/rfc822" {
        return String::from_utf8(bytes)
            .map(Content::Text)
            .map_err(|_| Refused::field("content", "text must be UTF-8"));
    }
    Ok(Content::Bytes(bytes))
}
