// SPDX-License-Identifier: Apache-2.0
//! Query of a test's URL.

use std::collections::BTreeMap;

/// Longest query (specification, "Query string parameters").
const MAX_QUERY_BYTES: usize = 4096;
/// Pairs of metadata that are kept, and the longest name or value.
const MAX_PAIRS: usize = 32;
const MAX_VALUE_BYTES: usize = 256;
/// Only value that M-Lab's servers take, in megabytes.
const EARLY_EXIT_MB: &str = "250";

/// Request for one subtest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestQuery {
    /// Bytes after which a download ends.
    pub early_exit_bytes: Option<u64>,
    pub access_token: Option<String>,
    /// Metadata of the client.
    pub metadata: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the query is longer than {MAX_QUERY_BYTES} bytes")]
    TooLong,
    #[error("the query is not URL-encoded UTF-8")]
    Encoding,
    #[error("early_exit={0} is not allowed; allowed is {EARLY_EXIT_MB} (megabytes)")]
    EarlyExit(String),
}

impl TestQuery {
    pub fn of_query(query: &str) -> Result<TestQuery, QueryError> {
        if query.len() > MAX_QUERY_BYTES {
            return Err(QueryError::TooLong);
        }
        let mut found = TestQuery::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name).ok_or(QueryError::Encoding)?;
            let value = decoded(value).ok_or(QueryError::Encoding)?;
            match name.as_str() {
                "access_token" => found.access_token = Some(value).filter(|text| !text.is_empty()),
                "early_exit" if value == EARLY_EXIT_MB => {
                    found.early_exit_bytes = Some(250_000_000);
                }
                "early_exit" => return Err(QueryError::EarlyExit(value)),
                // The specification reserves these names for the server.
                name if name.starts_with("server_") => {}
                _ => found.keep(name, value),
            }
        }
        Ok(found)
    }

    fn keep(&mut self, name: String, value: String) {
        let short = name.len() <= MAX_VALUE_BYTES && value.len() <= MAX_VALUE_BYTES;
        if short && self.metadata.len() < MAX_PAIRS {
            // The first value of a duplicate name counts.
            self.metadata.entry(name).or_insert(value);
        }
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, others) = rest.split_first_chunk::<2>()?;
                let digits = std::str::from_utf8(digits).ok()?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = others;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_token_and_early_exit_come_apart() {
        let query = TestQuery::of_query(
            "client_name=a%20b+c&early_exit=250&access_token=x.y.z&server_x=1&client_name=second&",
        )
        .unwrap();
        assert_eq!(query.early_exit_bytes, Some(250_000_000));
        assert_eq!(query.access_token.as_deref(), Some("x.y.z"));
        assert_eq!(
            query.metadata.into_iter().collect::<Vec<_>>(),
            [("client_name".to_owned(), "a b c".to_owned())]
        );
    }

    #[test]
    fn a_query_that_the_specification_forbids_is_refused() {
        assert_eq!(TestQuery::of_query(&"a".repeat(4097)), Err(QueryError::TooLong));
        for wrong in ["a=%", "a=%f", "a=%ff", "a=%+1"] {
            assert_eq!(TestQuery::of_query(wrong), Err(QueryError::Encoding), "{wrong}");
        }
        let exit = TestQuery::of_query("early_exit=251").unwrap_err();
        assert!(exit.to_string().contains("251") && exit.to_string().contains("250 (megabytes)"));
    }

    #[test]
    fn a_client_cannot_fill_the_memory_with_metadata() {
        let many: Vec<String> = (0..400).map(|n| format!("k{n}=v")).collect();
        assert_eq!(TestQuery::of_query(&many.join("&")).unwrap().metadata.len(), MAX_PAIRS);
    }
}
