// SPDX-License-Identifier: Apache-2.0
//! Tests that this server accepts, and the iperf3 error of a rejection.

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::json;
use speedtest_proto::iperf3::{End, ErrorCode, Params, ProtocolError};

use super::auth::{Auth, Denied};
use super::Context;
use crate::accounts::Account;
use crate::config::Limits;
use crate::log::unix_s;

/// Return why this server rejects such a test.
pub fn objection(
    shared: &Context,
    account: &Account,
    params: &Params,
    now: Instant,
) -> Option<(String, ErrorCode)> {
    if let Some(why) = spent(account, now) {
        return Some((why, ErrorCode::TotalRate));
    }
    let limits = &shared.limits;
    if let Some(name) = params.congestion.as_ref().filter(|n| !shared.kernel.has_congestion(n)) {
        return Some((format!("no congestion control {name:?}"), ErrorCode::SetCongestion));
    }
    if let End::Seconds(seconds) = params.end {
        let requested = u64::from(seconds) + u64::from(params.omit_s);
        if requested > limits.duration_s {
            let why = format!("{requested} s requested, {} s allowed", limits.duration_s);
            return Some((why, ErrorCode::MaxDuration));
        }
    }
    let requested = params.amount_bytes().filter(|all| limits.bytes > 0 && *all > limits.bytes)?;
    Some((format!("{requested} bytes requested, {} allowed", limits.bytes), ErrorCode::TotalRate))
}

/// Return why a test that has moved `bytes` may not continue.
pub fn beyond_limit(limits: &Limits, bytes: u64) -> Option<String> {
    let most = limits.bytes;
    (most > 0 && bytes > most).then(|| format!("{bytes} bytes moved, {most} allowed"))
}

/// Return why this client may not move more for now.
pub fn spent(account: &Account, now: Instant) -> Option<String> {
    let left = account.spent_for(now)?;
    Some(format!("limits.client_bytes are used up; again in {} s", left.as_secs() + 1))
}

/// Authenticate the client, if only users may test.
pub fn authenticate(
    shared: &Context,
    auth: Option<&Auth>,
    params: &Params,
    peer: SocketAddr,
) -> Result<(), Denied> {
    let Some(auth) = auth else { return Ok(()) };
    let user = auth.user(params.auth_token.as_deref(), unix_s() as i64)?;
    shared.log.info("user authenticated", json!({"client": peer.to_string(), "user": user}));
    Ok(())
}

/// Return the error code for a client's own mistake.
pub fn error_code(error: &ProtocolError) -> ErrorCode {
    use ProtocolError as E;
    match error {
        E::TooLong { .. } | E::Params(_) => ErrorCode::ReceiveParams,
        E::Results(_) => ErrorCode::ReceiveResults,
        E::UnexpectedState { .. } | E::Refused(_) | E::ServerError { .. } => ErrorCode::Message,
    }
}
