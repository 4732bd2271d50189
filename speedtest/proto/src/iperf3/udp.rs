// SPDX-License-Identifier: Apache-2.0
//! iperf3's datagrams: connect message and reply, header of test data, receiver's counters.

/// UDP_CONNECT_MSG, with which a client opens a UDP stream: in either byte order, of current and of
/// older versions.
const CONNECT_MESSAGES: [[u8; 4]; 4] =
    [*b"9876", *b"6789", 123_456_789_u32.to_le_bytes(), 123_456_789_u32.to_be_bytes()];
/// UDP_CONNECT_REPLY; older clients only check that four bytes come.
pub const CONNECT_REPLY: [u8; 4] = *b"6789";
/// The longest header: seconds, microseconds, 64-bit counter.
pub const HEADER_BYTES: usize = 16;

pub fn is_connect(datagram: &[u8]) -> bool {
    CONNECT_MESSAGES.iter().any(|message| message == datagram)
}

/// Header of every datagram of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub sent_us: u64,
    /// Counter, from 1 on.
    pub number: u64,
}

impl Header {
    pub fn encode(self, wide: bool) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&((self.sent_us / 1_000_000) as u32).to_be_bytes());
        bytes[4..8].copy_from_slice(&((self.sent_us % 1_000_000) as u32).to_be_bytes());
        if wide {
            bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        } else {
            bytes[8..12].copy_from_slice(&(self.number as u32).to_be_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8; HEADER_BYTES], wide: bool) -> Header {
        let word = |at: usize| {
            u64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
        };
        let number = if wide { word(8) << 32 | word(12) } else { word(8) };
        Header { sent_us: word(0) * 1_000_000 + word(4), number }
    }
}

/// Receiver's counters, as in iperf3: a late datagram is subtracted from the losses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Arrivals {
    /// Highest number received.
    pub packets: u64,
    pub lost: u64,
    pub out_of_order: u64,
    /// Jitter by RFC 1889: mean deviation of the transit time, smoothed by 1/16.
    pub jitter_s: f64,
    transit_us: Option<f64>,
}

impl Arrivals {
    pub fn count(&mut self, header: Header, arrived_us: u64) {
        if header.number > self.packets {
            self.lost += header.number - self.packets - 1;
            self.packets = header.number;
        } else {
            self.out_of_order += 1;
            self.lost = self.lost.saturating_sub(1);
        }
        let transit_us = arrived_us as f64 - header.sent_us as f64;
        if let Some(before) = self.transit_us.replace(transit_us) {
            let deviation_s = (transit_us - before).abs() / 1e6;
            self.jitter_s += (deviation_s - self.jitter_s) / 16.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_the_wire_in_both_widths() {
        let header = Header { sent_us: 1_700_000_000_123_456, number: 77 };
        assert_eq!(Header::decode(&header.encode(false), false), header);
        let header = Header { number: 1 << 40, ..header };
        assert_eq!(Header::decode(&header.encode(true), true), header);
    }

    #[test]
    fn loss_is_a_gap_until_the_late_one_comes() {
        let mut arrivals = Arrivals::default();
        let mut arrive = |number| {
            arrivals.count(Header { sent_us: 0, number }, 0);
            (arrivals.packets, arrivals.lost, arrivals.out_of_order)
        };
        assert_eq!([arrive(1), arrive(2), arrive(5)], [(1, 0, 0), (2, 0, 0), (5, 2, 0)]);
        assert_eq!(arrive(3), (5, 1, 1));
    }

    #[test]
    fn jitter_follows_the_rfc() {
        let mut arrivals = Arrivals::default();
        arrivals.count(Header { sent_us: 0, number: 1 }, 5_000);
        arrivals.count(Header { sent_us: 10_000, number: 2 }, 31_000);
        assert!((arrivals.jitter_s - 0.016 / 16.0).abs() < 1e-9);
    }
}
