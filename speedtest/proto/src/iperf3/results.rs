// SPDX-License-Identifier: Apache-2.0
//! Results that both sides exchange at the end: the JSON of EXCHANGE_RESULTS.

use serde::{Deserialize, Deserializer, Serialize};

use super::ProtocolError;

/// Results of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// CPU use in percent of one core, over the test.
    pub cpu_util_total: f64,
    pub cpu_util_user: f64,
    pub cpu_util_system: f64,
    /// 1: the retransmits below are counted; 0: they are not; -1: this side did not send.
    #[serde(default, deserialize_with = "signed")]
    pub sender_has_retransmits: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    pub streams: Vec<StreamResult>,
}

/// One stream as one side counted it, after the omitted seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StreamResult {
    pub id: u32,
    pub bytes: u64,
    /// Retransmitted segments; -1: not counted.
    #[serde(default, deserialize_with = "signed")]
    pub retransmits: i64,
    #[serde(default)]
    pub jitter: f64,
    #[serde(default)]
    pub errors: i64,
    #[serde(default)]
    pub omitted_errors: i64,
    #[serde(default)]
    pub packets: i64,
    #[serde(default)]
    pub omitted_packets: i64,
    #[serde(default)]
    pub start_time: f64,
    #[serde(default)]
    pub end_time: f64,
}

/// Read a number; some versions of iperf3 write -1 as 18446744073709551615.
fn signed<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(serde_json::Number::deserialize(from)?.as_i64().unwrap_or(-1))
}

/// Return iperf3's stream numbers, in order of connection: 1, 3, 4, 5, ...
pub fn stream_ids() -> impl Iterator<Item = u32> {
    std::iter::once(1).chain(3..)
}

impl Results {
    pub fn parse(json: &[u8]) -> Result<Results, ProtocolError> {
        serde_json::from_slice(json).map_err(|error| ProtocolError::Results(error.to_string()))
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
