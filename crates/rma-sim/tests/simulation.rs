//! The simulated network: times of single operations, determinism, and waits.

use heddle_rma_locks::Rma;
use heddle_rma_sim::{
    Benchmark, HashTable, LockKind, MICROSECOND, NANOSECOND, RmaRwParameters, Shares, SimulatedNetwork,
    Simulation, Time, Tuned, Workload,
};
use std::cell::RefCell;
use std::rc::Rc;

fn every_kind() -> Vec<LockKind> {
    let parameters = RmaRwParameters { counter_distance: 16, locality: 3, writers: 2, readers: 2 };
    let tuned = Tuned { counter_distance: 16, locality: (1, 6), writers: (1, 4), patience: None };
    vec![
        LockKind::Spin,
        LockKind::DMcs,
        LockKind::RmaMcs { locality: 3 },
        LockKind::SimpleRw,
        LockKind::RmaRw(parameters),
        LockKind::Adaptive(tuned),
        LockKind::QueueRw,
    ]
}

/// The time that process 0 of 32 takes for something.
fn time_of<F: Future<Output = ()>>(something: impl Fn(heddle_rma_sim::SimulatedProcess) -> F) -> Time {
    let something = &something;
    let simulation = Simulation::new(
        SimulatedNetwork::xc30(),
        |_| 1,
        32,
        1,
        |process| async move {
            if process.rank() == 0 {
                something(process).await;
            }
        },
    );
    simulation.run().expect("it ends")
}

#[test]
fn an_operation_alone_takes_the_time_of_its_distance() {
    let network = SimulatedNetwork::xc30();
    let get = |target| time_of(move |process| async move { assert_eq!(process.get(target, 0).await, 0) });
    assert_eq!(get(0), network.distances[0].get);
    assert_eq!(get(1), network.distances[1].get + network.line);
    assert_eq!(get(31), network.distances[2].get + network.interface);
    let swap = time_of(|process| async move { assert_eq!(process.swap(1, 31, 0).await, 0) });
    assert_eq!(swap, network.distances[2].atomic + network.interface_atomic);
    let put = time_of(|process| async move {
        process.put(1, 31, 0).await;
        process.flush(31).await;
    });
    assert_eq!(put, network.distances[2].put + network.interface);
}

#[test]
fn atomics_of_many_processes_pass_one_by_one() {
    let network = SimulatedNetwork::xc30();
    let processes = 512;
    let simulation = Simulation::new(
        network.clone(),
        |_| 1,
        processes,
        1,
        |process| async move {
            if process.rank() >= 16 {
                process.fetch_add(1, 0, 0).await;
            }
        },
    );
    let time = simulation.run().expect("it ends");
    let others = (processes - 16) as Time;
    assert_eq!(time, network.distances[2].atomic + others * network.interface_atomic);
}

/// A process waits for a word of its own node, of another node, and for a while.
#[test]
fn waits_end_when_the_word_changes() {
    let ends = Rc::new(RefCell::new(Vec::new()));
    let simulation = Simulation::new(
        SimulatedNetwork::xc30(),
        |_| 1,
        32,
        1,
        |process| {
            let ends = Rc::clone(&ends);
            async move {
                match process.rank() {
                    0 => {
                        process.compute(50 * MICROSECOND).await;
                        process.put(7, 0, 0).await;
                    }
                    1 | 31 => {
                        assert_eq!(process.wait_until(0, 0, |value| value == 7).await, 7);
                        ends.borrow_mut().push((process.rank(), process.time()));
                    }
                    2 => {
                        assert_eq!(process.wait_a_while(0, 0, |value| value == 7).await, None);
                        ends.borrow_mut().push((2, process.time()));
                    }
                    _ => {}
                }
            }
        },
    );
    simulation.run().expect("it ends");
    let ends = ends.borrow();
    assert_eq!(ends.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [2, 1, 31]);
    assert!(ends[0].1 < 11 * MICROSECOND);
    assert!(ends[1].1 < 50 * MICROSECOND + 300 * NANOSECOND);
    // A round trip passes between two polls, and half of one until the answer is there.
    assert!(ends[2].1 < 54 * MICROSECOND);
}

#[test]
fn a_wait_for_nothing_is_reported() {
    let simulation = Simulation::new(
        SimulatedNetwork::xc30(),
        |_| 1,
        3,
        1,
        |process| async move {
            if process.rank() == 1 {
                process.wait_until(0, 0, |value| value == 1).await;
            }
        },
    );
    assert_eq!(simulation.run().expect_err("process 1 waits").processes, [1]);
}

#[test]
fn every_lock_runs_every_benchmark_and_a_seed_repeats_it() {
    let network = SimulatedNetwork::xc30();
    for kind in every_kind() {
        for benchmark in [
            Benchmark::Empty,
            Benchmark::SingleOperation,
            Benchmark::WorkloadInside,
            Benchmark::WaitAfterRelease,
        ] {
            let of = |seed| {
                let writers = vec![0.2];
                Workload {
                    benchmark,
                    processes: 48,
                    acquisitions: 1000,
                    shares: Shares::Equal,
                    writers,
                    seed,
                }
                .run(kind, &network)
            };
            assert_eq!(of(1), of(1), "{kind:?}");
            assert_ne!(of(1), of(2), "{kind:?}");
        }
    }
}

/// Also with a total that is no multiple of the number of processes.
#[test]
fn a_run_ends_when_the_total_is_reached() {
    for shares in [Shares::Equal, Shares::Free] {
        for kind in every_kind() {
            let (benchmark, writers) = (Benchmark::Empty, vec![0.2, 0.2]);
            let workload =
                Workload { benchmark, processes: 48, acquisitions: 1000, shares, writers, seed: 1 };
            assert!(
                workload.run(kind, &SimulatedNetwork::xc30()).expect("it ends").throughput > 0.0,
                "{kind:?}"
            );
        }
    }
}

#[test]
fn the_hash_table_takes_all_inserts() {
    for kind in [None, Some(LockKind::SimpleRw), Some(LockKind::QueueRw)] {
        let table = HashTable { processes: 33, rounds: 50, writers: 0.5, seed: 3 };
        let (_, inserted) = table.run(kind, &SimulatedNetwork::xc30()).expect("it ends");
        assert!((600..1000).contains(&inserted));
    }
}

/// Ten times the paper's machine still is a matter of seconds.
#[test]
fn a_thousand_processes_and_more() {
    let parameters = RmaRwParameters { counter_distance: 64, locality: 50, writers: 20, readers: 0 };
    let benchmark = Benchmark::Empty;
    let workload = Workload {
        benchmark,
        processes: 4096,
        acquisitions: 50_000,
        shares: Shares::Free,
        writers: vec![0.02],
        seed: 1,
    };
    assert!(
        workload.run(LockKind::RmaRw(parameters), &SimulatedNetwork::xc30()).expect("it ends").throughput
            > 1e6
    );
}
