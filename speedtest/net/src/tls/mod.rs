// SPDX-License-Identifier: Apache-2.0
//! TLS connection over a non-blocking socket, with the least memory.
//!
//! rustls has no buffers of its own here: ciphertext is received and encrypted in memory of the
//! loop's thread. A connection keeps only what its socket or reader did not take: at most one
//! incomplete record, one unread record, and [`SEND_BYTES`] of unsent plaintext.

mod engine;

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::server::UnbufferedServerConnection;
use rustls::{ClientConfig, ServerConfig};

use self::engine::{close_notify, fault, pass};
use crate::sys;
use crate::turn::{Turn, Work};

/// Most plaintext that one call encrypts.
const SEND_BYTES: usize = 64 << 10;
/// Ciphertext received at once. It holds up to 2,900 records of one byte, about 1 ms of work;
/// larger pieces would save few system calls.
const RECEIVE_BYTES: usize = 64 << 10;
/// Size of the largest record, with header and cipher overhead.
const RECORD_BYTES: usize = (16 << 10) + 2048 + 5;
/// Longest handshake message; rustls has the same limit.
const HANDSHAKE_BYTES: usize = 64 << 10;

/// Memory of a loop's thread, shared by its connections.
struct Scratch {
    received: Vec<u8>,
    encrypted: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch {
        received: vec![0; RECEIVE_BYTES + HANDSHAKE_BYTES],
        encrypted: vec![0; SEND_BYTES + SEND_BYTES / 8 + HANDSHAKE_BYTES],
    });
}

enum Side {
    Server(UnbufferedServerConnection),
    Client(UnbufferedClientConnection),
}

/// A TLS connection and its socket.
pub struct Tls {
    socket: TcpStream,
    side: Side,
    /// Received bytes that are no whole record yet.
    incoming: Vec<u8>,
    /// Decrypted bytes; those from `read` on are unread.
    plain: Vec<u8>,
    read: usize,
    /// Encrypted bytes; those from `sent` on are unsent.
    outgoing: Vec<u8>,
    sent: usize,
    established: bool,
    /// The peer sends nothing more.
    ended: bool,
}

