//! A byte counter under the client library's connection: how much left, how much came, and the raw
//! head of the answer.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest head that is kept, in bytes; the client library refuses longer ones.
const HEAD_MAX_BYTES: usize = 1 << 20;
/// How much is read at once, in bytes.
const READ_BYTES: usize = 16 * 1024;

/// What went over a connection.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) written: u64,
    pub(super) read: u64,
    head: Vec<u8>,
    head_done: bool,
}

impl Traffic {
    /// The raw head of the final answer, once its empty line came.
    pub(super) fn head(&self) -> Option<&[u8]> {
        self.head_done.then_some(&self.head)
    }

    fn took(&mut self, bytes: &[u8]) {
        self.read = self.read.saturating_add(bytes.len() as u64);
        if self.head_done || self.head.len() > HEAD_MAX_BYTES {
            return;
        }
        self.head.extend_from_slice(bytes);
        while let Some(end) = self.head.windows(4).position(|w| w == b"\r\n\r\n") {
            let rest = self.head.split_off(end + 4);
            let interim =
                self.head.get(9) == Some(&b'1') && !self.head.starts_with(b"HTTP/1.1 101");
            if !interim {
                self.head_done = true;
                return;
            }
            self.head = rest;
        }
    }
}

/// A connection whose traffic is noted.
#[derive(Debug)]
pub(super) struct Tapped<S> {
    inner: S,
    traffic: Arc<Mutex<Traffic>>,
}

impl<S> Tapped<S> {
    pub(super) fn new(inner: S, traffic: Arc<Mutex<Traffic>>) -> Self {
        Self { inner, traffic }
    }
}

/// The traffic, also when a holder of the lock panicked.
pub(super) fn look(traffic: &Mutex<Traffic>) -> MutexGuard<'_, Traffic> {
    traffic.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: AsyncRead + Unpin> hyper::rt::Read for Tapped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut space = vec![0_u8; into.remaining().min(READ_BYTES)];
        let mut buffer = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buffer))?;
        look(&self.traffic).took(buffer.filled());
        into.put_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> hyper::rt::Write for Tapped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        let mut traffic = look(&self.traffic);
        traffic.written = traffic.written.saturating_add(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> Tapped<S> {
    /// Reads one more piece past the end of the answer; the count of bytes that came.
    pub(super) async fn linger(&mut self) -> io::Result<usize> {
        let mut space = [0_u8; 256];
        tokio::io::AsyncReadExt::read(&mut self.inner, &mut space).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_the_final_answer_is_kept_whatever_the_pieces() {
        let wire =
            b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
        for piece in [1, 7, wire.len()] {
            let mut traffic = Traffic::default();
            for bytes in wire.chunks(piece) {
                traffic.took(bytes);
            }
            assert_eq!(traffic.head(), Some(&b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"[..]));
            assert_eq!(traffic.read, wire.len() as u64);
        }
    }

    #[test]
    fn a_head_without_its_empty_line_is_none() {
        let mut traffic = Traffic::default();
        traffic.took(b"HTTP/1.1 200 OK\r\nA: b\r\n");
        assert_eq!(traffic.head(), None);
    }
}
