// SPDX-License-Identifier: Apache-2.0
//! Client address of a request by its header fields, for HTTP/1.1 and HTTP/2.

use std::net::{IpAddr, SocketAddr};

/// Header fields that matter here; others are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// Server name as the client calls it, with the port unless it is the scheme's default.
    pub host: Option<String>,
    pub origin: Option<String>,
    /// `X-Forwarded-For` and `Forwarded`: each proxy appends its own client. None: a proxy gave no
    /// address.
    x_forwarded_for: Vec<Option<IpAddr>>,
    forwarded: Vec<Option<IpAddr>>,
}

/// Field that the proxies in front of this server write. They pass on any other unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyField {
    XForwardedFor,
    Forwarded,
}

impl Fields {
    /// Take one field of the request; call it in the fields' order.
    pub fn take(&mut self, name: &str, value: &str) {
        if name.eq_ignore_ascii_case("host") {
            self.host = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("origin") {
            self.origin = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("x-forwarded-for") {
            self.x_forwarded_for.extend(value.split(',').map(|hop| address(hop.trim())));
        } else if name.eq_ignore_ascii_case("forwarded") {
            self.forwarded.extend(value.split(',').map(forwarded_for));
        }
    }

    /// Return the client's address: the connection's, unless that is a trusted proxy's; then that
    /// of the proxy's client, and so on. Addresses before the first untrusted one may be forged and
    /// are ignored.
    pub fn client(
        &self,
        peer: IpAddr,
        field: ProxyField,
        trusted: impl Fn(IpAddr) -> bool,
    ) -> IpAddr {
        let hops = match field {
            ProxyField::XForwardedFor => &self.x_forwarded_for,
            ProxyField::Forwarded => &self.forwarded,
        };
        let mut client = peer;
        for hop in hops.iter().rev() {
            match hop {
                Some(before) if trusted(client) => client = *before,
                _ => break,
            }
        }
        client
    }
}

/// Return the `for` of one element of `Forwarded` (RFC 7239):
/// `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(value.trim_matches('"'))
}

/// Read an address, perhaps in brackets, perhaps with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let found = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|it| it.ip()));
    found.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(lines: &[(&str, &str)], peer: &str, field: ProxyField) -> IpAddr {
        let mut fields = Fields::default();
        for (name, value) in lines {
            fields.take(name, value);
        }
        fields.client(ip(peer), field, |address| address.to_string().starts_with("10."))
    }

    #[test]
    fn nobody_but_a_trusted_proxy_can_name_another_address() {
        let forged = [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1")];
        for field in [ProxyField::XForwardedFor, ProxyField::Forwarded] {
            assert_eq!(client(&forged, "198.51.100.7", field), ip("198.51.100.7"));
            assert_eq!(client(&forged, "10.0.0.1", field), ip("192.0.2.1"));
        }
    }

    #[test]
    fn fields_that_the_client_sent_to_its_proxy_are_ignored() {
        let lines =
            [("x-forwarded-for", "192.0.2.1, 10.9.9.9"), ("X-Forwarded-For", "203.0.113.5")];
        let seen = client(&lines, "10.0.0.1", ProxyField::XForwardedFor);
        assert_eq!(seen, ip("203.0.113.5"));
        let chained = [("X-Forwarded-For", "192.0.2.1, 203.0.113.5, 10.0.0.2")];
        assert_eq!(client(&chained, "10.0.0.1", ProxyField::XForwardedFor), ip("203.0.113.5"));
        // The other field is not the one that this proxy writes.
        let other = [("Forwarded", "for=192.0.2.1")];
        assert_eq!(client(&other, "10.0.0.1", ProxyField::XForwardedFor), ip("10.0.0.1"));
    }

    #[test]
    fn addresses_in_every_form_and_none_where_there_is_none() {
        for (element, expected) in [
            ("for=192.0.2.43", Some("192.0.2.43")),
            ("proto=https;For=\"[2001:db8::17]:4711\"", Some("2001:db8::17")),
            ("for=\"192.0.2.1:80\";by=10.0.0.1", Some("192.0.2.1")),
            ("for=_hidden", None),
            ("for=unknown", None),
            ("by=10.0.0.1", None),
        ] {
            assert_eq!(forwarded_for(element), expected.map(ip), "{element}");
        }
        assert_eq!(address("::ffff:192.0.2.1"), Some(ip("192.0.2.1")));
        assert_eq!(
            client(&[("Forwarded", "for=unknown")], "10.0.0.1", ProxyField::Forwarded),
            ip("10.0.0.1")
        );
    }
}
