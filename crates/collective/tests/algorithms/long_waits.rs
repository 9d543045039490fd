//! Ranks that let others wait, for far longer than these wait before they compare what they have begun: in a
//! program that keeps the rules no rank has an error.

use super::operation::{Case, Manner, Operation};
use super::{Call, begin, init, run};
use heddle_collective::barrier;
use heddle_comm::CommRef;
use heddle_message::history::COMPARES_AFTER;
use heddle_ranks::Ranks;
use std::thread::sleep;

const OPERATIONS: [Operation; 10] = [
    Operation::Bcast,
    Operation::Gather,
    Operation::Scatter,
    Operation::Allgather,
    Operation::Alltoall,
    Operation::Reduce,
    Operation::Allreduce,
    Operation::ReduceScatter,
    Operation::Scan,
    Operation::Exscan,
];

/// What a rank does for so long that the others have asked each other about it three times.
fn compute() {
    sleep(COMPARES_AFTER * 8);
}

fn check(size: usize, with_blackboard: bool) {
    let ranks = Ranks::new(size as u32).with(|settings| {
        super::within_reach(&mut settings.collectives);
        settings.blackboards = with_blackboard;
    });
    ranks.run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        for (number, operation) in OPERATIONS.into_iter().enumerate() {
            let length = [0, 5, 700, 6_000][number % 4];
            let case = Case { operation, rank, size, length, root: number % size, manner: Manner::default() };
            let is_late = rank == (number + 1) % size;
            let what = format!("{case:?}");
            let mut data = case.data();
            // Two of the forms, one after the other: the late rank holds up all that follows.
            if is_late {
                compute();
            }
            if number % 2 == 0 {
                run(&world, |talk| data.describe(talk)).expect("right arguments");
            } else {
                let mut request = init(&world, |talk| data.describe(talk)).expect("a request");
                heddle_p2p::start(request).expect("a start");
                assert!(heddle_p2p::wait(&mut request).expect("a request").error.is_none(), "{what}");
                heddle_p2p::free(&mut request).expect("an inactive request");
            }
            data.check(&what);
            data.refill();
            let mut request = begin(&world, |talk| data.describe(talk)).expect("a request");
            assert!(heddle_p2p::wait(&mut request).expect("a request").error.is_none(), "{what}");
            data.check(&what);
        }
        run(&world, barrier).expect("a barrier");
    });
}

#[test]
fn of_three_ranks() {
    check(3, true);
}

#[test]
fn of_three_ranks_by_messages() {
    check(3, false);
}

#[test]
fn of_two_ranks() {
    check(2, true);
}

#[test]
fn far_ahead_by_messages() {
    /// More than a rank can compare.
    const MANY: usize = 300;
    let ranks = Ranks::new(4).with(|settings| settings.blackboards = false);
    ranks.run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let manner = Manner::default();
        let case = Case { operation: Operation::Bcast, rank, size: 4, length: 5, root: 0, manner };
        if rank == 3 {
            compute();
        }
        for number in 0..MANY {
            let mut data = case.data();
            run(&world, |talk| data.describe(talk)).expect("a broadcast");
            data.check(&format!("broadcast {number}"));
        }
        run(&world, barrier).expect("a barrier");
    });
}
