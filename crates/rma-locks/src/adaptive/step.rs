//! The steps from a setting of the adaptive lock to a neighbour: one parameter more, or less.

use super::turn::Felt;

/// A try is better if its mean rate is higher by this factor.
const BETTER: f32 = 1.02;
/// A lower threshold is fairer, so it is better if it leaves this much of the rate. The losses of several
/// halvings add up.
const AS_GOOD: f32 = 0.992;

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    MoreWriters,
    MoreLocality,
    Finer,
    Coarser,
    /// Four times as many counters.
    MuchFiner,
    /// A fourth of them.
    MuchCoarser,
    FewerWriters,
    LessLocality,
}

impl Step {
    /// In the order in which they are tried: first those whose need was seen.
    pub(super) const ALL: [Step; 8] = [
        Step::MoreWriters,
        Step::MoreLocality,
        Step::Finer,
        Step::Coarser,
        Step::MuchFiner,
        Step::MuchCoarser,
        Step::FewerWriters,
        Step::LessLocality,
    ];

    pub(super) fn back(self) -> Step {
        match self {
            Step::MoreWriters => Step::FewerWriters,
            Step::MoreLocality => Step::LessLocality,
            Step::Finer => Step::Coarser,
            Step::Coarser => Step::Finer,
            Step::MuchFiner => Step::MuchCoarser,
            Step::MuchCoarser => Step::MuchFiner,
            Step::FewerWriters => Step::MoreWriters,
            Step::LessLocality => Step::MoreLocality,
        }
    }

    /// The factor by which it has to raise the rate.
    pub(super) fn wanted(self) -> f32 {
        if matches!(self, Step::FewerWriters | Step::LessLocality) { AS_GOOD } else { BETTER }
    }

    /// The shortest step in the same direction.
    pub(super) fn near(self) -> Step {
        match self {
            Step::MuchFiner => Step::Finer,
            Step::MuchCoarser => Step::Coarser,
            step => step,
        }
    }

    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether it would change anything.
    pub(super) fn matters(self, felt: Felt) -> bool {
        match self {
            Step::MoreWriters => felt.writers_cut,
            Step::MoreLocality => felt.locality_cut,
            Step::Finer | Step::Coarser | Step::MuchFiner | Step::MuchCoarser => true,
            Step::FewerWriters => felt.writers_used,
            Step::LessLocality => felt.locality_used,
        }
    }
}
