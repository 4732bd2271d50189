// SPDX-License-Identifier: Apache-2.0
//! One TLS connection over a non-blocking socket, without a byte more of memory than it needs.
//!
//! rustls works here without buffers of its own: ciphertext is received into, and encrypted in, memory
//! of the loop's thread. A connection keeps only what the socket or its reader did not take: at most
//! one record that is not complete, one that is not read, and [`SEND_BYTES`] that are not sent.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{ClientConfig, ServerConfig};

use crate::sys;

/// Plaintext that one call encrypts at most.
const SEND_BYTES: usize = 64 << 10;
/// Ciphertext that one call receives at most.
const RECEIVE_BYTES: usize = 256 << 10;
/// A record of the largest size, with its header and everything that a cipher adds.
const RECORD_BYTES: usize = (16 << 10) + 2048 + 5;
/// Longest handshake message; rustls takes the same.
const HANDSHAKE_BYTES: usize = 64 << 10;
/// One call of [`Tls::discard`] takes about this much, so that other sockets get their turn.
const MOST_AT_ONCE: u64 = 4 << 20;

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
    /// Received, but not a whole record yet.
    incoming: Vec<u8>,
    /// Decrypted, but not read yet, from `read` on.
    plain: Vec<u8>,
    read: usize,
    /// Encrypted, but not sent yet, from `sent` on.
    outgoing: Vec<u8>,
    sent: usize,
    established: bool,
    /// The peer sends nothing more.
    ended: bool,
}

/// What one pass over the received bytes came to.
#[derive(Default)]
struct Pass {
    /// Bytes at the front that are done with.
    used: usize,
    established: bool,
    ended: bool,
    /// Bytes of ciphertext made from what was to be sent.
    encrypted: usize,
}

/// What rustls' two connection types have in common.
trait Engine {
    type Data;
    fn process<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data>;
    /// Is there an alert that the peer has not been sent?
    fn has_alert(&self) -> bool;
}

impl Engine for UnbufferedServerConnection {
    type Data = ServerConnectionData;
    fn process<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, ServerConnectionData> {
        self.process_tls_records(incoming)
    }

    fn has_alert(&self) -> bool {
        self.wants_write()
    }
}

impl Engine for UnbufferedClientConnection {
    type Data = ClientConnectionData;
    fn process<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, ClientConnectionData> {
        self.process_tls_records(incoming)
    }

    fn has_alert(&self) -> bool {
        self.wants_write()
    }
}

fn fault(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

/// Runs the machine over `incoming` until it needs more. Handshake bytes go to `outgoing`, decrypted
/// ones to `take`, and `plain` is encrypted into `encrypted` once that is allowed.
fn pass<E: Engine>(
    engine: &mut E,
    incoming: &mut [u8],
    outgoing: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]),
    mut send: Option<(&[u8], &mut [u8])>,
) -> io::Result<Pass> {
    let mut done = Pass::default();
    let mut failed = None;
    // After a failure only the alert for the peer is left to come out. The machine may remember where
    // in its input a message began, so it is always shown all that it has not let go of.
    while failed.is_none() || engine.has_alert() {
        let status = engine.process(&mut incoming[done.used..]);
        let discard = status.discard;
        match status.state {
            Err(error) if failed.is_some() => return Err(fault(error)),
            Err(error) => failed = Some(error),
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    take(record.map_err(fault)?.payload);
                }
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                let from = outgoing.len();
                if let Err(EncodeError::InsufficientSize(more)) = data.encode(&mut []) {
                    outgoing.resize(from + more.required_size, 0);
                    data.encode(&mut outgoing[from..]).map_err(fault)?;
                }
            }
            // What is in `outgoing` will be sent before anything else.
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                done.used += discard;
                done.established = true;
                if let Some((plain, encrypted)) = send.take() {
                    done.encrypted = match traffic.encrypt(plain, encrypted) {
                        Err(EncryptError::InsufficientSize(_)) => 0,
                        other => other.map_err(fault)?,
                    };
                }
                break;
            }
            Ok(ConnectionState::BlockedHandshake) => {
                done.used += discard;
                break;
            }
            Ok(ConnectionState::PeerClosed) => done.ended = true,
            Ok(ConnectionState::Closed) => {
                done.ended = true;
                done.used += discard;
                break;
            }
            Ok(_) => return Err(fault("early data was not offered")),
        }
        done.used += discard;
    }
    failed.map_or(Ok(done), |error| Err(fault(error)))
}

