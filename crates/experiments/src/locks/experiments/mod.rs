//! The experiments on every contender, one file each.

mod experiment;
mod fairness;
mod fifo;
mod handover;
mod lines;
mod random;
mod sample;
mod sections;
mod uncontended;

use super::guarded::GuardKind;
use super::team::TeamEffort;

pub(crate) use experiment::LockExperiment;
pub(crate) use fifo::{CAPACITY as FIFO_CAPACITY, Fifo, measure_queue};
pub(crate) use sample::{Metric, Sample};

/// Measures a kind of guarded value; `None` if it cannot take part.
pub(crate) fn measure<K: GuardKind>(
    experiment: LockExperiment,
    threads: usize,
    effort: &TeamEffort,
) -> Option<Sample> {
    if !experiment.takes(threads) || (!K::SHARED && experiment != LockExperiment::Uncontended) {
        return None;
    }
    match experiment {
        LockExperiment::Uncontended => Some(uncontended::measure::<K>(effort)),
        LockExperiment::Empty => sections::empty::<K>(threads, effort),
        LockExperiment::Mixed => sections::mixed::<K>(threads, effort),
        LockExperiment::Lines => lines::measure::<K>(threads, effort),
        LockExperiment::Fairness => fairness::measure::<K>(threads, effort),
        LockExperiment::Handover => handover::measure::<K>(threads, effort),
        LockExperiment::Fifo => fifo::measure::<K>(threads, effort),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LockExperiment, Sample};
    use crate::locks::contender::CONTENDERS;
    use crate::locks::team::TeamEffort;

    /// Every contender in every experiment, in the shortest time: each cell either yields finite figures or
    /// says that it makes no sense.
    #[test]
    fn every_cell_yields_figures() {
        let effort =
            TeamEffort { iterations: 3_000, window: Duration::from_millis(3), limit: Duration::from_secs(5) };
        for contender in CONTENDERS.iter() {
            let mut cells = 0;
            for experiment in LockExperiment::ALL {
                for threads in [1, 2, 5] {
                    let Some(Sample(figures)) = contender.measure(experiment, threads, &effort) else {
                        continue;
                    };
                    assert!(experiment.takes(threads) && !figures.is_empty());
                    assert!(
                        figures.iter().all(|(_, value)| value.is_finite() && *value >= 0.0),
                        "{figures:?}"
                    );
                    cells += 1;
                }
            }
            assert!(cells > 0, "{} was never measured", contender.name);
        }
    }
}
