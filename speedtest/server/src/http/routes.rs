// SPDX-License-Identifier: Apache-2.0
//! Route of a request.

use std::net::IpAddr;

use serde_json::json;
use speedtest_proto::http1::{Method, Request};
use speedtest_proto::librespeed::{endpoint, garbage_bytes, Endpoint};
use speedtest_proto::ndt7::Subtest;
use speedtest_proto::nq;

use super::Context;
use super::{metrics, page};
use crate::config::Cors;
use crate::transfers;

/// Longest body that is read and not dropped, in bytes: a result.
pub const MAX_RESULT_BYTES: u64 = 16 << 10;

/// Service of an HTTP address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Tests,
    Metrics,
}

/// Action for a request once its head is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Route {
    Text {
        status: &'static str,
        content_type: &'static str,
        body: String,
    },
    /// Send this many bytes of test data.
    Garbage(u64),
    /// Drop and count the body, then send an empty answer.
    Discard,
    /// Keep the body as a result.
    Result,
    /// Turn the connection into a WebSocket.
    Ndt7(Subtest),
}

const OK: &str = "200 OK";
const JSON: &str = "application/json";
const PLAIN: &str = "text/plain; charset=utf-8";

fn text(content_type: &'static str, body: impl Into<String>) -> Route {
    Route::Text { status: OK, content_type, body: body.into() }
}

pub fn route(
    shared: &Context,
    service: Service,
    request: &Request,
    client: IpAddr,
    scheme: &str,
) -> Route {
    let tests = service == Service::Tests;
    if request.method == Method::Options {
        return Route::Text { status: "204 No Content", content_type: PLAIN, body: String::new() };
    }
    match request.path.as_str() {
        "/health" => {
            return text(PLAIN, if shared.admission.is_closed() { "draining\n" } else { "ok\n" })
        }
        "/metrics" if !tests => return text("text/plain; version=0.0.4", metrics::page(shared)),
        "/verdict" if tests => {
            let allowed = Some(shared.limits.rate_bps as f64).filter(|rate| *rate > 0.0);
            let answer = request
                .query("id")
                .and_then(|id| shared.transfers.verdicts(shared.clients.key(client), id, allowed));
            return text(JSON, answer.unwrap_or_else(|| json!({})).to_string());
        }
        "/server" if tests => {
            let name = shared.server_name.as_deref();
            return text(JSON, page::about(name, client).to_string());
        }
        path if tests => {
            if let Some(subtest) = Subtest::of_path(path) {
                return Route::Ndt7(subtest);
            }
            if let Some((content_type, body)) = page::file(path) {
                return text(content_type, body);
            }
            if let Some(found) =
                librespeed(request, client).or_else(|| responsiveness(request, scheme))
            {
                return found;
            }
        }
        _ => {}
    }
    Route::Text { status: "404 Not Found", content_type: PLAIN, body: "not found\n".into() }
}

fn librespeed(request: &Request, client: IpAddr) -> Option<Route> {
    Some(match endpoint(&request.path)? {
        Endpoint::Garbage => Route::Garbage(garbage_bytes(request.query("ckSize"))),
        Endpoint::Empty => Route::Discard,
        Endpoint::GetIp => {
            let address = client.to_canonical().to_string();
            text(JSON, json!({"processedString": address, "rawIspInfo": ""}).to_string())
        }
        Endpoint::Telemetry if request.method == Method::Post => Route::Result,
        Endpoint::Telemetry => return None,
    })
}

fn responsiveness(request: &Request, scheme: &str) -> Option<Route> {
    Some(match nq::endpoint(&request.path)? {
        nq::Endpoint::Config => {
            text(JSON, nq::config(scheme, request.fields.host.as_deref()?).to_string())
        }
        nq::Endpoint::Small => text("application/octet-stream", "1"),
        nq::Endpoint::Large(bytes) => Route::Garbage(bytes),
        nq::Endpoint::Upload => Route::Discard,
    })
}

/// Return the origin if a page of it may read the answer to this request.
pub fn allow_origin(cors: &Cors, request: &Request) -> Option<String> {
    let origins = &cors.origins;
    if origins.iter().any(|origin| origin == "*") {
        let asks = request.query("cors").is_some() || request.method == Method::Options;
        return asks.then(|| "*".to_owned());
    }
    request.fields.origin.clone().filter(|origin| origins.contains(origin))
}

/// Return the request's ID if it may be kept. Clients choose IDs.
pub fn test_id(request: &Request) -> Option<String> {
    let id = request.query("id")?;
    let short = (1..=transfers::MAX_ID_BYTES).contains(&id.len());
    (short && id.bytes().all(|byte| byte.is_ascii_alphanumeric())).then(|| id.to_owned())
}
