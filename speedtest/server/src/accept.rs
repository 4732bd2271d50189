// SPDX-License-Identifier: Apache-2.0
//! What a listener hands to a protocol, and the order that ends all listeners.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use speedtest_net::reactor::{Address, Handler, Lanes};

use crate::clients::Connection;

/// A connection that has just been accepted.
pub struct AcceptedConnection {
    pub socket: TcpStream,
    pub peer: SocketAddr,
    pub connection: Connection,
    /// Counts up in the order of the listening socket's queue.
    pub arrival: u64,
}

/// Makes the first handler of an accepted connection; none closes it.
pub type Accept = Arc<dyn Fn(AcceptedConnection) -> Option<Box<dyn Handler>> + Send + Sync>;

/// To a listener: close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopListening;

/// Where the handlers of all listening sockets are.
#[derive(Debug, Default)]
pub struct Listening {
    addresses: Mutex<Vec<Address>>,
}

impl Listening {
    pub fn add(&self, address: Address) {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).push(address);
    }

    /// No further connections.
    pub fn stop(&self, lanes: &Lanes) {
        let all =
            std::mem::take(&mut *self.addresses.lock().unwrap_or_else(PoisonError::into_inner));
        for address in all {
            lanes.tell(address, StopListening);
        }
    }
}