impl Tls {
    /// Start the server's side of an accepted connection.
    pub fn accept(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Tls> {
        let side = UnbufferedServerConnection::new(config).map_err(fault)?;
        Ok(Tls::new(socket, Side::Server(side)))
    }

    /// Start the client's side of a connection to the server of this name.
    pub fn connect(
        socket: TcpStream,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<Tls> {
        let side = UnbufferedClientConnection::new(config, name).map_err(fault)?;
        Ok(Tls::new(socket, Side::Client(side)))
    }

    fn new(socket: TcpStream, side: Side) -> Tls {
        Tls {
            socket,
            side,
            incoming: Vec::new(),
            plain: Vec::new(),
            read: 0,
            outgoing: Vec::new(),
            sent: 0,
            established: false,
            ended: false,
        }
    }

    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Return the protocol that both sides agreed on.
    pub fn alpn(&self) -> Option<&[u8]> {
        match &self.side {
            Side::Server(side) => side.alpn_protocol(),
            Side::Client(side) => side.alpn_protocol(),
        }
    }

    /// Return whether decrypted bytes are unread.
    pub fn has_plain(&self) -> bool {
        self.read < self.plain.len()
    }

    /// Return whether the socket has not taken all encrypted bytes.
    pub fn has_output(&self) -> bool {
        self.sent < self.outgoing.len()
    }

    /// Continue the handshake as far as the socket allows. Return true when it is complete.
    pub fn handshake(&mut self, turn: &mut Turn) -> io::Result<bool> {
        loop {
            // A client sends first, with nothing received.
            if self.incoming.is_empty() {
                self.advance(&mut [], &mut |_| {})?;
            }
            self.flush()?;
            if self.established {
                return Ok(true);
            }
            match self.pull(RECORD_BYTES, None, turn) {
                Ok(_) if self.ended => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Read; 0 is the end.
    pub fn receive(&mut self, buffer: &mut [u8], turn: &mut Turn) -> io::Result<usize> {
        loop {
            if self.has_plain() {
                let count = buffer.len().min(self.plain.len() - self.read);
                buffer[..count].copy_from_slice(&self.plain[self.read..self.read + count]);
                self.taken(count);
                return Ok(count);
            }
            if self.ended {
                return Ok(0);
            }
            self.pull(buffer.len(), None, turn)?;
        }
    }

    /// Drop up to `most` bytes, and receive until the socket is empty or the turn is over. Bytes
    /// decrypted within `most` are always dropped. 0 is the end.
    pub fn discard(&mut self, most: u64, turn: &mut Turn) -> io::Result<u64> {
        let left = usize::try_from(most).unwrap_or(usize::MAX);
        let count = left.min(self.plain.len() - self.read);
        self.taken(count);
        let mut dropped = count as u64;
        while dropped < most && !self.ended {
            match self.pull(RECEIVE_BYTES, Some(most - dropped), turn) {
                Ok(count) => dropped += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock && dropped > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(dropped)
    }

    fn taken(&mut self, count: usize) {
        self.read += count;
        if self.read == self.plain.len() {
            self.plain = Vec::new();
            self.read = 0;
        }
    }

    /// Receive about `most` bytes of ciphertext and decrypt whole records. Drop and count the first
    /// `drop` bytes of plaintext; keep the rest for the reader.
    fn pull(&mut self, most: usize, drop: Option<u64>, turn: &mut Turn) -> io::Result<u64> {
        // Records are not split, so a pull may take somewhat more than is left.
        if turn.may(Work::Ciphered, 1).min(turn.may(Work::Records, 1)) == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let held = self.incoming.len();
            // Anything beyond the request would have to be kept.
            let asked = drop.map_or(most, |left| usize::try_from(left).unwrap_or(usize::MAX));
            let end = asked.min(most).max(RECORD_BYTES).max(held + 1).min(scratch.received.len());
            scratch.received[..held].copy_from_slice(&self.incoming);
            let count = sys::receive(&self.socket, &mut scratch.received[held..end])?;
            if count == 0 {
                self.ended = true;
                return Ok(0);
            }
            turn.spend(Work::Ciphered, count as u64);
            let mut plain = std::mem::take(&mut self.plain);
            let left = drop.unwrap_or(0);
            let mut dropped = 0;
            let received = &mut scratch.received[..held + count];
            let used = self.advance(received, &mut |bytes| {
                turn.spend(Work::Records, 1);
                let now = bytes.len().min(usize::try_from(left - dropped).unwrap_or(usize::MAX));
                dropped += now as u64;
                plain.extend_from_slice(&bytes[now..]);
            });
            self.plain = plain;
            // Send the alert about a failure too.
            self.flush()?;
            let rest = &received[used?..];
            if rest.len() > HANDSHAKE_BYTES {
                return Err(fault("a handshake message is too long"));
            }
            self.incoming.clear();
            self.incoming.shrink_to(rest.len());
            self.incoming.extend_from_slice(rest);
            Ok(dropped)
        })
    }

    fn advance(&mut self, received: &mut [u8], take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let outgoing = &mut self.outgoing;
        let done = match &mut self.side {
            Side::Server(side) => pass(side, received, outgoing, take, None),
            Side::Client(side) => pass(side, received, outgoing, take, None),
        }?;
        self.established |= done.established;
        self.ended |= done.ended;
        Ok(done.used)
    }

    /// Send encrypted bytes. Return false if the socket has not taken all of them.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.has_output() {
            match sys::send(&self.socket, &self.outgoing[self.sent..], false) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.outgoing = Vec::new();
        self.sent = 0;
        Ok(true)
    }

    /// Encrypt and send the start of `bytes`; return its length. Bytes that the socket does not
    /// take are kept, and no more are accepted until they have left.
    pub fn send(&mut self, bytes: &[u8], turn: &mut Turn) -> io::Result<usize> {
        if !self.flush()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let room = turn.room(Work::Ciphered, bytes.len().min(SEND_BYTES))?;
        if !turn.take(Work::Sends) {
            return Err(ErrorKind::WouldBlock.into());
        }
        turn.spend(Work::Ciphered, room as u64);
        let plain = &bytes[..room];
        SCRATCH.with_borrow_mut(|scratch| {
            let (incoming, outgoing) = (&mut self.incoming, &mut self.outgoing);
            let send = Some((plain, scratch.encrypted.as_mut_slice()));
            // Only part of a record is here, so nothing can be decrypted.
            let done = match &mut self.side {
                Side::Server(side) => pass(side, incoming, outgoing, |_| {}, send),
                Side::Client(side) => pass(side, incoming, outgoing, |_| {}, send),
            }?;
            incoming.drain(..done.used);
            let made = &scratch.encrypted[..done.encrypted];
            if made.is_empty() && !plain.is_empty() {
                return Err(fault("the connection is not open for data"));
            }
            let mut out = 0;
            if self.flush()? {
                out = match sys::send(&self.socket, made, false) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                    other => other?,
                };
            }
            self.outgoing.extend_from_slice(&made[out..]);
            Ok(plain.len())
        })
    }

    /// Send close_notify, if the socket takes it at once.
    pub fn close_notify(&mut self) {
        let mut alert = [0; 256];
        let count = match &mut self.side {
            Side::Server(side) => close_notify(side, &mut self.incoming, &mut alert),
            Side::Client(side) => close_notify(side, &mut self.incoming, &mut alert),
        };
        self.outgoing.extend_from_slice(&alert[..count]);
        // Closing does not wait for a peer that is slow or gone.
        let _ = self.flush();
    }
}
