//! A figure that has to be reached, and the result of its check.

use serde::{Deserialize, Serialize};

/// Which side of the limit is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// The measured value may not be larger.
    AtMost,
    /// The measured value may not be smaller.
    AtLeast,
}

impl Bound {
    /// The sign before the limit.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "≤",
            Self::AtLeast => "≥",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CheckResult {
    /// The target is met.
    Pass,
    /// It is not.
    Fail,
    /// A figure that it needs is missing.
    NotMeasured,
}

/// A target and its measured value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Target {
    /// The condition.
    pub(crate) what: String,
    /// Heddle's figure.
    pub(crate) measured: Option<f64>,
    /// Which side is good.
    pub(crate) bound: Bound,
    /// The limit in this run.
    pub(crate) limit: Option<f64>,
    /// The origin of the limit.
    pub(crate) basis: String,
    /// Unit of both.
    pub(crate) unit: String,
    /// Met or not.
    pub(crate) verdict: CheckResult,
}

impl Target {
    /// Compares.
    pub(crate) fn new(
        what: String,
        measured: Option<f64>,
        bound: Bound,
        limit: Option<f64>,
        basis: String,
        unit: &str,
    ) -> Self {
        let verdict = match (measured, limit) {
            (Some(value), Some(limit)) => {
                let met = match bound {
                    Bound::AtMost => value <= limit,
                    Bound::AtLeast => value >= limit,
                };
                if met { CheckResult::Pass } else { CheckResult::Fail }
            }
            _ => CheckResult::NotMeasured,
        };
        Self { what, measured, bound, limit, basis, unit: unit.to_owned(), verdict }
    }

    /// The line that tells of a target that was missed.
    pub(crate) fn miss(&self) -> String {
        let (measured, limit) = (shown(self.measured), shown(self.limit));
        format!("missed: {}: {measured} {}, limit {limit}", self.what, self.unit)
    }
}

/// The number of targets with a verdict.
pub(crate) fn count(targets: &[Target], verdict: CheckResult) -> usize {
    targets.iter().filter(|target| target.verdict == verdict).count()
}

/// A figure that may be missing.
pub(crate) fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), number)
}

/// A figure with three significant digits or more.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.2}M", value / 1e6),
        v if v >= 1e4 => format!("{:.1}k", value / 1e3),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<String> = [19_400_000.0, 18_607.0, 0.108, 1.5].into_iter().map(number).collect();
        assert_eq!(shown, ["19.40M", "18.6k", "0.108", "1.50"]);
    }
}
