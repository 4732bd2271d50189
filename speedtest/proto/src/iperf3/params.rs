// SPDX-License-Identifier: Apache-2.0
//! Parameters of a test: the checked JSON of PARAM_EXCHANGE.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ProtocolError;

pub const MAX_STREAMS: u32 = 128;
/// Largest block of one write, in bytes; iperf3's own limit.
pub const MAX_BLOCK_BYTES: u32 = 1 << 20;
const MAX_UDP_BLOCK_BYTES: u32 = 65_507;
const DEFAULT_TCP_BLOCK_BYTES: u32 = 128 << 10;
const DEFAULT_UDP_BLOCK_BYTES: u32 = 1460;
const MAX_OMIT_S: u32 = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

/// Direction of a test. In a bidirectional test the client sends the first half of the streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Reverse,
    Bidirectional,
}

/// Condition that ends the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Time in seconds; 0: until the client stops.
    Seconds(u32),
    Bytes(u64),
    Blocks(u64),
}

/// Parameters of a test as its client requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    pub transport: Transport,
    pub direction: Direction,
    pub end: End,
    pub omit_s: u32,
    /// Streams in each direction.
    pub streams: u32,
    pub block_bytes: u32,
    pub window_bytes: Option<u32>,
    pub mss: Option<u32>,
    pub no_delay: bool,
    /// Rate of each stream in bit/s; None is unlimited.
    pub rate_bps: Option<u64>,
    pub fq_rate_bps: Option<u64>,
    pub burst_blocks: u32,
    pub tos: Option<u32>,
    pub congestion: Option<String>,
    pub server_output: bool,
    pub udp_counters_64bit: bool,
    pub auth_token: Option<String>,
    pub client_version: String,
}

impl Default for Params {
    /// Return a TCP test of 10 s with one stream, iperf3's default.
    fn default() -> Params {
        Params {
            transport: Transport::Tcp,
            direction: Direction::Forward,
            end: End::Seconds(10),
            omit_s: 0,
            streams: 1,
            block_bytes: DEFAULT_TCP_BLOCK_BYTES,
            window_bytes: None,
            mss: None,
            no_delay: false,
            rate_bps: None,
            fq_rate_bps: None,
            burst_blocks: 0,
            tos: None,
            congestion: None,
            server_output: false,
            udp_counters_64bit: false,
            auth_token: None,
            client_version: String::new(),
        }
    }
}

/// Keys on the wire. Unknown keys are ignored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Wire {
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    tcp: bool,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    udp: bool,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    sctp: bool,
    omit: u32,
    time: u32,
    num: u64,
    blockcount: u64,
    #[serde(rename = "MSS", skip_serializing_if = "is_default")]
    mss: u32,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    nodelay: bool,
    parallel: Option<u32>,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    reverse: bool,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag")]
    bidirectional: bool,
    #[serde(skip_serializing_if = "is_default")]
    window: u32,
    #[serde(skip_serializing_if = "is_default")]
    len: u32,
    #[serde(skip_serializing_if = "is_default")]
    bandwidth: u64,
    #[serde(skip_serializing_if = "is_default")]
    fqrate: u64,
    pacing_timer: u32,
    #[serde(skip_serializing_if = "is_default")]
    burst: u32,
    #[serde(rename = "TOS", skip_serializing_if = "is_default")]
    tos: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion: Option<String>,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag", serialize_with = "one")]
    get_server_output: bool,
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag", serialize_with = "one")]
    udp_counters_64bit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    authtoken: Option<String>,
    client_version: String,
}

