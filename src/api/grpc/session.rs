//! SessionService.

use tonic::{Request, Response, Status};

use super::{Api, status};
use crate::{
    app::session::Opening,
    pb::v1::{self, session_service_server::SessionService},
};

#[tonic::async_trait]
impl SessionService for Api {
    async fn open_session(
        &self,
        request: Request<v1::OpenSessionRequest>,
    ) -> Result<Response<v1::Session>, Status> {
        let caller = self.caller(&request)?;
        let opening = Opening::try_from(request.into_inner())?;
        let session = self.app.open_session(&caller, opening).await;
        Ok(Response::new(session.map_err(|r| status::from(&r))?.into()))
    }

    async fn get_session(
        &self,
        request: Request<v1::GetSessionRequest>,
    ) -> Result<Response<v1::Session>, Status> {
        let caller = self.caller(&request)?;
        let v1::GetSessionRequest { name } = request.into_inner();
        let session = self.app.session(&caller, &name).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(session.into()))
    }

    async fn list_sessions(
        &self,
        request: Request<v1::ListSessionsRequest>,
    ) -> Result<Response<v1::ListSessionsResponse>, Status> {
        let caller = self.caller(&request)?;
        let v1::ListSessionsRequest { page_size, page_token } = request.into_inner();
        let listed = self.app.sessions(&caller, i64::from(page_size), &page_token).await;
        let (sessions, next_page_token) = listed.map_err(|r| status::from(&r))?;
        let sessions = sessions.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::ListSessionsResponse { sessions, next_page_token }))
    }

    async fn hand_over(
        &self,
        request: Request<v1::HandOverRequest>,
    ) -> Result<Response<v1::Session>, Status> {
        let caller = self.caller(&request)?;
        let v1::HandOverRequest { name, note } = request.into_inner();
        let session = self.app.hand_over(&caller, &name, &note).await;
        Ok(Response::new(session.map_err(|r| status::from(&r))?.into()))
    }

    async fn close_session(
        &self,
        request: Request<v1::CloseSessionRequest>,
    ) -> Result<Response<v1::Session>, Status> {
        let caller = self.caller(&request)?;
        let v1::CloseSessionRequest { name } = request.into_inner();
        let session = self.app.close_session(&caller, &name).await;
        Ok(Response::new(session.map_err(|r| status::from(&r))?.into()))
    }
}
