//! GetDatum, ListData.

use crate::{
    app::{App, Caller, Refused, access, session_page},
    domain::{datum::Datum, ids::DatumId},
    identity::rights::Rpc,
};

impl App {
    /// One datum of a session. `exposes`: its content goes out, which is recorded before.
    ///
    /// # Errors
    /// Not found when session or datum are not the caller's.
    pub async fn datum(
        &self,
        caller: &Caller,
        session: &str,
        datum: &str,
        exposes: bool,
    ) -> Result<Datum, Refused> {
        let id = access::session_id(session)?;
        self.authorize(caller, Rpc::GetDatum, Some(&id)).await?;
        let session = self.session_for(caller, &id).await?;
        let handle = DatumId::parse(datum).map_err(|_| Refused::not_found())?;
        let row = self.store().datum(&session.tenant, &handle).await?;
        let row = row.filter(|row| row.session == session.id).ok_or_else(Refused::not_found)?;
        let datum = self.datum_from(&session.tenant, &row)?;
        let reaches_model =
            matches!(caller, Caller::Workload(w) if w.sub == session.agent.workload);
        if exposes && reaches_model && !session.exposure.sources.contains(datum.id.as_str()) {
            self.change_session(caller, &id, "data.expose", |journal| {
                crate::app::intent::expose(journal, &datum)?;
                Ok(true)
            })
            .await?;
        }
        Ok(datum)
    }

    /// Data of a session, without content.
    ///
    /// # Errors
    /// As [`App::datum`].
    pub async fn data(
        &self,
        caller: &Caller,
        session: &str,
        page_size: i64,
        page_token: &str,
    ) -> Result<(Vec<Datum>, String), Refused> {
        let id = access::session_id(session)?;
        self.authorize(caller, Rpc::ListData, Some(&id)).await?;
        let session = self.session_for(caller, &id).await?;
        let after = match page_token {
            "" => None,
            token => Some(
                DatumId::parse(token)
                    .map_err(|_| Refused::field("page_token", "not a token of this listing"))?,
            ),
        };
        let limit = session_page(page_size);
        let rows = self.store().data(&session.tenant, &session.id, after.as_ref(), limit).await?;
        let next = if i64::try_from(rows.len()).unwrap_or(0) == limit {
            rows.last().map(|row| row.datum.to_string()).unwrap_or_default()
        } else {
            String::new()
        };
        let data = rows
            .iter()
            .map(|row| self.datum_from(&session.tenant, row))
            .collect::<Result<_, _>>()?;
        Ok((data, next))
    }
}