impl Tls {
    /// The server's side of a connection that has just been accepted.
    pub fn accept(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Tls> {
        let side = UnbufferedServerConnection::new(config).map_err(fault)?;
        Ok(Tls::new(socket, Side::Server(side)))
    }

    /// The client's side of a connection to the server of this name.
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

    /// The protocol that both sides agreed on.
    pub fn alpn(&self) -> Option<&[u8]> {
        match &self.side {
            Side::Server(side) => side.alpn_protocol(),
            Side::Client(side) => side.alpn_protocol(),
        }
    }

    /// Something is decrypted that has not been read yet.
    pub fn has_plain(&self) -> bool {
        self.read < self.plain.len()
    }

    /// Something is encrypted that the socket has not taken yet.
    pub fn has_output(&self) -> bool {
        self.sent < self.outgoing.len()
    }

    /// Goes on with the handshake as far as the socket allows. True: it is complete.
    pub fn handshake(&mut self) -> io::Result<bool> {
        loop {
            // A client speaks first, with nothing received.
            if self.incoming.is_empty() {
                self.advance(&mut [], &mut |_| {})?;
            }
            self.flush()?;
            if self.established {
                return Ok(true);
            }
            match self.pull(RECORD_BYTES, None) {
                Ok(_) if self.ended => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads; 0 is the end.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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
            self.pull(buffer.len(), None)?;
        }
    }

    /// Drops up to `most` bytes, and receives until the socket is empty or a turn's worth is dropped;
    /// what is decrypted within `most` is always dropped. 0 is the end.
    pub fn discard(&mut self, most: u64) -> io::Result<u64> {
        let left = usize::try_from(most).unwrap_or(usize::MAX);
        let count = left.min(self.plain.len() - self.read);
        self.taken(count);
        let mut dropped = count as u64;
        while dropped < most.min(MOST_AT_ONCE) && !self.ended {
            match self.pull(RECEIVE_BYTES, Some(most - dropped)) {
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

    /// Receives about `most` bytes of ciphertext and decrypts what is whole. Of the plaintext the
    /// first `drop` bytes are dropped and counted, the rest is kept for the reader.
    fn pull(&mut self, most: usize, drop: Option<u64>) -> io::Result<u64> {
        SCRATCH.with_borrow_mut(|scratch| {
            let held = self.incoming.len();
            // More than is asked for would have to be kept.
            let asked = drop.map_or(most, |left| usize::try_from(left).unwrap_or(usize::MAX));
            let end = asked.min(most).max(RECORD_BYTES).max(held + 1).min(scratch.received.len());
            scratch.received[..held].copy_from_slice(&self.incoming);
            let count = sys::receive(self.socket.as_raw_fd(), &mut scratch.received[held..end])?;
            if count == 0 {
                self.ended = true;
                return Ok(0);
            }
            let mut plain = std::mem::take(&mut self.plain);
            let left = drop.unwrap_or(0);
            let mut dropped = 0;
            let received = &mut scratch.received[..held + count];
            let used = self.advance(received, &mut |bytes| {
                let now = bytes.len().min(usize::try_from(left - dropped).unwrap_or(usize::MAX));
                dropped += now as u64;
                plain.extend_from_slice(&bytes[now..]);
            });
            self.plain = plain;
            // The peer is told of a failure, too.
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

    /// Sends what is encrypted. False: the socket has not taken all of it.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.has_output() {
            match sys::send(self.socket.as_raw_fd(), &self.outgoing[self.sent..], false) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.outgoing = Vec::new();
        self.sent = 0;
        Ok(true)
    }

    /// Encrypts and sends the beginning of `bytes`, and says how much of it that was. What the socket
    /// does not take is kept, and nothing more is taken until it has left.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let plain = &bytes[..bytes.len().min(SEND_BYTES)];
        SCRATCH.with_borrow_mut(|scratch| {
            let (incoming, outgoing) = (&mut self.incoming, &mut self.outgoing);
            let send = Some((plain, scratch.encrypted.as_mut_slice()));
            // Only part of a record is there, so nothing can be decrypted.
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
                out = match sys::send(self.socket.as_raw_fd(), made, false) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                    other => other?,
                };
            }
            self.outgoing.extend_from_slice(&made[out..]);
            Ok(plain.len())
        })
    }

    /// Tells the peer that nothing more comes, if the socket takes that at once.
    pub fn say_goodbye(&mut self) {
        let mut alert = [0; 256];
        let count = match &mut self.side {
            Side::Server(side) => goodbye(side, &mut self.incoming, &mut alert),
            Side::Client(side) => goodbye(side, &mut self.incoming, &mut alert),
        };
        self.outgoing.extend_from_slice(&alert[..count]);
        // Whoever leaves does not wait for a peer that is slow or gone.
        let _ = self.flush();
    }
}

fn goodbye<E: Engine>(engine: &mut E, incoming: &mut [u8], alert: &mut [u8]) -> usize {
    match engine.process(incoming).state {
        Ok(ConnectionState::WriteTraffic(mut traffic)) => {
            traffic.queue_close_notify(alert).unwrap_or(0)
        }
        _ => 0,
    }
}
