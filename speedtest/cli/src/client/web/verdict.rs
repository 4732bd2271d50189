// SPDX-License-Identifier: Apache-2.0
//! Server's verdict of a test that has ended.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::{fetch, Target};

/// Time after the test in which the server may notice the end of all its streams. A server whose
/// loops have no CPU is late.
const NOTICE: Duration = Duration::from_secs(5);
const ASK_EVERY: Duration = Duration::from_millis(50);

/// One tested direction.
pub struct Tested {
    pub server_sends: bool,
    /// Transfers that the server's result has at least, once all streams have ended.
    pub transfers: u64,
}

impl Tested {
    /// Return the direction's name in the server's result.
    fn name(&self) -> &'static str {
        if self.server_sends {
            "download"
        } else {
            "upload"
        }
    }

    /// Return the name that the server's iperf3 side uses.
    fn side(&self) -> &'static str {
        if self.server_sends {
            "sends"
        } else {
            "receives"
        }
    }

    fn is_complete(&self, result: &Value) -> bool {
        let transfers = result[self.name()]["transfers"].as_u64();
        transfers.is_some_and(|transfers| transfers >= self.transfers)
    }
}

/// Fetch the server's result until it has all transfers or the time is up. A server that does not
/// answer in JSON has no result.
fn result_of(
    mut ask: impl FnMut() -> io::Result<String>,
    tested: &[Tested],
    until: Instant,
) -> Value {
    loop {
        let answer: Option<Value> = ask().ok().and_then(|text| serde_json::from_str(&text).ok());
        let Some(result) = answer else { return Value::Null };
        let complete = tested.iter().all(|direction| direction.is_complete(&result));
        if complete || Instant::now() + ASK_EVERY > until {
            return result;
        }
        std::thread::sleep(ASK_EVERY);
    }
}

/// Fetch the server's result of a test that ended at this time. Other servers have none.
pub fn verdicts(target: &Target, id: &str, tested: &[Tested], ended: Instant) -> Value {
    let ask = || fetch::get(target, &format!("/verdict?id={id}"));
    let result = result_of(ask, tested, ended + NOTICE);
    if result.is_null() {
        return result;
    }
    let directions: Vec<Value> = tested
        .iter()
        .filter(|direction| result[direction.name()].is_object())
        .map(|direction| {
            let mut of_server = result[direction.name()].clone();
            of_server["server"] = direction.side().into();
            of_server
        })
        .collect();
    json!({"directions": directions})
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Tested = Tested { server_sends: false, transfers: 1 };
    const DOWN: Tested = Tested { server_sends: true, transfers: 1 };
    const LONG: Duration = Duration::from_secs(600);

    /// Return the result of a test of these directions, and the number of requests.
    fn asked(tested: &[Tested], answers: &[Result<&str, ()>], time: Duration) -> (Value, usize) {
        let mut count = 0;
        let answer = || {
            let answer = answers[count.min(answers.len() - 1)];
            count += 1;
            answer.map(str::to_owned).map_err(|()| io::ErrorKind::NotFound.into())
        };
        let result = result_of(answer, tested, Instant::now() + time);
        (result, count)
    }

    #[test]
    fn a_server_that_has_not_noticed_the_end_is_asked_again() {
        let late = r#"{"download": {"transfers": 1, "bytes": 1}, "upload": null}"#;
        let nulls = r#"{"download": null, "upload": null}"#;
        let (result, count) = asked(&[DOWN], &[Ok("{}"), Ok(nulls), Ok(late), Ok("{}")], LONG);
        assert_eq!((result["download"]["bytes"].as_u64(), count), (Some(1), 3));
    }

    #[test]
    fn a_result_without_one_of_two_directions_is_asked_for_again() {
        let up = r#"{"download": null, "upload": {"transfers": 1}}"#;
        let down = r#"{"download": {"transfers": 1}, "upload": null}"#;
        let both = r#"{"download": {"transfers": 1}, "upload": {"transfers": 1}}"#;
        let (result, count) = asked(&[UP, DOWN], &[Ok(up), Ok(down), Ok(both), Ok("{}")], LONG);
        assert_eq!((result.to_string(), count), (both.replace(' ', ""), 3));
    }

    #[test]
    fn a_result_without_all_streams_is_asked_for_again() {
        let first = r#"{"download": {"transfers": 1}}"#;
        let second = r#"{"download": {"transfers": 2}}"#;
        let two = Tested { transfers: 2, ..DOWN };
        let (result, count) = asked(&[two], &[Ok(first), Ok(second), Ok("{}")], LONG);
        assert_eq!((result["download"]["transfers"].as_u64(), count), (Some(2), 2));
    }

    #[test]
    fn a_result_with_more_transfers_than_streams_is_complete() {
        let many = r#"{"upload": {"transfers": 9}}"#;
        assert_eq!(asked(&[UP], &[Ok(many), Ok("{}")], LONG).1, 1);
    }

    #[test]
    fn a_result_that_stays_incomplete_is_returned_at_the_limit() {
        for answer in [json!({}), json!({"upload": {"transfers": 1}})] {
            let text = answer.to_string();
            let (result, count) = asked(&[UP, DOWN], &[Ok(&text)], 2 * ASK_EVERY);
            assert!(result == answer && count <= 2, "{count}");
        }
    }

    #[test]
    fn a_server_that_does_not_know_verdicts_is_asked_once() {
        assert_eq!(asked(&[UP], &[Err(())], LONG), (Value::Null, 1));
        assert_eq!(asked(&[UP], &[Ok("<html>")], LONG), (Value::Null, 1));
    }
}
