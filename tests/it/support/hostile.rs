//! A tool server that does what a script says, byte by byte, on a raw socket.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// One step of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Writes these bytes one by one.
    Drip(Vec<u8>),
    /// Writes these bytes again and again until the client goes away.
    Flood(Vec<u8>),
    /// Waits before the next step.
    Wait(Duration),
    /// Waits until the client goes away.
    Hang,
    /// Ends the connection with a reset.
    Reset,
}

/// See the module. Every connection gets the same script.
#[derive(Debug)]
pub(crate) struct Hostile {
    /// Where it listens.
    pub(crate) at: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    gone: mpsc::UnboundedReceiver<()>,
    task: JoinHandle<()>,
}

impl Hostile {
    /// A server that plays `script` after reading each request.
    pub(crate) async fn playing(script: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (tell, gone) = mpsc::unbounded_channel();
        let seen = requests.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, script, tell) = (seen.clone(), script.clone(), tell.clone());
                tokio::spawn(async move {
                    play(stream, &script, &seen).await;
                    let _ = tell.send(());
                });
            }
        });
        Self { at, requests, gone, task }
    }

    /// A server that answers these bytes and closes.
    pub(crate) async fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        Self::playing(vec![Step::Send(bytes.into())]).await
    }

    /// The requests read so far, as text.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Resolves when a connection has ended.
    pub(crate) async fn connection_ended(&mut self) {
        self.gone.recv().await.unwrap();
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn play(mut stream: TcpStream, script: &[Step], seen: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream).await else { return };
    seen.lock().unwrap().push(request);
    for step in script {
        let done = match step {
            Step::Send(bytes) => stream.write_all(bytes).await,
            Step::Drip(bytes) => drip(&mut stream, bytes).await,
            Step::Flood(bytes) => loop {
                if let Err(error) = stream.write_all(bytes).await {
                    break Err(error);
                }
            },
            Step::Wait(time) => {
                tokio::time::sleep(*time).await;
                Ok(())
            }
            Step::Hang => {
                let _ = stream.read_to_end(&mut Vec::new()).await;
                Ok(())
            }
            Step::Reset => stream.set_zero_linger(),
        };
        if done.is_err() {
            return;
        }
    }
    if !matches!(script.last(), Some(Step::Reset)) {
        let _ = stream.shutdown().await;
    }
}

async fn drip(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let mut space = [0; 4096];
    loop {
        let count = stream.read(&mut space).await.ok()?;
        if count == 0 {
            return None;
        }
        read.extend_from_slice(&space[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
    }
}
