// SPDX-License-Identifier: Apache-2.0
//! Uploads that are read into user space and discarded there.

use std::convert::Infallible;

use futures_util::StreamExt;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use speedtest_proto::ndt7::PROTOCOL;
use tokio::net::TcpStream;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;

use crate::Ended;

pub async fn web_socket(socket: TcpStream) -> Ended {
    #[expect(clippy::result_large_err, reason = "the library wants its callback like this")]
    let agree = |_: &Request, mut response: Response| {
        let protocol = HeaderValue::from_static(PROTOCOL);
        response.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
        Ok(response)
    };
    let mut stream = accept_hdr_async(socket, agree).await?;
    // Each message is unmasked and dropped; the library answers the Close.
    while let Some(message) = stream.next().await {
        drop(message?);
    }
    Ok(())
}

pub async fn http(socket: TcpStream) -> Ended {
    let answer = service_fn(|request: hyper::Request<Incoming>| async move {
        let mut body = request.into_body();
        while let Some(Ok(frame)) = body.frame().await {
            drop(frame);
        }
        Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new()))
    });
    Ok(http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await?)
}
