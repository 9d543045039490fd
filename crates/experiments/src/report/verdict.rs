//! The verdict of a measurement or a simulation on a statement of a paper.

use serde::Serialize;

/// The verdict on a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The same; a factor to within a factor of 2.
    Agrees,
    /// The same direction, with another factor or not everywhere.
    InPart,
    /// Something else.
    Differs,
    /// This machine has too few cores or levels for the statement.
    NotTestable,
    /// A figure that the statement is about could not be measured.
    NotMeasured,
}

impl Verdict {
    /// All of them, in the order of summaries.
    pub(crate) const ALL: [Self; 5] =
        [Self::Agrees, Self::InPart, Self::Differs, Self::NotTestable, Self::NotMeasured];

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::InPart => "in part",
            Self::Differs => "**differs**",
            Self::NotTestable => "not testable here",
            Self::NotMeasured => "not measured",
        }
    }

    /// Of a statement that is true here or not.
    pub(crate) fn of(agrees: bool) -> Self {
        if agrees { Self::Agrees } else { Self::Differs }
    }

    /// Of a statement about many cases, some of which are otherwise.
    pub(crate) fn of_cases(otherwise: usize, all: usize) -> Self {
        match otherwise {
            0 => Self::Agrees,
            some if 2 * some < all => Self::InPart,
            _ => Self::Differs,
        }
    }

    /// Of a statement of two parts.
    pub(crate) fn of_both(one: bool, other: bool) -> Self {
        match (one, other) {
            (true, true) => Self::Agrees,
            (false, false) => Self::Differs,
            _ => Self::InPart,
        }
    }

    /// Compares a factor; one below 1 is the other direction.
    pub(crate) fn of_factor(value: f64, wanted: f64) -> Self {
        if is_about(value, wanted) {
            Self::Agrees
        } else if value > 1.1 {
            Self::InPart
        } else {
            Self::Differs
        }
    }
}

/// Returns true if a factor is the wanted one to within a factor of 2.
pub(crate) fn is_about(value: f64, wanted: f64) -> bool {
    value >= wanted / 2.0 && value <= wanted * 2.0
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn factors_agree_to_within_a_factor_of_two() {
        assert_eq!(Verdict::of_factor(1.2, 2.0), Verdict::Agrees);
        assert_eq!(Verdict::of_factor(1.2, 10.0), Verdict::InPart);
        assert_eq!(Verdict::of_factor(0.8, 10.0), Verdict::Differs);
    }

    #[test]
    fn half_of_a_statement_is_a_part() {
        assert_eq!(Verdict::of_both(true, true), Verdict::Agrees);
        assert_eq!(Verdict::of_both(false, true), Verdict::InPart);
        assert_eq!(Verdict::of_both(false, false), Verdict::Differs);
    }

    #[test]
    fn a_few_exceptions_leave_agreement_in_part() {
        assert_eq!(Verdict::of_cases(0, 4), Verdict::Agrees);
        assert_eq!(Verdict::of_cases(1, 4), Verdict::InPart);
        assert_eq!(Verdict::of_cases(2, 4), Verdict::Differs);
    }
}
