//! Owns: the shop's listener and connections, which can go away without a word when a fault asks for it.
//! Must not know: HTTP, orders, which fault is set.
//! Start reading at: `ShopListener`.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A listener that closes its port while `closed` is true, so that clients are refused.
#[derive(Debug)]
pub(super) struct ShopListener {
    at: SocketAddr,
    inner: Option<TcpListener>,
    closed: watch::Receiver<bool>,
}

impl ShopListener {
    pub(super) fn new(at: SocketAddr, inner: TcpListener, closed: watch::Receiver<bool>) -> Self {
        Self { at, inner: Some(inner), closed }
    }

    /// One accepted connection, or nothing when the state of the port has to be looked at again.
    async fn step(&mut self) -> Option<(TcpStream, SocketAddr)> {
        if *self.closed.borrow_and_update() {
            self.inner = None;
            if self.closed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            return None;
        }
        let Some(inner) = &self.inner else {
            self.inner = TcpListener::bind(self.at).await.ok();
            if self.inner.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return None;
        };
        tokio::select! {
            accepted = inner.accept() => accepted.ok(),
            _ = self.closed.changed() => None,
        }
    }
}

impl Listener for ShopListener {
    type Io = ShopStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (ShopStream, SocketAddr) {
        loop {
            if let Some((inner, from)) = self.step().await {
                return (ShopStream { inner, line: Line::default() }, from);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.at)
    }
}

/// The handle of one connection; a handler that drops it ends the connection before a byte is answered.
#[derive(Debug, Clone, Default)]
pub(super) struct Line(Arc<AtomicBool>);

impl Line {
    /// From now on nothing can be written on this connection.
    pub(super) fn drop_it(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_dropped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Connected<IncomingStream<'_, ShopListener>> for Line {
    fn connect_info(stream: IncomingStream<'_, ShopListener>) -> Self {
        stream.io().line.clone()
    }
}

/// One connection of the shop.
#[derive(Debug)]
pub(super) struct ShopStream {
    inner: TcpStream,
    line: Line,
}

impl AsyncRead for ShopStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for ShopStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.line.is_dropped() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
