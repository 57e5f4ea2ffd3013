//! The guard as every party sees it: an address, a bearer token, `stateguard.v1`.

use tonic::{
    Request,
    transport::{Channel, Endpoint},
};

use super::error::Failed;
use crate::pb::v1::{
    approval_service_client::ApprovalServiceClient, audit_service_client::AuditServiceClient,
    data_service_client::DataServiceClient, intent_service_client::IntentServiceClient,
    session_service_client::SessionServiceClient,
};

/// A connection to the guard.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    channel: Channel,
}

impl Guard {
    /// Connects to `HOST:PORT`.
    pub(crate) async fn connect(address: &str) -> Result<Self, Failed> {
        let endpoint = Endpoint::from_shared(format!("http://{address}"))?
            .connect_timeout(std::time::Duration::from_secs(5))
            .timeout(std::time::Duration::from_secs(45));
        Ok(Self { channel: endpoint.connect().await? })
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn data(&self) -> DataServiceClient<Channel> {
        DataServiceClient::new(self.channel.clone())
    }

    pub(crate) fn intents(&self) -> IntentServiceClient<Channel> {
        IntentServiceClient::new(self.channel.clone())
    }

    pub(crate) fn approvals(&self) -> ApprovalServiceClient<Channel> {
        ApprovalServiceClient::new(self.channel.clone())
    }

    pub(crate) fn audit(&self) -> AuditServiceClient<Channel> {
        AuditServiceClient::new(self.channel.clone())
    }
}

/// A message with its caller's credential.
pub(crate) fn signed<M>(token: &str, message: M) -> Result<Request<M>, Failed> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}")
        .parse()
        .map_err(|_| Failed::here("a token holds characters that no header takes".to_owned()))?;
    request.metadata_mut().insert("authorization", bearer);
    Ok(request)
}
