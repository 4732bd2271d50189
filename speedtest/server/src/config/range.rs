// SPDX-License-Identifier: Apache-2.0
//! Allowed numbers, in the file and as flags.

use std::ops::RangeInclusive;

use super::ConfigError;

pub type Range = RangeInclusive<u64>;

pub const LOOPS: Range = 0..=1024;
pub const DRAIN_S: Range = 0..=86_400;
pub const SAMPLE_MS: Range = 10..=10_000;
pub const STEP_S: Range = 1..=3600;
pub const PREFIX_V4: Range = 8..=32;
pub const PREFIX_V6: Range = 16..=128;
pub const WINDOW_S: Range = 1..=86_400;
pub const DURATION_S: Range = 1..=86_400;
pub const QUEUE_WAIT_S: Range = 1..=3600;
pub const KEEP_ADDRESSES_DAYS: Range = 0..=36_500;
pub const TIME_SKEW_S: Range = 1..=86_400;
pub const ANY: Range = 0..=u64::MAX;

/// Read a number of this range from a flag, or explain the range.
pub fn whole<T: TryFrom<u64>>(
    range: Range,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            let allowed = match *most {
                u64::MAX => format!("{least} or more"),
                _ => format!("{least} to {most}"),
            };
            format!("a whole number without suffix is allowed, {allowed}")
        })
    }
}

pub(super) fn check(place: &str, value: u64, range: &Range) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = (range.start(), range.end());
    Err(ConfigError {
        place: place.to_owned(),
        fault: format!("{value} is not allowed; allowed are {least} to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_takes_a_number_of_its_range_and_names_it() {
        assert_eq!(whole::<u32>(TIME_SKEW_S)("86400"), Ok(86_400));
        for text in ["0", "86401", "-1", "10s", "1.5", ""] {
            let fault = whole::<u32>(TIME_SKEW_S)(text).unwrap_err();
            assert_eq!(fault, "a whole number without suffix is allowed, 1 to 86400", "{text}");
        }
        let fault = whole::<u64>(ANY)("1G").unwrap_err();
        assert_eq!(fault, "a whole number without suffix is allowed, 0 or more");
    }
}
