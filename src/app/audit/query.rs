//! QueryEntries, GetEntry.

use crate::{
    app::{App, Caller, Refused, session_page},
    domain::{clock::Timestamp, ids::EntryId, unit::EntryRow},
    identity::rights::Rpc,
    store::EntryQuery,
};

impl App {
    /// Entries in the order they happened. The page token is `MICROS.ENTRY`.
    ///
    /// # Errors
    /// When the caller is no auditor, or the page token is not one of ours.
    pub async fn entries(
        &self,
        caller: &Caller,
        mut query: EntryQuery,
        page_size: i64,
        page_token: &str,
    ) -> Result<(Vec<EntryRow>, String), Refused> {
        self.authorize(caller, Rpc::QueryEntries, None).await?;
        query.limit = session_page(page_size);
        if !page_token.is_empty() {
            let after = page_token.split_once('.').and_then(|(micros, entry)| {
                let at = micros.parse().ok().map(Timestamp::from_micros)?;
                Some((at, EntryId::parse(entry).ok()?))
            });
            let wrong = || Refused::field("page_token", "not a token of this listing");
            query.after = Some(after.ok_or_else(wrong)?);
        }
        let limit = query.limit;
        let rows = self.store().entries(caller.tenant(), &query).await?;
        let next = match rows.last() {
            Some(last) if i64::try_from(rows.len()).unwrap_or(0) == limit => {
                format!("{}.{}", last.occurred_at.micros(), last.entry)
            }
            Some(_) | None => String::new(),
        };
        Ok((rows, next))
    }

    /// One entry.
    ///
    /// # Errors
    /// Not found when the tenant has none of this name.
    pub async fn entry(&self, caller: &Caller, name: &str) -> Result<EntryRow, Refused> {
        self.authorize(caller, Rpc::GetEntry, None).await?;
        let id = name
            .strip_prefix("entries/")
            .and_then(|handle| EntryId::parse(handle).ok())
            .ok_or_else(Refused::not_found)?;
        self.store().entry(caller.tenant(), &id).await?.ok_or_else(Refused::not_found)
    }
}
