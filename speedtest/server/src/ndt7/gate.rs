// SPDX-License-Identifier: Apache-2.0
//! Access to ndt7 tests by token.

use speedtest_proto::ndt7::token::{verify, Expected, Key};

use crate::config::{ConfigError, Ndt7};
use crate::log::unix_s;

/// Keys that the operator trusts, and the claims that tokens must have.
#[derive(Debug, Default)]
pub struct Gate {
    keys: Vec<Key>,
    expected: Option<Expected>,
    required: bool,
}

impl Gate {
    pub fn load(config: &Ndt7) -> Result<Gate, ConfigError> {
        let keys = config.token_keys.iter().enumerate().map(|(index, path)| {
            let failed = |fault: String| ConfigError {
                place: format!("ndt7.token_keys[{index}]"),
                fault: format!("{}: {fault}", path.display()),
            };
            let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
            Key::of_json(&text).map_err(|error| failed(error.to_string()))
        });
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let missing = |place: &str, why: &str| ConfigError {
            place: place.to_owned(),
            fault: format!("not set; {why}"),
        };
        if keys.is_empty() && config.token_required {
            let why = "ndt7.token_required needs at least one key";
            return Err(missing("ndt7.token_keys", why));
        }
        let expected = config
            .token_audience
            .clone()
            .map(|audience| Expected { issuer: config.token_issuer.clone(), audience });
        if !keys.is_empty() && expected.is_none() {
            let why = "tokens have to name this server, so it needs a name";
            return Err(missing("ndt7.token_audience", why));
        }
        Ok(Gate { keys, expected, required: config.token_required })
    }

    /// Check a client's token; return the error for the client.
    pub fn pass(&self, token: Option<&str>) -> Result<(), String> {
        // Without a key no token can be checked, and none is required.
        let Some(expected) = self.expected.as_ref().filter(|_| !self.keys.is_empty()) else {
            return Ok(());
        };
        match token {
            Some(token) => {
                verify(&self.keys, expected, token, unix_s()).map_err(|error| error.to_string())
            }
            None if self.required => Err("access_token is missing from the query".into()),
            None => Ok(()),
        }
    }
}
