// SPDX-License-Identifier: Apache-2.0
//! The project's own page: its files, all served from here, and its data about this server.

use std::net::IpAddr;

use serde_json::{json, Value};
use speedtest_net::options::default_congestion;
use speedtest_net::sys;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($path:literal: $content_type:ident $file:literal,)*) => {
        /// Return type and content of a file of the page.
        pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
            Some(match path {
                $($path => ($content_type, include_str!(concat!("../../page/", $file))),)*
                _ => return None,
            })
        }
    };
}

files! {
    "/": HTML "index.html",
    "/page.css": STYLE "page.css",
    "/theme.js": SCRIPT "theme.js",
    "/page.js": SCRIPT "page.js",
    "/view.js": SCRIPT "view.js",
    "/chart.js": SCRIPT "chart.js",
    "/format.js": SCRIPT "format.js",
    "/advice.js": SCRIPT "advice.js",
    "/history.js": SCRIPT "history.js",
    "/failure.js": SCRIPT "failure.js",
    "/measure.js": SCRIPT "measure.js",
    "/timeline.js": SCRIPT "timeline.js",
    "/latency.js": SCRIPT "latency.js",
    "/worker.js": SCRIPT "worker.js",
}

/// Return the page's data about this server and its client's address.
pub fn about(name: Option<&str>, client: IpAddr) -> Value {
    let name = name.map(str::to_owned).or_else(sys::host_name);
    let family = if client.to_canonical().is_ipv4() { "IPv4" } else { "IPv6" };
    json!({"name": name, "family": family, "congestion": default_congestion()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_file_names_is_served() {
        let mut open = vec!["/".to_owned()];
        let mut seen = Vec::new();
        while let Some(path) = open.pop() {
            let (_, content) = file(&path).unwrap_or_else(|| panic!("{path} is not served"));
            seen.push(path);
            for word in content.split(['"', '\'']) {
                let name = word.strip_prefix("./").unwrap_or(word);
                let is_file = [".js", ".css"].iter().any(|end| {
                    name.strip_suffix(end)
                        .is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_lowercase()))
                });
                let path = format!("/{name}");
                if is_file && !seen.contains(&path) && !open.contains(&path) {
                    open.push(path);
                }
            }
        }
        assert!(seen.contains(&"/worker.js".to_owned()) && seen.len() > 10, "{seen:?}");
    }

    #[test]
    fn the_server_has_the_name_that_was_set_or_its_hosts() {
        let client = IpAddr::from([127, 0, 0, 1]);
        assert!(about(None, client)["name"].as_str().is_some_and(|name| !name.is_empty()));
        let told = about(Some("Berlin 1"), "::1".parse().unwrap());
        assert_eq!((&told["name"], &told["family"]), (&json!("Berlin 1"), &json!("IPv6")));
        let mapped = about(None, "::ffff:192.0.2.1".parse().unwrap());
        assert_eq!(mapped["family"], "IPv4");
    }
}
