// SPDX-License-Identifier: Apache-2.0
//! Heads of HTTP/1.1 answers (RFC 9112), as the client of a speed test reads them.

/// Longest head that is read.
pub const MAX_REPLY_BYTES: usize = 8 << 10;

/// One answer without its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub body_bytes: u64,
    /// Sec-WebSocket-Accept and Sec-WebSocket-Protocol.
    pub accept: Option<String>,
    pub protocol: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    #[error("the answer is not HTTP/1.1")]
    Malformed,
    #[error("the head of the answer is longer than {MAX_REPLY_BYTES} bytes")]
    TooLong,
    #[error("the answer's body has no length")]
    NoLength,
}

/// Collects the head of one answer after another.
#[derive(Debug, Default)]
pub struct Replies {
    bytes: Vec<u8>,
}

impl Replies {
    pub fn wants(&self) -> usize {
        MAX_REPLY_BYTES.saturating_sub(self.bytes.len())
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Return the next whole head, if it is here. Bytes after it stay for [`Replies::take_body`].
    pub fn next_reply(&mut self) -> Result<Option<Reply>, ReplyError> {
        let end = self.bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else {
            return if self.wants() == 0 { Err(ReplyError::TooLong) } else { Ok(None) };
        };
        let head = std::str::from_utf8(&self.bytes[..end]).map_err(|_| ReplyError::Malformed)?;
        let reply = parse(head)?;
        self.bytes.drain(..end + 4);
        Ok(Some(reply))
    }

    /// Return up to `most` bytes of the body that came with the head.
    pub fn take_body(&mut self, most: u64) -> Vec<u8> {
        let count = usize::try_from(most).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }
}

fn parse(head: &str) -> Result<Reply, ReplyError> {
    let mut lines = head.split("\r\n");
    let first = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let status = first.and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
    let mut reply = Reply { status: status.ok_or(ReplyError::Malformed)?, ..Reply::default() };
    let mut length = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(ReplyError::Malformed)?;
        let value = value.trim_matches([' ', '\t']);
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok(),
            "sec-websocket-accept" => reply.accept = Some(value.to_owned()),
            "sec-websocket-protocol" => reply.protocol = Some(value.to_owned()),
            _ => {}
        }
    }
    // These have no body (RFC 9112, 6.3). The body of any other answer without a length is not
    // read.
    let bodiless = matches!(reply.status, 100..=199 | 204 | 304);
    reply.body_bytes = match length {
        Some(bytes) if !bodiless => bytes,
        None if !bodiless => return Err(ReplyError::NoLength),
        _ => 0,
    };
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_one_by_one_in_any_pieces() {
        let bytes = b"HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept: abc=\r\n\r\n\
                      HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\nxyz";
        for piece in 1..bytes.len() {
            let (mut replies, mut seen) = (Replies::default(), Vec::new());
            for part in bytes.chunks(piece) {
                replies.receive(part);
                while let Some(reply) = replies.next_reply().unwrap() {
                    seen.push((reply.status, reply.body_bytes, reply.accept));
                }
            }
            assert_eq!(seen, [(101, 0, Some("abc=".into())), (200, 3, None)]);
            assert_eq!(replies.take_body(9), b"xyz");
        }
    }

    #[test]
    fn a_malformed_answer_is_an_error() {
        for (head, error) in [
            ("HTTP/2 200\r\n\r\n", ReplyError::Malformed),
            ("HTTP/1.1 abc\r\n\r\n", ReplyError::Malformed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ReplyError::NoLength),
        ] {
            let mut replies = Replies::default();
            replies.receive(head.as_bytes());
            assert_eq!(replies.next_reply(), Err(error), "{head}");
        }
        let mut endless = Replies::default();
        endless.receive(&[b'a'; MAX_REPLY_BYTES]);
        assert_eq!(endless.next_reply(), Err(ReplyError::TooLong));
    }
}
