// SPDX-License-Identifier: Apache-2.0
//! Hand-over of connections from a listener to a protocol, and the order that ends all listeners.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use speedtest_net::reactor::{Address, Handler, Lanes};

use crate::clients::Connection;

/// Connection that has just been accepted.
pub struct AcceptedConnection {
    pub socket: TcpStream,
    pub peer: SocketAddr,
    pub connection: Connection,
    /// Counter in the order of the listening socket's queue.
    pub arrival: u64,
}

/// Makes the first handler of an accepted connection; None closes it.
pub type Accept = Arc<dyn Fn(AcceptedConnection) -> Option<Box<dyn Handler>> + Send + Sync>;

/// Order to a listener to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopListening;

/// Addresses of the handlers of all listening sockets.
#[derive(Debug, Default)]
pub struct Listening {
    addresses: Mutex<Vec<Address>>,
}

impl Listening {
    pub fn add(&self, address: Address) {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).push(address);
    }

    /// Accept no further connections.
    pub fn stop(&self, lanes: &Lanes) {
        let all =
            std::mem::take(&mut *self.addresses.lock().unwrap_or_else(PoisonError::into_inner));
        for address in all {
            lanes.tell(address, StopListening);
        }
    }
}
