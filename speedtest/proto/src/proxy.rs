// SPDX-License-Identifier: Apache-2.0
//! PROXY protocol, versions 1 and 2: the head with which a proxy names its client
//! (<https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt>).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Least length of both versions, in bytes.
const FIRST_BYTES: usize = SIGNATURE.len();
const V2_HEAD_BYTES: usize = 16;
/// Longest line of version 1, CR and LF included (section 2.1).
const MOST_V1_BYTES: usize = 107;
/// Longest head of version 2 accepted: more than addresses and all extensions that proxies send.
const MOST_V2_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    #[error("no PROXY protocol: the connection begins with something else")]
    Absent,
    #[error("a PROXY line that cannot be read")]
    Line,
    #[error("a PROXY head of version 2 that cannot be read")]
    Binary,
}

/// Client named by a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The client's address and port.
    Client(SocketAddr),
    /// None: the proxy connects for itself, such as for a health check.
    Nobody,
}

/// Takes the head of a connection and no byte after it.
#[derive(Debug, Default)]
pub struct ProxyHead {
    got: Vec<u8>,
}

impl ProxyHead {
    /// Return how many bytes may be read now; at least one.
    pub fn wants(&self) -> usize {
        if self.got.len() < FIRST_BYTES {
            return FIRST_BYTES - self.got.len();
        }
        if self.got.starts_with(&SIGNATURE) {
            return self.v2_bytes().saturating_sub(self.got.len()).max(1);
        }
        1
    }

    /// Return the whole length of a head of version 2, as far as known.
    fn v2_bytes(&self) -> usize {
        match self.got.get(14..V2_HEAD_BYTES) {
            Some(length) => V2_HEAD_BYTES + usize::from(u16::from_be_bytes([length[0], length[1]])),
            None => V2_HEAD_BYTES,
        }
    }

    /// Take at most `wants()` bytes. None: the head is not complete yet.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Named>, ProxyError> {
        self.got.extend_from_slice(bytes);
        if self.got.len() < FIRST_BYTES {
            return Ok(None);
        }
        if self.got.starts_with(&SIGNATURE) {
            return self.binary();
        }
        if !self.got.starts_with(b"PROXY ") {
            return Err(ProxyError::Absent);
        }
        match self.got.strip_suffix(b"\r\n") {
            Some(line) => line_of(line).map(Some).ok_or(ProxyError::Line),
            None if self.got.len() >= MOST_V1_BYTES => Err(ProxyError::Line),
            None => Ok(None),
        }
    }

    fn binary(&self) -> Result<Option<Named>, ProxyError> {
        let whole = self.v2_bytes();
        if self.got.len() < V2_HEAD_BYTES || self.got.len() < whole {
            return if whole > MOST_V2_BYTES { Err(ProxyError::Binary) } else { Ok(None) };
        }
        binary_of(&self.got).map(Some).ok_or(ProxyError::Binary)
    }
}

/// Read `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`, or `PROXY UNKNOWN ...`.
fn line_of(line: &[u8]) -> Option<Named> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ').skip(1);
    let family = words.next()?;
    if family == "UNKNOWN" {
        return Some(Named::Nobody);
    }
    let (source, _to, port) = (words.next()?, words.next()?, words.next()?);
    let address: IpAddr = source.parse().ok()?;
    let fits = match family {
        "TCP4" => address.is_ipv4(),
        "TCP6" => address.is_ipv6(),
        _ => false,
    };
    let _to_port: u16 = words.next()?.parse().ok()?;
    let whole = fits && words.next().is_none();
    Some(Named::Client(SocketAddr::new(address, port.parse().ok()?))).filter(|_| whole)
}

