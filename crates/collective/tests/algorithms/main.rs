//! Every algorithm of every collective operation, in its three forms, against the operation's definition.
//!
//! The ranks are threads ([`heddle_ranks`]). What an operation is to bring is computed from the definition
//! in the standard (MPI 5.0, chapter 6) for each rank by itself, so no algorithm is compared with another.

mod ahead;
mod blocks;
mod counts;
mod disagreement;
mod long_waits;
mod of_two;
mod operation;
mod parts;

use heddle_collective::{Conversation, barrier, begin, init, run};
use heddle_comm::CommRef;
use heddle_comm::error::Result;
use heddle_model::Setting;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_ranks::Ranks;
use heddle_settings::{Collectives, Variable};
use operation::{Case, Manner, Operation};

/// How often an operation is carried out in each form: the first ones of a communicator go by messages, until
/// it has a blackboard.
const ROUNDS: usize = 3;

/// Numbers per block: more than a message has in one piece, than a page, than a cell of the blackboard, few,
/// none. The first persistent operations of a communicator have lanes on the blackboard.
const LENGTHS: [usize; 5] = [6_000, 700, 5, 1, 0];

/// The settings of these tests: `auto` reaches all its ways with blocks of these lengths.
fn within_reach(collectives: &mut Collectives) {
    const BYTES: usize = 20_000;
    collectives.bcast_scatter_bytes = BYTES;
    collectives.alltoall_batch_bytes = BYTES;
    collectives.reduce_scatter_pairwise_bytes = BYTES;
    collectives.reduce_pieces_bytes = BYTES;
}

/// The setting that names the algorithm of an operation, and all its names.
fn algorithms(variable: &str) -> (&'static Setting<Collectives>, Vec<String>) {
    let is_it = |found: &Variable| found.name() == variable;
    let Some(Variable::Collective(setting)) = Variable::all().find(is_it) else { panic!("no {variable}") };
    (setting, (setting.about.allowed)().split(", ").map(str::to_owned).collect())
}

fn check(operation: Operation, variable: &str) {
    let (setting, algorithms) = algorithms(variable);
    for size in SIZES {
        for algorithm in &algorithms {
            let ranks = Ranks::new(size).with(|settings| {
                within_reach(&mut settings.collectives);
                (setting.set)(&mut settings.collectives, algorithm).expect("one of its names");
            });
            ranks.run(|rank| {
                let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
                let size = size as usize;
                let run = |length, root, manner| {
                    let case = Case { operation, rank, size, length, root, manner };
                    in_three_forms(&world, || case.data(), &format!("{algorithm}, {case:?}"));
                };
                for length in LENGTHS {
                    run(length, 0, Manner::default());
                    run(length, size - 1, Manner::default());
                }
                // A power of two and another number: other sizes would double the time of these tests.
                for manner in manners(operation).filter(|_| (3..=4).contains(&size)) {
                    run(5, size / 2, manner);
                    run(6_000, size / 2, manner);
                }
            });
        }
    }
}

/// The other manners in which an operation can be called.
fn manners(operation: Operation) -> impl Iterator<Item = Manner> {
    let all = [(true, false), (false, true), (true, true)];
    let manners = all.into_iter().map(|(in_place, ordered)| Manner { in_place, ordered });
    manners.filter(move |manner| {
        (operation.can_be_in_place() || !manner.in_place) && (operation.has_operator() || !manner.ordered)
    })
}

/// The buffers of a rank for an operation.
trait Call {
    /// Fills them as before the operation.
    fn refill(&mut self);

