// SPDX-License-Identifier: Apache-2.0
//! Addresses to listen on: their format, and the check that each is given once.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde::{Deserialize, Deserializer};

use super::ConfigError;

/// Read an address, or explain the format.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "a socket address is ADDR:PORT, e.g. 127.0.0.1:5201 or [::]:5201; no names".to_owned()
    })
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    listen_address(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

/// Check that every listener has an address of its own. For port 0 the kernel chooses one.
pub(super) fn check(addresses: &[(&'static str, SocketAddr)]) -> Result<(), ConfigError> {
    let mut taken = HashMap::new();
    for (protocol, address) in addresses.iter().copied() {
        if address.port() == 0 {
            continue;
        }
        if let Some(first) = taken.insert(address, protocol) {
            let fault = match first == protocol {
                true => format!("given twice for {protocol}"),
                false => format!("given twice, for {first} and for {protocol}"),
            };
            return Err(ConfigError { place: address.to_string(), fault });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Http, Iperf3};
    use super::*;

    #[test]
    fn only_an_address_with_a_port_is_one() {
        for text in ["127.0.0.1:5201", "[::]:5201", "[fe80::1%2]:0"] {
            assert!(listen_address(text).is_ok(), "{text}");
        }
        for text in ["localhost:1", "127.0.0.1", ":15290", "::1:5201", "[::]", "1.2.3.4:70000", ""]
        {
            assert!(listen_address(text).unwrap_err().contains("ADDR:PORT"), "{text}");
        }
    }

    #[test]
    fn an_address_is_given_once_but_port_0_as_often_as_one_likes() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let http = |first, second| vec![Http::at(at(first)), Http::at(at(second))];
        let mut config = Config {
            iperf3: vec![Iperf3::at(at("[::]:0")), Iperf3::at(at("[::]:0"))],
            http: http("127.0.0.1:1", "127.0.0.2:1"),
            ..Config::default()
        };
        assert_eq!(check(&config.addresses()), Ok(()));
        config.metrics = vec![Http::at(at("127.0.0.2:1"))];
        let fault = check(&config.addresses()).unwrap_err().to_string();
        assert_eq!(fault, "127.0.0.2:1: given twice, for http and for metrics");
        config.http = http("127.0.0.1:1", "127.0.0.1:1");
        assert_eq!(
            check(&config.addresses()).unwrap_err().to_string(),
            "127.0.0.1:1: given twice for http"
        );
    }
}