fn binary_of(head: &[u8]) -> Option<Named> {
    /// Version and command, family and transport.
    const LOCAL: u8 = 0x20;
    const PROXY: u8 = 0x21;
    const TCP4: u8 = 0x11;
    const TCP6: u8 = 0x21;
    let addresses = head.get(V2_HEAD_BYTES..)?;
    match (*head.get(12)?, *head.get(13)?) {
        (LOCAL, _) => Some(Named::Nobody),
        (PROXY, TCP4) => {
            let source: [u8; 4] = *addresses.get(..12)?.first_chunk()?;
            Some(Named::Client(SocketAddr::new(source.into(), port_at(addresses, 8)?)))
        }
        (PROXY, TCP6) => {
            let source: [u8; 16] = *addresses.get(..36)?.first_chunk()?;
            let source = Ipv6Addr::from(source);
            Some(Named::Client(SocketAddr::new(source.into(), port_at(addresses, 32)?)))
        }
        (PROXY, _) => Some(Named::Nobody),
        _ => None,
    }
}

fn port_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feed a head in pieces of at most `piece` bytes, with more after it that must stay unread.
    fn read(head: &[u8], piece: usize) -> Result<(Named, usize), ProxyError> {
        let bytes = [head, b"GET / HTTP/1.1\r\n\r\n"].concat();
        let (mut machine, mut at) = (ProxyHead::default(), 0);
        while at < bytes.len() {
            let now = machine.wants().min(piece).min(bytes.len() - at);
            let named = machine.receive(&bytes[at..at + now])?;
            at += now;
            if let Some(named) = named {
                return Ok((named, at));
            }
        }
        Ok((Named::Nobody, usize::MAX))
    }

    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = (rest.len() as u16).to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    fn client(text: &str) -> Named {
        Named::Client(text.parse().unwrap())
    }

    #[test]
    fn both_versions_name_the_client_and_take_nothing_after_the_head() {
        let v6: Ipv6Addr = "2001:db8::7".parse().unwrap();
        let v6 = [&v6.octets()[..], &[0; 16], &[0xdc, 4, 1, 187]].concat();
        let v4 = [192, 0, 2, 7, 10, 0, 0, 1, 0xdc, 4, 1, 187, 3, 0, 1, 9];
        for (head, expected) in [
            (b"PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n".to_vec(), client("192.0.2.7:56324")),
            (b"PROXY TCP6 2001:db8::7 ::1 56324 443\r\n".to_vec(), client("[2001:db8::7]:56324")),
            (b"PROXY UNKNOWN\r\n".to_vec(), Named::Nobody),
            (binary(0x21, 0x11, &v4), client("192.0.2.7:56324")),
            (binary(0x21, 0x21, &v6), client("[2001:db8::7]:56324")),
            (binary(0x20, 0, &[]), Named::Nobody),
            (binary(0x21, 0, &[1, 2, 3]), Named::Nobody),
        ] {
            for piece in [1, 5, 4096] {
                assert_eq!(read(&head, piece), Ok((expected, head.len())), "{head:?} {piece}");
            }
        }
    }

    #[test]
    fn an_invalid_head_is_refused_within_its_bound() {
        let long = [b"PROXY TCP4 ".to_vec(), vec![b'1'; 200]].concat();
        for (head, error) in [
            (b"GET / HTTP/1.1\r\n".to_vec(), ProxyError::Absent),
            (b"PROXY TCP4 192.0.2.7\r\n".to_vec(), ProxyError::Line),
            (b"PROXY TCP4 ::1 ::1 1 2\r\n".to_vec(), ProxyError::Line),
            (b"PROXY TCP4 192.0.2.7 10.0.0.1 70000 443\r\n".to_vec(), ProxyError::Line),
            (b"PROXY UDP4 192.0.2.7 10.0.0.1 1 443\r\n".to_vec(), ProxyError::Line),
            (long, ProxyError::Line),
            (binary(0x31, 0x11, &[0; 12]), ProxyError::Binary),
            (binary(0x21, 0x11, &[0; 11]), ProxyError::Binary),
            (binary(0x21, 0x11, &[0; 5000]), ProxyError::Binary),
        ] {
            for piece in [1, 4096] {
                assert_eq!(read(&head, piece), Err(error), "{head:?}");
            }
        }
    }
}
