// SPDX-License-Identifier: Apache-2.0
//! Heads of HTTP/1.1 requests and answers (RFC 9112), as far as a speed test needs them.
//!
//! Bodies are not handled here: the owner of the socket drops them inside the kernel. Only bodies
//! of known length are accepted; a chunked one would have to be read to find its end.

use crate::fields::Fields;
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

impl Method {
    /// Return the method of this name; None if it is not served.
    pub fn of(name: &str) -> Option<Method> {
        Some(match name {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "OPTIONS" => Method::Options,
            _ => return None,
        })
    }
}

/// One request without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub query: String,
    pub body_bytes: u64,
    pub keep_alive: bool,
    pub expects_continue: bool,
    /// Fields about an upgrade to WebSocket.
    pub offer: Offer,
    pub fields: Fields,
}

impl Request {
    /// Make a request without fields.
    pub fn new(method: Method, target: &str) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Request {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            body_bytes: 0,
            keep_alive: true,
            expects_continue: false,
            offer: Offer::default(),
            fields: Fields::default(),
        }
    }

    /// Return the value of a key in the query. Nothing is decoded: no key here needs it.
    pub fn query(&self, key: &str) -> Option<&str> {
        let pairs = self.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

/// Reason why a request is rejected; the connection ends with this status.
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

/// Collects the head of one request after another.
#[derive(Debug, Default)]
pub struct Heads {
    bytes: Vec<u8>,
}

impl Heads {
    /// Return how many bytes may be read now.
    pub fn wants(&self) -> usize {
        MAX_HEAD_BYTES.saturating_sub(self.bytes.len())
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Return the next whole head, if it is here. Bytes after it stay for [`Heads::take_body`].
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

    /// Return up to `most` bytes of the body that came with the head.
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
    // RFC 9112 2.2: parsers differ on whether a lone CR or LF ends a line, which allows smuggling.
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
    let method = method.and_then(Method::of).ok_or(HttpError::Method)?;
    let mut request = Request::new(method, target);
    request.keep_alive = version == Some("HTTP/1.1");
    let mut length = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(HttpError::Malformed)?;
        if name.is_empty() || name.ends_with([' ', '\t']) || name.starts_with([' ', '\t']) {
            return Err(HttpError::Malformed);
        }
        let value = value.trim_matches([' ', '\t']);
        request.offer.header(name, value);
        request.fields.take(name, value);
        if name.eq_ignore_ascii_case("content-length") {
            // Two different lengths are a way to smuggle requests.
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

/// Policy of a page: it loads only its own files, runs no inline script, and sends nothing away.
const PAGE_POLICY: &str =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    worker-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Head of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: &'a str,
    pub content_type: &'a str,
    pub body_bytes: u64,
    pub keep_alive: bool,
    pub allow_origin: Option<&'a str>,
    pub retry_after_s: Option<u64>,
}

impl<'a> Answer<'a> {
    /// Make an answer without a body.
    pub fn new(status: &'a str) -> Answer<'a> {
        Answer {
            status,
            content_type: "text/plain",
            body_bytes: 0,
            keep_alive: true,
            allow_origin: None,
            retry_after_s: None,
        }
    }

    /// Return the fields that both versions of HTTP have.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("Content-Type", self.content_type.to_owned()),
            ("Content-Length", self.body_bytes.to_string()),
            ("Cache-Control", "no-store, no-transform".to_owned()),
            ("X-Content-Type-Options", "nosniff".to_owned()),
        ];
        if self.content_type.starts_with("text/html") {
            fields.push(("Content-Security-Policy", PAGE_POLICY.to_owned()));
        }
        if let Some(origin) = self.allow_origin {
            fields.push(("Access-Control-Allow-Origin", origin.to_owned()));
            fields.push(("Access-Control-Allow-Methods", "GET, POST".to_owned()));
            fields.push((
                "Access-Control-Allow-Headers",
                "Content-Encoding, Content-Type".to_owned(),
            ));
            if origin != "*" {
                fields.push(("Vary", "Origin".to_owned()));
            }
        }
        fields.extend(self.retry_after_s.map(|time_s| ("Retry-After", time_s.to_string())));
        fields
    }

    /// Return the head in HTTP/1.1.
    pub fn head(&self) -> String {
        let connection = if self.keep_alive { "keep-alive" } else { "close" };
        let mut head = format!("HTTP/1.1 {}\r\nConnection: {connection}\r\n", self.status);
        for (name, value) in self.fields() {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }
}
