//! The binary as a daemon, and its API as an agent service calls it.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::Value;
use stateguard::pb::v1::{
    self, intent_service_client::IntentServiceClient, session_service_client::SessionServiceClient,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use tonic::{Request, transport::Channel};

/// A running daemon; dropped, it is killed.
pub(crate) struct Daemon {
    child: Child,
    channel: Channel,
    pub(crate) http: String,
}

impl Daemon {
    pub(crate) async fn start(configuration: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stateguard"))
            .args(["serve", "--config"])
            .arg(configuration)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(Duration::from_secs(60), lines.next_line());
        let first = first.await.expect("a daemon in time").unwrap().expect("a first line");
        let said: Value = serde_json::from_str(&first).unwrap();
        let address = format!("http://{}", said["grpc"].as_str().unwrap());
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        Self { child, channel, http: format!("http://{}", said["http"].as_str().unwrap()) }
    }

    /// SIGKILL, and the end of the process.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) fn intents(&self) -> IntentServiceClient<Channel> {
        IntentServiceClient::new(self.channel.clone())
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }
}

/// A message with a bearer token.
pub(crate) fn signed<M>(token: &str, message: M) -> Request<M> {
    let mut request = Request::new(message);
    let value = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

pub(crate) fn submission(
    session: &str,
    tool: &str,
    arguments: &Value,
    cited: Option<&str>,
) -> v1::SubmitIntentRequest {
    let citations = cited.map(|datum| v1::Citation {
        argument: "/order_id".to_owned(),
        datum: datum.to_owned(),
        place: Some(v1::citation::Place::Pointer("/order_id".to_owned())),
    });
    v1::SubmitIntentRequest {
        session: session.to_owned(),
        intent: Some(v1::Intent {
            purpose: "refund_request".to_owned(),
            tool: tool.to_owned(),
            arguments_json: arguments.to_string(),
            citations: citations.into_iter().collect(),
            ..v1::Intent::default()
        }),
        result_view: v1::View::Full as i32,
        ..v1::SubmitIntentRequest::default()
    }
}
