// SPDX-License-Identifier: Apache-2.0
//! rustls' state machine over one batch of received bytes, the same for client and server.

use std::io::{self, ErrorKind};

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};

/// Outcome of one pass over the received bytes.
#[derive(Default)]
pub(super) struct Pass {
    /// Bytes at the front that were consumed.
    pub used: usize,
    pub established: bool,
    pub ended: bool,
    /// Bytes of ciphertext made from the plaintext.
    pub encrypted: usize,
}

/// Common interface of rustls' two connection types.
pub(super) trait Engine {
    type Data;
    fn process<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data>;
    /// Return whether an alert is not sent to the peer yet.
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

pub(super) fn fault(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

/// Run the machine over `incoming` until it needs more. Handshake bytes go to `outgoing`, decrypted
/// ones to `take`. `plain` is encrypted into `encrypted` once that is allowed.
pub(super) fn pass<E: Engine>(
    engine: &mut E,
    incoming: &mut [u8],
    outgoing: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]),
    mut send: Option<(&[u8], &mut [u8])>,
) -> io::Result<Pass> {
    let mut done = Pass::default();
    let mut failed = None;
    // After a failure only the alert for the peer is left to come out. The machine may remember
    // where in its input a message began, so it always gets all input that it has not consumed.
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
            // The content of `outgoing` is sent before anything else.
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

/// Encrypt the close_notify alert and return its length.
pub(super) fn close_notify<E: Engine>(
    engine: &mut E,
    incoming: &mut [u8],
    alert: &mut [u8],
) -> usize {
    match engine.process(incoming).state {
        Ok(ConnectionState::WriteTraffic(mut traffic)) => {
            traffic.queue_close_notify(alert).unwrap_or(0)
        }
        _ => 0,
    }
}
