// SPDX-License-Identifier: Apache-2.0
//! Server's address as the user writes it.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// HOST or HOST:PORT; an IPv6 address with a port is in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    port: Option<u16>,
}

impl Server {
    /// Return the server as written in messages and URLs.
    pub fn place(&self, default_port: u16) -> String {
        let port = self.port.unwrap_or(default_port);
        if self.host.contains(':') {
            format!("[{}]:{port}", self.host)
        } else {
            format!("{}:{port}", self.host)
        }
    }

    pub fn resolve(&self, default_port: u16) -> io::Result<SocketAddr> {
        let port = self.port.unwrap_or(default_port);
        let found = match self.host.parse::<IpAddr>() {
            Ok(ip) => (ip.to_canonical(), port).to_socket_addrs()?.next(),
            Err(_) => (self.host.as_str(), port).to_socket_addrs()?.next(),
        };
        found.ok_or_else(|| io::Error::other("the name has no address"))
    }
}

impl FromStr for Server {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Server, &'static str> {
        if text.contains('/') {
            return Err("HOST[:PORT] is wanted, not a URL");
        }
        if is_ipv6(text) {
            return Ok(Server { host: text.to_owned(), port: None });
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or("the bracket is not closed")?;
                if !is_ipv6(host) {
                    return Err("only an IPv6 address is in brackets");
                }
                let port = rest.strip_prefix(':');
                if port.is_none() && !rest.is_empty() {
                    return Err("after the bracket only :PORT may follow");
                }
                (host, port)
            }
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() {
            return Err("the host is missing; HOST[:PORT] is wanted");
        }
        let port = port.map(|port| port.parse().ok().filter(|port| *port > 0));
        if port == Some(None) {
            return Err(
                "PORT is a number from 1 to 65535, and an IPv6 address before it in brackets",
            );
        }
        Ok(Server { host: host.to_owned(), port: port.flatten() })
    }
}

/// Return whether the text is an IPv6 address, perhaps with its interface: `fe80::1%eth0`.
fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_perhaps_a_port() {
        for (text, place) in [
            ("192.0.2.1", "192.0.2.1:80"),
            ("192.0.2.1:5201", "192.0.2.1:5201"),
            ("host.test:1", "host.test:1"),
            ("::1", "[::1]:80"),
            ("[::1]", "[::1]:80"),
            ("[::1]:5201", "[::1]:5201"),
            ("fe80::1%lo", "[fe80::1%lo]:80"),
        ] {
            assert_eq!(text.parse::<Server>().map(|server| server.place(80)), Ok(place.into()));
        }
    }

    #[test]
    fn an_invalid_server_address_is_an_error() {
        for text in [
            "",
            ":1",
            "host:",
            "host:abc",
            "host:0",
            "host:99999",
            "[::1",
            "[::1]x",
            "[host]:1",
            "::1::2",
            "http://host:1",
        ] {
            assert!(text.parse::<Server>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_mapped_address_is_resolved_as_what_it_maps() {
        let server: Server = "[::ffff:192.0.2.1]:7".parse().unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(server.resolve(1).map(|at| at.to_string()).ok(), Some("192.0.2.1:7".into()));
    }
}
