// SPDX-License-Identifier: Apache-2.0
//! Servers that read an upload into user space and discard it there, as libraries make one do it: for
//! the benchmarks to compare with, not for use.
//!
//! `speedtest-baseline WS_ADDR HTTP_ADDR`: ndt7-like uploads with tungstenite, LibreSpeed-like ones
//! with hyper, both on tokio with a thread a core.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;

use futures_util::StreamExt;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;

const PROTOCOL: HeaderValue = HeaderValue::from_static("net.measurementlab.ndt.v7");

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut addresses = std::env::args().skip(1);
    let (Some(ws), Some(http)) = (addresses.next(), addresses.next()) else {
        return Err("usage: speedtest-baseline WS_ADDR HTTP_ADDR".into());
    };
    let (ws, http) = (TcpListener::bind(ws).await?, TcpListener::bind(http).await?);
    tokio::try_join!(
        serve(ws, |socket| async { drop(web_socket(socket).await) }),
        serve(http, |socket| async { drop(hyper_http(socket).await) }),
    )?;
    Ok(())
}

/// Every connection is a task of its own; how it ends is its client's business.
async fn serve<F>(listener: TcpListener, each: impl Fn(TcpStream) -> F) -> std::io::Result<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(each(socket));
    }
}

async fn web_socket(socket: TcpStream) -> Result<(), Box<dyn Error + Send + Sync>> {
    #[expect(clippy::result_large_err, reason = "the library wants its callback like this")]
    let agree = |_: &Request, mut response: Response| {
        response.headers_mut().insert("Sec-WebSocket-Protocol", PROTOCOL);
        Ok(response)
    };
    let mut stream = accept_hdr_async(socket, agree).await?;
    // Each message is unmasked and dropped; the library answers the Close.
    while let Some(message) = stream.next().await {
        drop(message?);
    }
    Ok(())
}

async fn hyper_http(socket: TcpStream) -> Result<(), hyper::Error> {
    let answer = service_fn(|request: hyper::Request<Incoming>| async move {
        let mut body = request.into_body();
        while let Some(Ok(frame)) = body.frame().await {
            drop(frame);
        }
        Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new()))
    });
    http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await
}
