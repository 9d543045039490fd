//! The lock that changes its number of counters, beside the best fixed number.

use heddle_rma_sim::{Benchmark, Kind, Network, RmaRwParameters, Shares, Turns, Workload};

const PROCESSES: usize = 256;
const TURNS: Turns = Turns(4);

fn parameters(counter_distance: usize) -> RmaRwParameters {
    RmaRwParameters { counter_distance, locality: 50, writers: 20, readers: 0 }
}

/// The throughput in each of the equal parts of a run with these shares of writers.
fn throughput(kind: Kind, writers: &[f64], acquisitions: usize) -> Vec<f64> {
    let benchmark = Benchmark::Empty;
    let workload = Workload {
        benchmark,
        processes: PROCESSES,
        acquisitions,
        shares: Shares::Free,
        writers: writers.to_vec(),
        seed: 1,
    };
    let parts = workload.run_by_shares(kind, &Network::xc30()).expect("processes go on");
    parts.iter().map(|part| part.throughput).collect()
}

/// The T_DC to compare with: from a counter in each node to one for all.
fn fixed() -> Vec<Kind> {
    [16, 32, 64, 128, 256].map(|distance| Kind::RmaRw(parameters(distance))).to_vec()
}

fn adaptive() -> Kind {
    Kind::Adaptive(parameters(16), TURNS)
}

fn is_long() -> bool {
    std::env::var_os("HEDDLE_EXPLORE_LONG").is_some()
}

/// In the second half of a run with one share of writers.
#[test]
fn a_stable_workload_comes_close_to_the_best_fixed_setting() {
    let shares: &[_] = if is_long() {
        &[(0.002, 600_000), (0.02, 600_000), (0.05, 400_000), (0.25, 200_000)]
    } else {
        &[(0.25, 100_000)]
    };
    for &(share, acquisitions) in shares {
        let second_half = |kind| throughput(kind, &[share, share], acquisitions)[1];
        let best = fixed().into_iter().map(second_half).fold(0.0, f64::max);
        let ratio = second_half(adaptive()) / best;
        println!("F_W {share}: {ratio:.3} of the best fixed setting");
        assert!(ratio >= 0.95, "F_W {share}: {ratio}");
    }
}

/// After each change it has time to find the new best: the second of two equal parts counts.
#[test]
fn it_follows_a_change_of_workload() {
    let (few, many) = (0.002, 0.25);
    let acquisitions = if is_long() { 2_000_000 } else { 800_000 };
    let run = |kind| {
        let parts = throughput(kind, &[few, few, many, many], acquisitions);
        [parts[1], parts[3]]
    };
    let fixed: Vec<[f64; 2]> = fixed().into_iter().map(run).collect();
    let adaptive = run(adaptive());
    let best = |part: usize| fixed.iter().map(|parts| parts[part]).fold(0.0, f64::max);
    println!("{adaptive:.0?} beside {fixed:.0?}");
    for (part, rate) in adaptive.iter().enumerate() {
        let ratio = rate / best(part);
        println!("part {part}: {ratio:.3} of the best fixed setting");
        assert!(ratio >= 0.9, "part {part}: {ratio}");
    }
    // No fixed setting is the best for both shares of writers.
    let worst = |parts: &[f64; 2]| (parts[0] / best(0)).min(parts[1] / best(1));
    let worst_of_best = fixed.iter().map(worst).fold(0.0, f64::max);
    println!("the fixed setting that is best for both reaches {worst_of_best:.3}");
    assert!(worst(&adaptive) > worst_of_best);
}
