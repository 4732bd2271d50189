// SPDX-License-Identifier: Apache-2.0
//! The proxies in front of this server, and the client behind them.

use std::net::IpAddr;

use serde::Deserialize;
use speedtest_proto::fields::{Fields, ProxyField};

use super::Network;

/// The proxies in front of this server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Proxies {
    /// Their addresses; such a field from any other address is ignored.
    pub trusted: Vec<Network>,
    /// The field in which they name their client.
    pub field: ForwardedField,
}

impl Proxies {
    /// Return the client of a connection that may be a proxy's.
    pub fn client(&self, fields: &Fields, peer: IpAddr) -> IpAddr {
        fields.client(peer, self.field.into(), |address| self.are_trusted(address))
    }

    pub fn are_trusted(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedField {
    #[default]
    XForwardedFor,
    Forwarded,
}

impl From<ForwardedField> for ProxyField {
    fn from(field: ForwardedField) -> ProxyField {
        match field {
            ForwardedField::XForwardedFor => ProxyField::XForwardedFor,
            ForwardedField::Forwarded => ProxyField::Forwarded,
        }
    }
}
