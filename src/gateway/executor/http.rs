//! Tools that speak HTTP/1.1. One connection an attempt, no proxy, no redirects followed, no
//! repetition, no decompression: what came is what is reported.
//!
//! A connection of its own makes "not sent" provable (a pooled one may die while we write) and no
//! leftover bytes of one answer can become the next one. See `docs/decisions` on the byte counter.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, pki_types::ServerName},
};

use super::{
    Executor,
    head::{self, Head},
    tap::{Tapped, Traffic, look},
};
use crate::{
    domain::{
        clock::Clock,
        request::Unsendable,
        response::{Framing, RawResponse},
    },
    gateway::{
        attempt::{Exchange, Phase, TransportFault},
        call::Call,
        endpoint::Endpoint,
        permit::Permit,
    },
};

/// How long we look for bytes past the end of an answer whose server closes the connection.
const LINGER: Duration = Duration::from_millis(50);

/// The executor of HTTP tools.
pub struct HttpExecutor {
    tls: TlsConnector,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for HttpExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpExecutor").finish_non_exhaustive()
    }
}

/// What an exchange has reached so far; read when its time is up.
#[derive(Debug, Default)]
struct Progress {
    head: Option<Head>,
    body: Vec<u8>,
}

type Shared<T> = Arc<Mutex<T>>;

impl HttpExecutor {
    /// An executor that trusts the public roots for `https` endpoints.
    ///
    /// # Errors
    /// When the TLS library refuses its protocol versions.
    pub fn new(clock: Arc<dyn Clock>) -> Result<Self, tokio_rustls::rustls::Error> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: TlsConnector::from(Arc::new(config)), clock })
    }

    fn window_is_open(&self, permit: &Permit) -> bool {
        permit.send_before().is_none_or(|end| self.clock.now() < end)
    }

    /// Connects, checks the window of the write right before the first byte, and talks.
    async fn exchange(
        &self,
        endpoint: &Endpoint,
        permit: &Permit,
        ready: Ready,
        traffic: &Shared<Traffic>,
        progress: &Shared<Progress>,
    ) -> Result<Framing, TransportFault> {
        let tcp = connect(endpoint).await?;
        if !endpoint.is_tls() {
            if !self.window_is_open(permit) {
                return Err(TransportFault::WindowPassed);
            }
            return talk(Tapped::new(tcp, traffic.clone()), ready, traffic, progress).await;
        }
        let name = ServerName::try_from(endpoint.host().to_owned())
            .map_err(|_| TransportFault::TlsFailed)?;
        let tls = self.tls.connect(name, tcp).await.map_err(|_| TransportFault::TlsFailed)?;
        if !self.window_is_open(permit) {
            return Err(TransportFault::WindowPassed);
        }
        talk(Tapped::new(tls, traffic.clone()), ready, traffic, progress).await
    }
}

#[async_trait::async_trait]
impl Executor for HttpExecutor {
    async fn send(
        &self,
        endpoint: &Endpoint,
        permit: &Permit,
        call: &Call,
        timeout: Duration,
    ) -> Exchange {
        let Ok(ready) = ready(endpoint, permit, call) else {
            return Exchange::not_sent(TransportFault::Unsendable);
        };
        let traffic = Shared::<Traffic>::default();
        let progress = Shared::<Progress>::default();
        let end = Instant::now() + timeout;
        let work = Box::pin(self.exchange(endpoint, permit, ready, &traffic, &progress));
        let ended = timeout_at(end, work).await.ok();
        let progress =
            std::mem::take(&mut *progress.lock().unwrap_or_else(PoisonError::into_inner));
        let traffic = look(&traffic);
        report(ended, progress, traffic.written, traffic.read)
    }
}

/// Puts together what is known when an exchange ended, or `None` when its time was up.
fn report(
    ended: Option<Result<Framing, TransportFault>>,
    progress: Progress,
    written: u64,
    read: u64,
) -> Exchange {
    let Progress { head, body } = progress;
    let (framing, fault) = match ended {
        Some(Ok(framing)) => (framing, TransportFault::MalformedHead),
        Some(Err(fault)) => (Framing::Truncated, fault),
        None if written == 0 => (Framing::Stalled, TransportFault::ConnectTimeout),
        None => (Framing::Stalled, TransportFault::Timeout),
    };
    let phase = match (&head, framing) {
        (Some(_), Framing::Truncated | Framing::Stalled) => Phase::PartlyAnswered,
        (Some(_), _) => Phase::Answered,
        (None, _) if written == 0 => Phase::NotSent,
        (None, _) if read == 0 => Phase::Sent,
        (None, _) => Phase::PartlyAnswered,
    };
    match head {
        Some(Head { status, headers }) => Exchange {
            phase,
            response: Some(RawResponse { status, headers, framing, body }),
            fault: None,
            bytes_sent: written,
        },
        None => Exchange { phase, response: None, fault: Some(fault), bytes_sent: written },
    }
}

/// A request in the client library's form, and the limit of its answer.
struct Ready {
    request: Request<Full<Bytes>>,
    max_bytes: usize,
}

