// SPDX-License-Identifier: Apache-2.0
//! One small request and its answer; blocks.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use speedtest_proto::reply::{Replies, MAX_REPLY_BYTES};

use super::Target;

const PATIENCE: Duration = Duration::from_secs(5);
const MOST_BYTES: u64 = 1 << 20;

/// Return the body of the answer to a GET; any status but 200 is an error.
pub fn get(target: &Target, path: &str) -> io::Result<String> {
    let socket = TcpStream::connect_timeout(&target.address, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.authority);
    match &target.trust {
        None => exchange(socket, &request),
        Some(trust) => {
            let tls = ClientConnection::new(trust.config.clone(), trust.name.clone());
            exchange(StreamOwned::new(tls.map_err(io::Error::other)?, socket), &request)
        }
    }
}

fn exchange(mut link: impl Read + Write, request: &str) -> io::Result<String> {
    link.write_all(request.as_bytes())?;
    let mut replies = Replies::default();
    let mut buffer = [0; MAX_REPLY_BYTES];
    let reply = loop {
        let count = link.read(&mut buffer[..replies.wants()])?;
        replies.receive(&buffer[..count]);
        match replies.next_reply().map_err(io::Error::other)? {
            Some(reply) => break reply,
            None if count == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            None => {}
        }
    };
    if reply.status != 200 || reply.body_bytes > MOST_BYTES {
        return Err(io::Error::other(format!("status {}", reply.status)));
    }
    let mut body = replies.take_body(reply.body_bytes);
    let left = reply.body_bytes - body.len() as u64;
    link.take(left).read_to_end(&mut body)?;
    String::from_utf8(body).map_err(io::Error::other)
}
