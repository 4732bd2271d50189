// SPDX-License-Identifier: Apache-2.0
//! JSON texts of a test. Times in microseconds, amounts in bytes, gains in 256ths.

use serde::{Deserialize, Serialize};

use crate::verdict::OtherLoad;

/// One measurement, by client or server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Measurement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_info: Option<AppInfo>,
    #[serde(rename = "BBRInfo", skip_serializing_if = "Option::is_none")]
    pub bbr_info: Option<BbrInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_info: Option<ConnectionInfo>,
    /// `client` or `server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// `download` or `upload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(rename = "TCPInfo", skip_serializing_if = "Option::is_none")]
    pub tcp_info: Option<TcpInfo>,
    /// Other load of the server; an extension, in the server's last measurement only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_load: Option<OtherLoad>,
}

/// Bytes that this side's program has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AppInfo {
    pub elapsed_time: u64,
    pub num_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ConnectionInfo {
    pub client: String,
    pub server: String,
    #[serde(rename = "UUID")]
    pub uuid: String,
}

/// TCP_INFO of the server's kernel, under the names of M-Lab's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TcpInfo {
    pub elapsed_time: u64,
    pub busy_time: u64,
    #[serde(rename = "RWndLimited")]
    pub rwnd_limited: u64,
    pub snd_buf_limited: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    #[serde(rename = "MinRTT")]
    pub min_rtt: u32,
    #[serde(rename = "RTT")]
    pub rtt: u32,
    #[serde(rename = "RTTVar")]
    pub rtt_var: u32,
    #[serde(rename = "RcvRTT")]
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub snd_cwnd: u32,
    #[serde(rename = "SndMSS")]
    pub snd_mss: u32,
    pub total_retrans: u32,
    pub segs_in: u32,
    pub segs_out: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub pacing_rate: u64,
    pub notsent_bytes: u32,
    pub unacked: u32,
    pub lost: u32,
    pub reord_seen: u32,
}

/// BBR's estimates, where it is the congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct BbrInfo {
    pub elapsed_time: u64,
    /// Bytes per second.
    #[serde(rename = "BW")]
    pub bandwidth: u64,
    #[serde(rename = "MinRTT")]
    pub min_rtt: u32,
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
}

impl Measurement {
    pub fn to_text(&self) -> String {
        // Numbers and strings only: the conversion cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Read a peer's measurement. None: the text is something else, which the specification allows.
    pub fn of_text(text: &str) -> Option<Measurement> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_specification() {
        let measurement = Measurement {
            app_info: Some(AppInfo { elapsed_time: 1, num_bytes: 2 }),
            bbr_info: Some(BbrInfo { bandwidth: 3, ..BbrInfo::default() }),
            connection_info: Some(ConnectionInfo { uuid: "u".into(), ..ConnectionInfo::default() }),
            origin: Some("server".into()),
            test: Some("download".into()),
            tcp_info: Some(TcpInfo { rwnd_limited: 4, min_rtt: 5, ..TcpInfo::default() }),
            other_load: Some(OtherLoad { tests: 6, ..OtherLoad::default() }),
        };
        let json: serde_json::Value = serde_json::from_str(&measurement.to_text()).unwrap();
        assert_eq!(json["AppInfo"]["NumBytes"], 2);
        assert_eq!(json["AppInfo"]["ElapsedTime"], 1);
        assert_eq!(json["BBRInfo"]["BW"], 3);
        assert_eq!(json["ConnectionInfo"]["UUID"], "u");
        assert_eq!(json["OtherLoad"]["tests"], 6);
        assert_eq!((&json["Origin"], &json["Test"]), (&"server".into(), &"download".into()));
        for name in ["BusyTime", "BytesAcked", "RTT", "RTTVar", "SndBufLimited", "BytesRetrans"] {
            assert_eq!(json["TCPInfo"][name], 0, "{name}");
        }
        assert_eq!(
            (&json["TCPInfo"]["RWndLimited"], &json["TCPInfo"]["MinRTT"]),
            (&4.into(), &5.into())
        );
        assert_eq!(Measurement::of_text(&measurement.to_text()), Some(measurement));
    }

    #[test]
    fn a_text_that_is_no_measurement_is_none() {
        assert_eq!(Measurement::of_text("hello"), None);
        assert_eq!(Measurement::of_text("{}"), Some(Measurement::default()));
    }
}
