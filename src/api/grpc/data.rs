//! DataService.

use tonic::{Request, Response, Status};

use super::{
    Api,
    convert::{
        data,
        intent::{exposes, redacts},
    },
    status,
};
use crate::{
    app::data::{EndorseRequest, Ingest},
    pb::v1::{self, data_service_server::DataService},
};

#[tonic::async_trait]
impl DataService for Api {
    async fn ingest_datum(
        &self,
        request: Request<v1::IngestDatumRequest>,
    ) -> Result<Response<v1::Datum>, Status> {
        let caller = self.caller(&request)?;
        let ingest = Ingest::try_from(request.into_inner())?;
        let datum = self.app.ingest(&caller, ingest).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(data::datum(&datum, false)))
    }

    async fn submit_statement(
        &self,
        request: Request<v1::SubmitStatementRequest>,
    ) -> Result<Response<v1::Datum>, Status> {
        let caller = self.caller(&request)?;
        let v1::SubmitStatementRequest { session, parts } = request.into_inner();
        let parts = data::parts(parts)?;
        let datum = self.app.state(&caller, &session, parts).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(data::datum(&datum, false)))
    }

    async fn get_datum(
        &self,
        request: Request<v1::GetDatumRequest>,
    ) -> Result<Response<v1::Datum>, Status> {
        let caller = self.caller(&request)?;
        let v1::GetDatumRequest { session, datum, view } = request.into_inner();
        let exposes = exposes("view", view)?;
        let found = self.app.datum(&caller, &session, &datum, exposes).await;
        let mut datum = found.map_err(|r| status::from(&r))?;
        if redacts(view) {
            datum = datum.redacted_for(caller.reader());
        }
        Ok(Response::new(data::datum(&datum, exposes)))
    }

    async fn list_data(
        &self,
        request: Request<v1::ListDataRequest>,
    ) -> Result<Response<v1::ListDataResponse>, Status> {
        let caller = self.caller(&request)?;
        let v1::ListDataRequest { session, page_size, page_token } = request.into_inner();
        let listed = self.app.data(&caller, &session, i64::from(page_size), &page_token).await;
        let (listed, next_page_token) = listed.map_err(|r| status::from(&r))?;
        let data = listed.iter().map(|datum| data::datum(datum, false)).collect();
        Ok(Response::new(v1::ListDataResponse { data, next_page_token }))
    }

    async fn endorse_value(
        &self,
        request: Request<v1::EndorseValueRequest>,
    ) -> Result<Response<v1::EndorseValueResponse>, Status> {
        let caller = self.caller(&request)?;
        let request = EndorseRequest::from(request.into_inner());
        let endorsed = self.app.endorse(&caller, request).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(endorsed.into()))
    }
}
