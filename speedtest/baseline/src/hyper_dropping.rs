// SPDX-License-Identifier: Apache-2.0
//! hyper over a connection that drops the bytes of bodies inside the kernel and tells hyper they were read.
//!
//! hyper hands out unwritten memory as the body; the service drops it without reading. That works
//! for a benchmark only: a client that pipelines would lose its next head.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::drain::{Drain, MOST_AT_ONCE};
use crate::Ended;

/// Socket as hyper sees it.
struct Lying {
    drain: Drain,
    /// Bytes of the awaited body that the service has not seen yet.
    left: Arc<AtomicU64>,
}

impl Read for Lying {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.left.load(Ordering::Relaxed);
        let drain = &mut self.drain;
        if left == 0 {
            return Pin::new(&mut TokioIo::new(&mut drain.socket)).poll_read(cx, buffer);
        }
        let room = buffer.remaining() as u64;
        loop {
            match drain.try_drop(left, room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(count) => {
                    // SAFETY: at most what remains. The bytes were not written, and the service,
                    // the only reader, drops them without reading.
                    #[expect(unsafe_code, reason = "this is the lie that is measured")]
                    unsafe {
                        buffer.advance(usize::try_from(count).unwrap_or(0));
                    }
                    return Poll::Ready(Ok(()));
                }
            }
            match drain.socket.poll_read_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Write for Lying {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut TokioIo::new(&mut self.drain.socket)).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut TokioIo::new(&mut self.drain.socket)).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut TokioIo::new(&mut self.drain.socket)).poll_shutdown(cx)
    }
}

pub async fn http(socket: TcpStream) -> Ended {
    let left = Arc::new(AtomicU64::new(0));
    let io = Lying { drain: Drain::new(socket), left: Arc::clone(&left) };
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let left = Arc::clone(&left);
        async move {
            let mut body = request.into_body();
            left.store(body.size_hint().exact().unwrap_or(0), Ordering::Relaxed);
            while let Some(Ok(frame)) = body.frame().await {
                let count = frame.data_ref().map_or(0, Bytes::len) as u64;
                left.fetch_sub(count, Ordering::Relaxed);
            }
            Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new()))
        }
    });
    // As much at once as our server drops: hyper's own limit is a tenth of that.
    let most = usize::try_from(MOST_AT_ONCE)?;
    Ok(http1::Builder::new().max_buf_size(most).serve_connection(io, answer).await?)
}
