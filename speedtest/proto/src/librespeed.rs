// SPDX-License-Identifier: Apache-2.0
//! LibreSpeed's endpoints, under the names that its web client and its CLI use.

const MIB: u64 = 1 << 20;
const DEFAULT_CHUNKS: u64 = 4;
const MOST_CHUNKS: u64 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    Garbage,
    Empty,
    GetIp,
    Telemetry,
}

/// Return the endpoint of this path, with or without `.php`, at the root or below `/backend`.
pub fn endpoint(path: &str) -> Option<Endpoint> {
    let path = path.strip_prefix("/backend").unwrap_or(path);
    match path.strip_suffix(".php").unwrap_or(path) {
        "/garbage" => Some(Endpoint::Garbage),
        "/empty" => Some(Endpoint::Empty),
        "/getIP" => Some(Endpoint::GetIp),
        "/results/telemetry" => Some(Endpoint::Telemetry),
        _ => None,
    }
}

/// Return the bytes of a download by its `ckSize` in MiB.
pub fn garbage_bytes(chunk_size: Option<&str>) -> u64 {
    let asked = chunk_size.and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_CHUNKS);
    asked.clamp(1, MOST_CHUNKS) * MIB
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reaches_its_endpoint() {
        for path in ["/garbage", "/garbage.php", "/backend/garbage", "/backend/garbage.php"] {
            assert_eq!(endpoint(path), Some(Endpoint::Garbage), "{path}");
        }
        assert_eq!(endpoint("/results/telemetry.php"), Some(Endpoint::Telemetry));
        assert_eq!(endpoint("/getIP"), Some(Endpoint::GetIp));
        assert_eq!(endpoint("/backendgarbage"), None);
    }

    #[test]
    fn downloads_have_a_default_and_a_cap() {
        let sizes = [None, Some("x"), Some("0"), Some("100"), Some("99999")].map(garbage_bytes);
        assert_eq!(sizes, [4 * MIB, 4 * MIB, MIB, 100 * MIB, 1024 * MIB]);
    }
}
