//! The experiments of Amer et al. (TOPC 2019): locks, and which thread enters next.

mod completion;
mod programs;
mod regimes;
mod rma;
pub(super) mod systems;

use super::experiment::Experiment;

pub(super) use completion::searches;

/// The experiments, in the paper's order.
pub(super) fn experiments() -> impl Iterator<Item = &'static Experiment> {
    regimes::EXPERIMENTS
        .iter()
        .chain(&rma::EXPERIMENTS)
        .chain(&programs::EXPERIMENTS)
        .chain(&completion::EXPERIMENTS)
}
