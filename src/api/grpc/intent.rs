//! IntentService.

use tonic::{Request, Response, Status};

use super::{
    Api,
    convert::intent::{exposes, redacts},
    status,
};
use crate::{
    app::intent::{Confirmation, Submission},
    pb::v1::{self, intent_service_server::IntentService},
};

#[tonic::async_trait]
impl IntentService for Api {
    async fn list_tools(
        &self,
        request: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        let caller = self.caller(&request)?;
        let v1::ListToolsRequest { session } = request.into_inner();
        let tools = self.app.tools(&caller, &session).await.map_err(|r| status::from(&r))?;
        let tools = tools
            .into_iter()
            .map(|tool| v1::Tool {
                name: tool.name,
                description: tool.description,
                input_schema_json: tool.input_schema.to_string(),
                risks: tool.risks,
                available: tool.available,
            })
            .collect();
        Ok(Response::new(v1::ListToolsResponse { tools }))
    }

    async fn submit_intent(
        &self,
        request: Request<v1::SubmitIntentRequest>,
    ) -> Result<Response<v1::Action>, Status> {
        let caller = self.caller(&request)?;
        let message = request.into_inner();
        let redacts = redacts(message.result_view);
        let submission = Submission::try_from(message)?;
        let mut answer =
            self.app.submit(&caller, submission).await.map_err(|r| status::from(&r))?;
        if redacts {
            answer.result = answer.result.map(|datum| datum.redacted_for(caller.reader()));
        }
        Ok(Response::new(answer.into()))
    }

    async fn get_action(
        &self,
        request: Request<v1::GetActionRequest>,
    ) -> Result<Response<v1::Action>, Status> {
        let caller = self.caller(&request)?;
        let v1::GetActionRequest { name, result_view } = request.into_inner();
        let exposes = exposes("result_view", result_view)?;
        let found = self.app.action(&caller, &name, exposes).await;
        let mut answer = found.map_err(|r| status::from(&r))?;
        if redacts(result_view) {
            answer.result = answer.result.map(|datum| datum.redacted_for(caller.reader()));
        }
        Ok(Response::new(answer.into()))
    }

    async fn confirm_action(
        &self,
        request: Request<v1::ConfirmActionRequest>,
    ) -> Result<Response<v1::Action>, Status> {
        let caller = self.caller(&request)?;
        let v1::ConfirmActionRequest { name, digest, confirm } = request.into_inner();
        let confirmation = Confirmation { action: name, digest, confirm };
        let answer = self.app.confirm(&caller, confirmation).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(answer.into()))
    }

    async fn cancel_action(
        &self,
        request: Request<v1::CancelActionRequest>,
    ) -> Result<Response<v1::Action>, Status> {
        let caller = self.caller(&request)?;
        let v1::CancelActionRequest { name } = request.into_inner();
        let answer = self.app.cancel(&caller, &name).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(answer.into()))
    }

    async fn explain_action(
        &self,
        request: Request<v1::ExplainActionRequest>,
    ) -> Result<Response<v1::Explanation>, Status> {
        let caller = self.caller(&request)?;
        let v1::ExplainActionRequest { name } = request.into_inner();
        let explanation = self.app.explain(&caller, &name).await.map_err(|r| status::from(&r))?;
        Ok(Response::new(explanation.into()))
    }
}
