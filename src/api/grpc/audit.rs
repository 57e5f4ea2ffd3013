//! AuditService.

use tonic::{Request, Response, Status};

use super::{Api, convert::audit, status};
use crate::pb::v1::{self, audit_service_server::AuditService};

#[tonic::async_trait]
impl AuditService for Api {
    async fn query_entries(
        &self,
        request: Request<v1::QueryEntriesRequest>,
    ) -> Result<Response<v1::QueryEntriesResponse>, Status> {
        let caller = self.caller(&request)?;
        let (query, page_size, page_token) = audit::query(request.into_inner())?;
        let found = self.app.entries(&caller, query, page_size, &page_token).await;
        let (rows, next_page_token) = found.map_err(|r| status::from(&r))?;
        let entries = rows.into_iter().map(audit::entry).collect();
        Ok(Response::new(v1::QueryEntriesResponse { entries, next_page_token }))
    }

    async fn get_entry(
        &self,
        request: Request<v1::GetEntryRequest>,
    ) -> Result<Response<v1::Entry>, Status> {
        let caller = self.caller(&request)?;
        let v1::GetEntryRequest { name } = request.into_inner();
        let row = self.app.entry(&caller, &name).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(audit::entry(row)))
    }
}