/// Read a flag: some versions of iperf3 write true, others 1.
fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Flag {
        Truth(bool),
        Number(i64),
    }
    Ok(match Flag::deserialize(from)? {
        Flag::Truth(value) => value,
        Flag::Number(value) => value != 0,
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn one<S: Serializer>(_true: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(1)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn positive<T: Default + PartialEq>(value: T) -> Option<T> {
    (!is_default(&value)).then_some(value)
}

impl Params {
    /// Read and check a client's parameters.
    pub fn parse(json: &[u8]) -> Result<Params, ProtocolError> {
        if !json.trim_ascii_start().starts_with(b"{") {
            return Err(ProtocolError::Params("not a JSON object".into()));
        }
        let wire: Wire = serde_json::from_slice(json)
            .map_err(|error| ProtocolError::Params(error.to_string()))?;
        Params::from_wire(wire).map_err(ProtocolError::Params)
    }

    fn from_wire(wire: Wire) -> Result<Params, String> {
        if wire.sctp {
            return Err("sctp is not served here; tcp and udp are".into());
        }
        let transport = if wire.udp { Transport::Udp } else { Transport::Tcp };
        let (default_block, max_block) = match transport {
            Transport::Tcp => (DEFAULT_TCP_BLOCK_BYTES, MAX_BLOCK_BYTES),
            Transport::Udp => (DEFAULT_UDP_BLOCK_BYTES, MAX_UDP_BLOCK_BYTES),
        };
        let streams = wire.parallel.unwrap_or(1);
        in_range("parallel", streams, 1, MAX_STREAMS)?;
        let block_bytes = positive(wire.len).unwrap_or(default_block);
        let min_block = if transport == Transport::Udp { 16 } else { 1 };
        in_range("len", block_bytes, min_block, max_block)?;
        in_range("omit", wire.omit, 0, MAX_OMIT_S)?;
        in_range("window", wire.window, 0, 512 << 20)?;
        let direction = match (wire.reverse, wire.bidirectional) {
            (false, false) => Direction::Forward,
            (true, false) => Direction::Reverse,
            (false, true) => Direction::Bidirectional,
            (true, true) => return Err("reverse and bidirectional together".into()),
        };
        let end = match (wire.num, wire.blockcount) {
            (0, 0) => End::Seconds(wire.time),
            (bytes, 0) => End::Bytes(bytes),
            (0, blocks) => End::Blocks(blocks),
            _ => return Err("num and blockcount together".into()),
        };
        Ok(Params {
            transport,
            direction,
            end,
            omit_s: wire.omit,
            streams,
            block_bytes,
            window_bytes: positive(wire.window),
            mss: positive(wire.mss),
            no_delay: wire.nodelay,
            rate_bps: positive(wire.bandwidth),
            fq_rate_bps: positive(wire.fqrate),
            burst_blocks: wire.burst.min(1000),
            tos: positive(wire.tos),
            congestion: wire.congestion,
            server_output: wire.get_server_output,
            udp_counters_64bit: wire.udp_counters_64bit,
            auth_token: wire.authtoken,
            client_version: wire.client_version,
        })
    }

    /// Return the JSON that a client sends.
    pub fn to_json(&self) -> Vec<u8> {
        let (time, num, blockcount) = match self.end {
            End::Seconds(seconds) => (seconds, 0, 0),
            End::Bytes(bytes) => (0, bytes, 0),
            End::Blocks(blocks) => (0, 0, blocks),
        };
        let wire = Wire {
            tcp: self.transport == Transport::Tcp,
            udp: self.transport == Transport::Udp,
            sctp: false,
            omit: self.omit_s,
            time,
            num,
            blockcount,
            mss: self.mss.unwrap_or(0),
            nodelay: self.no_delay,
            parallel: Some(self.streams),
            reverse: self.direction == Direction::Reverse,
            bidirectional: self.direction == Direction::Bidirectional,
            window: self.window_bytes.unwrap_or(0),
            len: self.block_bytes,
            bandwidth: self.rate_bps.unwrap_or(0),
            fqrate: self.fq_rate_bps.unwrap_or(0),
            pacing_timer: 1000,
            burst: self.burst_blocks,
            tos: self.tos.unwrap_or(0),
            congestion: self.congestion.clone(),
            get_server_output: self.server_output,
            udp_counters_64bit: self.udp_counters_64bit,
            authtoken: self.auth_token.clone(),
            client_version: self.client_version.clone(),
        };
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// Return the number of data connections of the whole test.
    pub fn total_streams(&self) -> u32 {
        match self.direction {
            Direction::Bidirectional => self.streams * 2,
            Direction::Forward | Direction::Reverse => self.streams,
        }
    }

    /// Return whether the server sends on the stream with this index, in order of connection.
    pub fn server_sends(&self, index: u32) -> bool {
        match self.direction {
            Direction::Forward => false,
            Direction::Reverse => true,
            Direction::Bidirectional => index >= self.streams,
        }
    }

    /// Return the bytes that each direction sends in all, if the test ends by amount.
    pub fn amount_bytes(&self) -> Option<u64> {
        match self.end {
            End::Seconds(_) => None,
            End::Bytes(bytes) => Some(bytes),
            End::Blocks(blocks) => Some(blocks.saturating_mul(u64::from(self.block_bytes))),
        }
    }
}

fn in_range(key: &str, value: u32, least: u32, most: u32) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("{key} is {value}; allowed are {least} to {most}"))
}
