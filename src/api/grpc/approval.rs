//! ApprovalService.

use tonic::{Request, Response, Status};

use super::{Api, status};
use crate::{
    app::approval::Ballot,
    pb::v1::{self, approval_service_server::ApprovalService},
};

#[tonic::async_trait]
impl ApprovalService for Api {
    async fn list_escalations(
        &self,
        request: Request<v1::ListEscalationsRequest>,
    ) -> Result<Response<v1::ListEscalationsResponse>, Status> {
        let caller = self.caller(&request)?;
        let v1::ListEscalationsRequest { page_size, page_token } = request.into_inner();
        let listed = self.app.escalations(&caller, i64::from(page_size), &page_token).await;
        let (escalations, next_page_token) = listed.map_err(|r| status::from(&r))?;
        let escalations = escalations.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::ListEscalationsResponse { escalations, next_page_token }))
    }

    async fn get_escalation(
        &self,
        request: Request<v1::GetEscalationRequest>,
    ) -> Result<Response<v1::Escalation>, Status> {
        let caller = self.caller(&request)?;
        let v1::GetEscalationRequest { name } = request.into_inner();
        let escalation = self.app.escalation(&caller, &name).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(escalation.into()))
    }

    async fn vote(
        &self,
        request: Request<v1::VoteRequest>,
    ) -> Result<Response<v1::Action>, Status> {
        let caller = self.caller(&request)?;
        let ballot = Ballot::try_from(request.into_inner())?;
        let answer = self.app.vote(&caller, ballot).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(answer.into()))
    }
}