    /// Describes the operation to a conversation. The buffers outlive it.
    fn describe(&mut self, talk: &mut Conversation<'_>) -> Result<()>;

    /// Fails unless the rank has got what the operation is to bring, and nothing else was touched.
    fn check(&self, what: &str);
}

fn in_three_forms<C: Call>(world: &CommRef, call: impl Fn() -> C, what: &str) {
    for round in 0..ROUNDS {
        let mut data = call();
        run(world, |talk| data.describe(talk))
            .unwrap_or_else(|error| panic!("run, {what}, round {round}: {error:?}"));
        data.check(&format!("blocking, {what}, round {round}"));

        let mut data = call();
        let mut request = begin(world, |talk| data.describe(talk)).expect("a request");
        finish(&mut request);
        data.check(&format!("nonblocking, {what}, round {round}"));
    }
    let mut data = call();
    let mut request = init(world, |talk| data.describe(talk)).expect("a request");
    for start in 0..ROUNDS {
        data.refill();
        heddle_p2p::start(request).expect("a start");
        finish(&mut request);
        data.check(&format!("persistent, {what}, start {start}"));
    }
    heddle_p2p::free(&mut request).expect("an inactive request");
}

fn finish(request: &mut usize) {
    let outcome = heddle_p2p::wait(request).expect("a request");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
}

/// Sizes around powers of two, and the smallest.
const SIZES: [u32; 5] = [1, 2, 3, 4, 7];

#[test]
fn barriers() {
    let (setting, algorithms) = algorithms("HEDDLE_BARRIER_ALGORITHM");
    for size in SIZES {
        for algorithm in &algorithms {
            let come = AtomicU32::new(0);
            let ranks = Ranks::new(size).with(|settings| {
                (setting.set)(&mut settings.collectives, algorithm).expect("one of its names");
            });
            ranks.run(|_| {
                let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
                for round in 0..10 * ROUNDS as u32 {
                    come.fetch_add(1, Ordering::Relaxed);
                    run(&world, barrier).expect("a barrier");
                    let (least, most) = (size * (round + 1), size * (round + 2) - 1);
                    let come = come.load(Ordering::Relaxed);
                    assert!((least..=most).contains(&come), "{algorithm}: {come} of {least} are there");
                }
            });
        }
    }
}

/// Blocks of more than a slot of the blackboard, which go in parts, in the lane of a persistent operation as
/// in that of all.
#[test]
fn long_blocks() {
    use Operation::{Allgather, Allreduce, Alltoall, Bcast, Gather, Reduce, ReduceScatter, Scan, Scatter};
    for operation in [Bcast, Gather, Scatter, Allgather, Alltoall, Reduce, Allreduce, ReduceScatter, Scan] {
        for size in [2, 3] {
            Ranks::new(size).run(|rank| {
                let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
                let size = size as usize;
                for manner in manners(operation).chain([Manner::default()]) {
                    let case = Case { operation, rank, size, length: 70_000, root: 0, manner };
                    in_three_forms(&world, || case.data(), &format!("{case:?}"));
                }
            });
        }
    }
}

#[test]
fn broadcasts() {
    check(Operation::Bcast, "HEDDLE_BCAST_ALGORITHM");
}

#[test]
fn gathers() {
    check(Operation::Gather, "HEDDLE_GATHER_ALGORITHM");
}

#[test]
fn scatters() {
    check(Operation::Scatter, "HEDDLE_SCATTER_ALGORITHM");
}

#[test]
fn gathers_for_all() {
    check(Operation::Allgather, "HEDDLE_ALLGATHER_ALGORITHM");
}

#[test]
fn exchanges() {
    check(Operation::Alltoall, "HEDDLE_ALLTOALL_ALGORITHM");
}

#[test]
fn reductions() {
    check(Operation::Reduce, "HEDDLE_REDUCE_ALGORITHM");
}

#[test]
fn reductions_for_all() {
    check(Operation::Allreduce, "HEDDLE_ALLREDUCE_ALGORITHM");
}

#[test]
fn scattered_reductions() {
    check(Operation::ReduceScatter, "HEDDLE_REDUCE_SCATTER_ALGORITHM");
}

#[test]
fn prefix_reductions() {
    for operation in [Operation::Scan, Operation::Exscan] {
        check(operation, "HEDDLE_SCAN_ALGORITHM");
    }
}
