// SPDX-License-Identifier: Apache-2.0
//! Heads of HTTP/1.1 requests (RFC 9112) as a speed test needs them, and the heads of its answers.
//!
//! Bodies are not touched here: whoever owns the socket drops them inside the kernel. Only bodies of
//! known length are taken; a chunked one would have to be read to find its end.

use crate::websocket::offer::Offer;

/// Longest head; browsers stay below 2 KiB.
pub const MAX_HEAD_BYTES: usize = 8 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Options,
}

/// One request, without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub query: String,
    pub body_bytes: u64,
    pub keep_alive: bool,
    pub expects_continue: bool,
    /// What the head says about an upgrade to WebSocket.
    pub offer: Offer,
}

impl Request {
    /// The value of a key in the query; nothing is decoded, as no key here needs it.
    pub fn query(&self, key: &str) -> Option<&str> {
        let pairs = self.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

/// Why a request cannot be answered; the connection ends with this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("not an HTTP/1.1 request")]
    Malformed,
    #[error("the head is longer than {MAX_HEAD_BYTES} bytes")]
    TooLong,
    #[error("the method is not served")]
    Method,
    #[error("the body has no length")]
    LengthRequired,
}

impl HttpError {
    pub fn status(self) -> &'static str {
        match self {
            HttpError::Malformed => "400 Bad Request",
            HttpError::TooLong => "431 Request Header Fields Too Large",
            HttpError::Method => "501 Not Implemented",
            HttpError::LengthRequired => "411 Length Required",
        }
    }
}

/// Collects the head of one request after the other.
#[derive(Debug, Default)]
pub struct Heads {
    bytes: Vec<u8>,
}

impl Heads {
    /// How many bytes may be read now.
    pub fn wants(&self) -> usize {
        MAX_HEAD_BYTES.saturating_sub(self.bytes.len())
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole head, if it is here. What follows stays for [`Heads::take_body`].
    pub fn next_request(&mut self) -> Result<Option<Request>, HttpError> {
        let Some(end) = find(&self.bytes, b"\r\n\r\n") else {
            if self.wants() == 0 {
                return Err(HttpError::TooLong);
            }
            return Ok(None);
        };
        let request = parse(&self.bytes[..end])?;
        self.bytes.drain(..end + 4);
        Ok(Some(request))
    }

    /// Up to `most` bytes of the body that came together with the head.
    pub fn take_body(&mut self, most: u64) -> Vec<u8> {
        let count = usize::try_from(most).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn parse(head: &[u8]) -> Result<Request, HttpError> {
    let head = std::str::from_utf8(head).map_err(|_| HttpError::Malformed)?;
    // RFC 9112 2.2: where a lone CR or LF ends a line is a matter of taste, and of smuggling.
    if head.split("\r\n").any(|line| line.bytes().any(|b| b.is_ascii_control() && b != b'\t')) {
        return Err(HttpError::Malformed);
    }
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or("").split(' ');
    let (method, target, version) = (first.next(), first.next(), first.next());
    if first.next().is_some() || !matches!(version, Some("HTTP/1.1" | "HTTP/1.0")) {
        return Err(HttpError::Malformed);
    }
    let target = target.filter(|t| t.starts_with('/')).ok_or(HttpError::Malformed)?;
    let method = match method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        Some("OPTIONS") => Method::Options,
        _ => return Err(HttpError::Method),
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        body_bytes: 0,
        keep_alive: version == Some("HTTP/1.1"),
        expects_continue: false,
        offer: Offer::default(),
    };
    let mut length = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(HttpError::Malformed)?;
        if name.is_empty() || name.ends_with([' ', '\t']) || name.starts_with([' ', '\t']) {
            return Err(HttpError::Malformed);
        }
        let value = value.trim_matches([' ', '\t']);
        request.offer.header(name, value);
        if name.eq_ignore_ascii_case("content-length") {
            // A second, different length is how requests are smuggled.
            let bytes = digits(value).ok_or(HttpError::Malformed)?;
            if length.replace(bytes).is_some_and(|before| before != bytes) {
                return Err(HttpError::Malformed);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(HttpError::LengthRequired);
        } else if name.eq_ignore_ascii_case("connection") {
            if value.eq_ignore_ascii_case("close") {
                request.keep_alive = false;
            }
        } else if name.eq_ignore_ascii_case("expect") {
            request.expects_continue = value.eq_ignore_ascii_case("100-continue");
        }
    }
    request.body_bytes = length.unwrap_or(0);
    Ok(request)
}

fn digits(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// The head of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: &'a str,
    pub content_type: &'a str,
    pub body_bytes: u64,
    pub keep_alive: bool,
    pub allow_origin: Option<&'a str>,
}

impl Answer<'_> {
    pub fn head(&self) -> String {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n\
             Cache-Control: no-store, no-transform\r\nX-Content-Type-Options: nosniff\r\n",
            self.status,
            self.content_type,
            self.body_bytes,
            if self.keep_alive { "keep-alive" } else { "close" },
        );
        if let Some(origin) = self.allow_origin {
            head.push_str(&format!(
                "Access-Control-Allow-Origin: {origin}\r\n\
                 Access-Control-Allow-Methods: GET, POST\r\n\
                 Access-Control-Allow-Headers: Content-Encoding, Content-Type\r\n"
            ));
        }
        head.push_str("\r\n");
        head
    }
}