fn ready(endpoint: &Endpoint, permit: &Permit, call: &Call) -> Result<Ready, Unsendable> {
    let request = &call.request;
    let target = format!("{}/{}", endpoint.base_path(), request.target()?);
    let uri: Uri = target.parse().map_err(|_| Unsendable::Segment(target.clone()))?;
    let body = request.body_bytes()?;
    let has_body = body.is_some();
    let mut built = Request::new(Full::new(Bytes::from(body.unwrap_or_default())));
    *built.uri_mut() = uri;
    *built.method_mut() =
        request.method.parse().map_err(|_| Unsendable::Header(request.method.clone()))?;
    let headers = built.headers_mut();
    for (name, value) in &request.headers {
        headers.insert(header_name(name)?, header_value(name, value)?);
    }
    headers.insert(header::HOST, header_value("host", endpoint.authority())?);
    headers.insert(header::ACCEPT, header_value("accept", &call.accept)?);
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(
        header::USER_AGENT,
        HeaderValue::from_static(concat!("stateguard/", env!("CARGO_PKG_VERSION"))),
    );
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if has_body {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let (Some(name), Some(key)) = (&call.idempotency_header, permit.provider_key()) {
        headers.insert(header_name(name)?, header_value(name, key)?);
    }
    for (name, value) in endpoint.secret_headers() {
        headers.insert(name, value);
    }
    Ok(Ready { request: built, max_bytes: call.max_bytes })
}

fn header_name(name: &str) -> Result<HeaderName, Unsendable> {
    name.parse().map_err(|_| Unsendable::Header(name.to_owned()))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, Unsendable> {
    HeaderValue::from_str(value).map_err(|_| Unsendable::Header(name.to_owned()))
}

async fn connect(endpoint: &Endpoint) -> Result<TcpStream, TransportFault> {
    let found = tokio::net::lookup_host((endpoint.host(), endpoint.port())).await;
    let mut fault = TransportFault::NameUnresolved;
    for address in found.map_err(|_| TransportFault::NameUnresolved)? {
        match TcpStream::connect(address).await {
            Ok(tcp) => {
                // Without it a small request waits for an acknowledgement; failing to set it only costs time.
                let _ = tcp.set_nodelay(true);
                return Ok(tcp);
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fault = TransportFault::Refused;
            }
            Err(_) => fault = TransportFault::Unreachable,
        }
    }
    Err(fault)
}

/// Sends the request and reads the answer, then looks for bytes past its end.
async fn talk<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    io: Tapped<S>,
    ready: Ready,
    traffic: &Shared<Traffic>,
    progress: &Shared<Progress>,
) -> Result<Framing, TransportFault> {
    let (sender, connection) = http1::handshake(io).await.map_err(|_| TransportFault::Closed)?;
    let mut connection = Box::pin(connection.without_shutdown());
    let mut answer = Box::pin(read_answer(sender, ready, traffic, progress));
    let mut parts = None;
    let framing = tokio::select! {
        biased;
        framing = &mut answer => framing?,
        ended = &mut connection => {
            parts = ended.ok();
            answer.as_mut().await?
        }
    };
    let closes = progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .head
        .as_ref()
        .is_some_and(Head::closes);
    if framing != Framing::Whole {
        return Ok(framing);
    }
    if parts.is_none() {
        parts = tokio::time::timeout(LINGER, connection).await.ok().and_then(Result::ok);
    }
    let Some(mut parts) = parts else { return Ok(framing) };
    if !parts.read_buf.is_empty() {
        return Ok(Framing::Overrun);
    }
    if closes && let Ok(Ok(1..)) = tokio::time::timeout(LINGER, parts.io.linger()).await {
        return Ok(Framing::Overrun);
    }
    Ok(framing)
}

async fn read_answer(
    mut sender: http1::SendRequest<Full<Bytes>>,
    ready: Ready,
    traffic: &Shared<Traffic>,
    progress: &Shared<Progress>,
) -> Result<Framing, TransportFault> {
    let answered = sender.send_request(ready.request).await;
    let raw = look(traffic).head().and_then(head::read);
    let keep = |head: &Head| {
        progress.lock().unwrap_or_else(PoisonError::into_inner).head = Some(head.clone());
    };
    if let Some(head) = &raw
        && head.has_length_conflict()
    {
        keep(head);
        return Ok(Framing::LengthConflict);
    }
    let answer = match (answered, raw.is_some(), look(traffic).read) {
        (Ok(answer), true, _) => answer,
        (Err(_), false, 0) => return Err(TransportFault::Closed),
        (Ok(_), false, _) | (Err(_), _, _) => return Err(TransportFault::MalformedHead),
    };
    let Some(head) = raw else { return Err(TransportFault::MalformedHead) };
    keep(&head);
    if head.length().is_some_and(|length| length > ready.max_bytes as u64) {
        return Ok(Framing::TooLarge);
    }
    Ok(read_body(answer.into_body(), ready.max_bytes, progress).await)
}

async fn read_body(
    mut body: hyper::body::Incoming,
    max_bytes: usize,
    progress: &Shared<Progress>,
) -> Framing {
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Framing::Truncated };
        let Ok(data) = frame.into_data() else { continue };
        let read = &mut progress.lock().unwrap_or_else(PoisonError::into_inner).body;
        let room = max_bytes.saturating_sub(read.len());
        if data.len() > room {
            read.extend(data.iter().take(room));
            return Framing::TooLarge;
        }
        read.extend_from_slice(&data);
    }
    Framing::Whole
}
