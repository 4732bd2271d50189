// SPDX-License-Identifier: Apache-2.0
//! Uploads on tokio with our own parsers, dropped inside the kernel: our server without its event
//! loop.

use std::io::{self, ErrorKind};

use speedtest_proto::http1::{Answer, Heads, Request};
use speedtest_proto::ndt7::PROTOCOL;
use speedtest_proto::websocket::endpoint::Endpoint;
use speedtest_proto::websocket::reader::Want;
use speedtest_proto::websocket::Role;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::drain::Drain;
use crate::Ended;

const READ_BYTES: usize = 4096;

/// Serve one request after another; count down a body's bytes, then answer.
pub async fn http(socket: TcpStream) -> Ended {
    let mut drain = Drain::new(socket);
    let mut heads = Heads::default();
    loop {
        let request = head(&drain, &mut heads).await?;
        let mut left = request.body_bytes;
        left -= heads.take_body(left).len() as u64;
        while left > 0 {
            match drain.drop_some(left).await? {
                0 => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
                count => left -= count,
            }
        }
        drain.socket.write_all(Answer::new("200 OK").head().as_bytes()).await?;
    }
}

async fn head(
    drain: &Drain,
    heads: &mut Heads,
) -> Result<Request, Box<dyn std::error::Error + Send + Sync>> {
    let mut buffer = [0; READ_BYTES];
    loop {
        if let Some(request) = heads.next_request()? {
            return Ok(request);
        }
        let most = heads.wants().min(READ_BYTES);
        match drain.read(&mut buffer[..most]).await? {
            0 => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            count => heads.receive(&buffer[..count]),
        }
    }
}

/// Serve an upload of ndt7; drop the binary payload between the headers of its frames.
pub async fn web_socket(socket: TcpStream) -> Ended {
    let mut drain = Drain::new(socket);
    let mut heads = Heads::default();
    let request = head(&drain, &mut heads).await?;
    let accept = request.offer.accept(PROTOCOL)?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n"
    );
    drain.socket.write_all(answer.as_bytes()).await?;
    let mut endpoint = Endpoint::new(Role::Server, 1);
    take(&mut endpoint, &heads.take_body(u64::MAX));
    let mut buffer = [0; READ_BYTES];
    loop {
        while endpoint.has_output() {
            let count = drain.socket.write(endpoint.output()).await?;
            endpoint.sent(count);
        }
        let moved = match endpoint.want() {
            None => return Ok(()),
            Some(Want::Drop(bytes)) => {
                let count = drain.drop_some(bytes).await?;
                endpoint.dropped(count);
                count
            }
            Some(Want::Bytes(bytes)) => {
                let count = drain.read(&mut buffer[..bytes.min(READ_BYTES)]).await?;
                take(&mut endpoint, &buffer[..count]);
                count as u64
            }
        };
        if moved == 0 {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
    }
}

/// Take bytes of texts, whose content is ignored; the endpoint answers the Close.
fn take(endpoint: &mut Endpoint, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (count, _notice) = endpoint.receive(bytes);
        bytes = &bytes[count..];
        if count == 0 {
            return;
        }
    }
}
