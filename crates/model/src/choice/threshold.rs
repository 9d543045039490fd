//! The number of freed objects that starts a collection.

use super::kind::{Custom, Values};
use std::fmt;
use std::str::FromStr;

/// The number of freed objects, beyond those that the last collection left, that starts the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectThreshold {
    /// Enough to make a collection worth its work: the number grows with the requests to visit, and with the
    /// objects that the last collection had to keep.
    Adaptive,
    /// A fixed number.
    Number(u32),
}

impl CollectThreshold {
    /// The allowed values, for a sentence.
    pub fn names() -> String {
        format!("adaptive, or a number from 1 to {}", u32::MAX)
    }
}

/// The values of a threshold.
pub(super) const COLLECT_THRESHOLDS: Custom<CollectThreshold> = Custom {
    form: Values::Text,
    allowed: CollectThreshold::names,
    read: |text| text.parse().map_err(|_| format!("{} is wanted", CollectThreshold::names())),
    write: ToString::to_string,
    examples: || vec!["adaptive", "1", "100"],
};

impl fmt::Display for CollectThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectThreshold::Adaptive => f.write_str("adaptive"),
            CollectThreshold::Number(number) => write!(f, "{number}"),
        }
    }
}

/// The error for text that is no threshold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no threshold: {} is wanted", CollectThreshold::names())]
pub struct UnknownThreshold {
    /// The text that was asked for.
    pub text: String,
}

impl FromStr for CollectThreshold {
    type Err = UnknownThreshold;

    fn from_str(text: &str) -> Result<CollectThreshold, UnknownThreshold> {
        match (text, text.parse()) {
            ("adaptive", _) => Ok(CollectThreshold::Adaptive),
            (_, Ok(number @ 1..)) => Ok(CollectThreshold::Number(number)),
            _ => Err(UnknownThreshold { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_they_are_written() {
        for threshold in
            [CollectThreshold::Adaptive, CollectThreshold::Number(1), CollectThreshold::Number(77)]
        {
            assert_eq!(threshold.to_string().parse(), Ok(threshold));
        }
        for wrong in ["", "0", "-1", "often", "4294967296"] {
            let error = wrong.parse::<CollectThreshold>().expect_err("no threshold");
            assert!(error.to_string().contains("adaptive"), "{error}");
        }
    }
}
