//! SubmitStatement: the principal's own words, through his own credential.

use crate::{
    app::{App, Caller, Refused, access},
    domain::{
        datum::{Datum, Origin, STATEMENT_KIND, StatementPart, statement},
        entry::EntryKind,
        limits,
        reason::ReasonCode,
    },
    identity::rights::Rpc,
};

impl App {
    /// Stores a statement.
    ///
    /// # Errors
    /// When the caller is neither the session's principal nor a relay, or the words are too many.
    pub async fn state(
        &self,
        caller: &Caller,
        session: &str,
        parts: Vec<StatementPart>,
    ) -> Result<Datum, Refused> {
        let id = access::session_id(session)?;
        self.authorize(caller, Rpc::SubmitStatement, Some(&id)).await?;
        if parts.is_empty() || parts.len() > limits::STATEMENT_PARTS_MAX {
            return Err(Refused::field(
                "parts",
                format!("1 to {} parts", limits::STATEMENT_PARTS_MAX),
            ));
        }
        let size: usize = parts.iter().map(|part| part.text.len()).sum();
        if size > limits::DATUM_MAX_BYTES {
            return Err(Refused::field(
                "parts",
                format!("at most {} bytes", limits::DATUM_MAX_BYTES),
            ));
        }
        let session = self.session_for(caller, &id).await?;
        let relayed = match caller {
            Caller::Principal(_) => false,
            // A relay is another workload than the one that drives the session.
            Caller::Workload(workload) if workload.sub != session.agent.workload => true,
            Caller::Workload(_) | Caller::Person(_) => {
                return Err(Refused::denied(ReasonCode::NotThePrincipal));
            }
        };
        let (content, labels) = statement(&parts);
        let datum = Datum {
            id: self.ids().datum(STATEMENT_KIND).map_err(Refused::internal)?,
            session: session.id.clone(),
            media_type: "application/json".to_owned(),
            content,
            labels,
            origin: Origin::Statement { relayed },
            created_at: self.now(),
            display: None,
        };
        self.keep_datum(caller, &datum, EntryKind::Statement).await?;
        Ok(datum)
    }
}
