// SPDX-License-Identifier: Apache-2.0
//! Requests for an upgrade to WebSocket, and the key of the answer (RFC 6455, section 4.2).

use aws_lc_rs::digest::{digest, SHA1_FOR_LEGACY_USE_ONLY};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;

/// Suffix of the client's key before hashing (1.3).
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Fields about an upgrade in the head of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    upgrade: bool,
    connection: bool,
    version: Option<String>,
    key: Option<String>,
    protocols: Vec<String>,
}

/// Reason to reject an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    #[error("not a WebSocket upgrade: Upgrade, Connection or a key of 16 bytes is missing")]
    NotAnUpgrade,
    #[error("only WebSocket version 13 is spoken here")]
    Version,
    #[error("the subprotocol is not among those offered in Sec-WebSocket-Protocol")]
    Protocol,
}

impl Offer {
    /// Take one header field.
    pub fn header(&mut self, name: &str, value: &str) {
        let has = |token: &str| value.split(',').any(|one| one.trim().eq_ignore_ascii_case(token));
        if name.eq_ignore_ascii_case("upgrade") {
            self.upgrade |= has("websocket");
        } else if name.eq_ignore_ascii_case("connection") {
            self.connection |= has("upgrade");
        } else if name.eq_ignore_ascii_case("sec-websocket-version") {
            self.version = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("sec-websocket-key") {
            self.key = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("sec-websocket-protocol") {
            self.protocols.extend(value.split(',').map(|one| one.trim().to_owned()));
        }
    }

    /// Return Sec-WebSocket-Accept for a client that offers `protocol`.
    pub fn accept(&self, protocol: &str) -> Result<String, OfferError> {
        let key = self.key.as_deref().filter(|key| STANDARD.decode(key).is_ok_and(is_a_key));
        let key = key.filter(|_| self.upgrade && self.connection);
        let key = key.ok_or(OfferError::NotAnUpgrade)?;
        if self.version.as_deref() != Some("13") {
            return Err(OfferError::Version);
        }
        if !self.protocols.iter().any(|offered| offered == protocol) {
            return Err(OfferError::Protocol);
        }
        Ok(accept_key(key))
    }
}

fn is_a_key(nonce: Vec<u8>) -> bool {
    nonce.len() == 16
}

/// Return a server's answer to this key, in base64 as the key.
pub fn accept_key(key: &str) -> String {
    let salted = [key.as_bytes(), MAGIC].concat();
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &salted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn offer(headers: &[(&str, &str)]) -> Offer {
        let mut offer = Offer::default();
        for (name, value) in headers {
            offer.header(name, value);
        }
        offer
    }

    #[test]
    fn the_rfcs_own_key_gets_its_answer() {
        let taken = offer(&[
            ("Upgrade", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("Sec-WebSocket-Key", KEY),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Protocol", "other, mine"),
        ]);
        assert_eq!(taken.accept("mine").as_deref(), Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!(taken.accept("min"), Err(OfferError::Protocol));
    }

    #[test]
    fn a_missing_header_is_named() {
        let all = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", KEY),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Protocol", "mine"),
        ];
        let expected = [
            OfferError::NotAnUpgrade,
            OfferError::NotAnUpgrade,
            OfferError::NotAnUpgrade,
            OfferError::Version,
            OfferError::Protocol,
        ];
        for (without, expected) in expected.into_iter().enumerate() {
            let mut fewer = all.to_vec();
            fewer.remove(without);
            assert_eq!(offer(&fewer).accept("mine"), Err(expected), "without {:?}", all[without]);
        }
    }
}
