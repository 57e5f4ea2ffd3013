//! Owns: the gRPC services: messages in, verbs called, messages out.
//! Must not know: store, hook, gateway, policy.
//! Start reading at: `intent.rs`.

mod approval;
mod audit;
pub mod convert;
mod data;
mod intent;
mod serve;
mod session;
mod status;

use tonic::{Request, Status};

pub use self::serve::{ServeError, serve};
use crate::{
    app::{App, Caller},
    pb::v1::{
        approval_service_server::ApprovalServiceServer, audit_service_server::AuditServiceServer,
        data_service_server::DataServiceServer, intent_service_server::IntentServiceServer,
        session_service_server::SessionServiceServer,
    },
};

/// The services over one app.
#[derive(Debug, Clone)]
pub struct Api {
    app: App,
}

impl Api {
    /// Services over this app.
    #[must_use]
    pub const fn new(app: App) -> Self {
        Self { app }
    }

    /// Who makes this call.
    fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        let token = bearer(request)?;
        self.app.authenticate(token).map_err(|refused| status::from(&refused))
    }
}

/// The bearer token of a call; exactly one `authorization` value counts.
fn bearer<T>(request: &Request<T>) -> Result<Option<&str>, Status> {
    let mut values = request.metadata().get_all("authorization").iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(Status::unauthenticated("more than one `authorization` value"));
    }
    let text = first.and_then(|value| value.to_str().ok());
    Ok(text.and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }))
}

/// All services, with the message limit, as routes for a tonic server.
#[must_use]
pub fn routes(app: App, max_message_bytes: usize) -> tonic::service::Routes {
    let api = Api::new(app);
    let cap = max_message_bytes;
    tonic::service::Routes::new(
        SessionServiceServer::new(api.clone()).max_decoding_message_size(cap),
    )
    .add_service(DataServiceServer::new(api.clone()).max_decoding_message_size(cap))
    .add_service(IntentServiceServer::new(api.clone()).max_decoding_message_size(cap))
    .add_service(ApprovalServiceServer::new(api.clone()).max_decoding_message_size(cap))
    .add_service(AuditServiceServer::new(api).max_decoding_message_size(cap))
}
