// SPDX-License-Identifier: Apache-2.0
//! Which tests does this server run, and which of iperf3's errors does a client get?

use std::net::SocketAddr;

use serde_json::json;
use speedtest_proto::iperf3::{End, ErrorCode, Params, ProtocolError};

use super::auth::{Auth, Denied};
use crate::config::Limits;
use crate::log::unix_s;
use crate::shared::Shared;

/// Why this server will not run such a test.
pub fn objection(shared: &Shared, params: &Params) -> Option<(String, ErrorCode)> {
    let limits = &shared.config.limits;
    if let Some(name) = params.congestion.as_ref().filter(|n| !shared.kernel.has_congestion(n)) {
        return Some((format!("no congestion control {name:?}"), ErrorCode::SetCongestion));
    }
    if let End::Seconds(seconds) = params.end {
        let asked = u64::from(seconds) + u64::from(params.omit_s);
        if asked > limits.duration_s {
            let why = format!("{asked} s asked, {} s allowed", limits.duration_s);
            return Some((why, ErrorCode::MaxDuration));
        }
    }
    let asked = params.amount_bytes().filter(|asked| limits.bytes > 0 && *asked > limits.bytes)?;
    Some((format!("{asked} bytes asked, {} allowed", limits.bytes), ErrorCode::TotalRate))
}

/// Why a test that has moved so many bytes may not go on.
pub fn beyond_limit(limits: &Limits, bytes: u64) -> Option<String> {
    let most = limits.bytes;
    (most > 0 && bytes > most).then(|| format!("{bytes} bytes moved, {most} allowed"))
}

/// Is this client a user, where only users may test?
pub fn authenticate(
    shared: &Shared,
    auth: Option<&Auth>,
    params: &Params,
    peer: SocketAddr,
) -> Result<(), Denied> {
    let Some(auth) = auth else { return Ok(()) };
    let user = auth.user(params.auth_token.as_deref(), unix_s() as i64)?;
    shared.log.info("user authenticated", json!({"client": peer.to_string(), "user": user}));
    Ok(())
}

/// What the client is told about its own mistake.
pub fn error_code(error: &ProtocolError) -> ErrorCode {
    use ProtocolError as E;
    match error {
        E::TooLong { .. } | E::Params(_) => ErrorCode::ReceiveParams,
        E::Results(_) => ErrorCode::ReceiveResults,
        E::UnexpectedState { .. } | E::Refused(_) | E::ServerError { .. } => ErrorCode::Message,
    }
}
