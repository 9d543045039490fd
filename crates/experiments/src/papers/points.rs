//! The numbers of threads that an experiment measures, and how long that takes in the lab.

use super::experiment::{Experiment, Points};
use super::system::Form;
use super::within;
use crate::bench::case::{Case, Effort, MOST_RANKS_IN_LAB, PEERS_IN_LAB};
use crate::harness::machine::Machine;

/// The usual numbers of threads on a real machine.
const USUAL: [u32; 5] = [1, 2, 4, 8, 16];
/// Those in the lab, where a launch takes seconds; the most that have a core each come besides.
const IN_LAB: [u32; 3] = [1, 2, 8];

/// The points of an experiment on a machine: numbers of threads that are `given`, or else the usual ones.
pub(super) fn of(experiment: &Experiment, given: &[u32], machine: &Machine) -> Points {
    let simulated = machine.simulated.is_some();
    let cores = machine.cores as u32;
    let ranks = if simulated { MOST_RANKS_IN_LAB } else { u32::MAX };
    let with = |threads| Points { threads, cores, ranks };
    if !given.is_empty() {
        let mut threads = given.to_vec();
        threads.sort_unstable();
        threads.dedup();
        return with(threads);
    }
    if !simulated {
        return with(USUAL.to_vec());
    }
    let fits = |&n: &u32| {
        let cases = (experiment.cases)(&with(vec![n]));
        (experiment.cores)(n) <= cores && cases.iter().all(|case| case.ranks <= ranks)
    };
    let most = (1..=cores).rev().find(fits).unwrap_or(1);
    // Two threads are what many statements start from, even where not each has a core.
    let mut threads: Vec<u32> = IN_LAB.into_iter().filter(|&n| n <= 2 || n < most).collect();
    threads.extend((most > 2).then_some(most));
    with(threads)
}

/// The launches of an experiment in the lab beside `peers` other libraries, and the seconds that they take,
/// as a guess.
pub(super) fn in_lab(
    experiment: &Experiment,
    points: &Points,
    effort: &Effort,
    peers: usize,
) -> (usize, f64) {
    let processes = experiment.systems.iter().filter(|system| system.form == Form::Processes).count();
    let models = experiment.systems.len() - processes + 1;
    let mut launches = 0;
    let mut seconds = 0.0;
    for case in Case::partition((experiment.cases)(points), true).0 {
        let heddle = if case.multiple { models } else { processes };
        launches += heddle + peers;
        seconds += (heddle as f64 + PEERS_IN_LAB * peers as f64) * case.seconds_in_lab(effort);
    }
    let locks = within::subject(experiment).1.len();
    for &threads in &points.threads {
        launches += locks;
        seconds += locks as f64 * (1.5 + 0.1 * f64::from(threads));
    }
    (launches * effort.rounds as usize, seconds * f64::from(effort.rounds))
}

#[cfg(test)]
mod tests {
    use super::{in_lab, of};
    use crate::bench::case::{Case, IN_LAB, MOST_RANKS_IN_LAB};
    use crate::harness::machine::Machine;
    use crate::papers::all;
    use crate::papers::experiment::{Experiment, Within};

    fn experiment(name: &str) -> &'static Experiment {
        all().find(|experiment| experiment.name() == name).expect("an experiment")
    }

    #[test]
    fn the_lab_has_the_most_threads_that_have_a_core_each() {
        let haswell = Machine::simulated("haswell-88", 2, 44);
        let threads = |name| of(experiment(name), &[], &haswell).threads;
        assert_eq!(threads("contention-fig7"), [1, 2, 8, 44]);
        assert_eq!(threads("contention-fig9"), [1, 2, 8, 22]);
        assert_eq!(threads("combining-ppn"), [1, 2, 8, 88]);
        // With processes in place of threads, of which the lab starts few.
        assert_eq!(threads("granularity-fig5"), [1, 2, 8]);
        let small = Machine::simulated("1x2", 1, 2);
        assert_eq!(of(experiment("contention-fig7"), &[], &small).threads, [1, 2]);
        assert_eq!(of(experiment("contention-fig7"), &[4, 1, 4], &haswell).threads, [1, 4]);
        let many = of(experiment("granularity-fig5"), &[44], &haswell);
        let (kept, left_out) = Case::partition((experiment("granularity-fig5").cases)(&many), true);
        assert!(
            kept.is_empty() && left_out.len() == 2 && left_out[0].1.contains("processes"),
            "{left_out:?}"
        );
    }

    #[test]
    fn no_launch_of_the_lab_has_more_processes_than_it_can_start() {
        let haswell = Machine::simulated("haswell-88", 2, 44);
        for experiment in all().filter(|experiment| !matches!(experiment.within, Within::Simulation(_))) {
            let points = of(experiment, &[], &haswell);
            let cases = (experiment.cases)(&points);
            assert!(cases.iter().all(|case| case.ranks <= MOST_RANKS_IN_LAB), "{}", experiment.name());
            assert!(cases.iter().all(|case| case.not_in_lab().is_none()), "{}", experiment.name());
            let (launches, seconds) = in_lab(experiment, &points, &IN_LAB, 2);
            assert!(launches > 0 && seconds > launches as f64, "{}", experiment.name());
        }
    }
}
