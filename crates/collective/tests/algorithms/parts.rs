//! In how many parts data go that one rank has and another waits for: it reads one while the next is
//! published.

use super::operation::{Case, Manner, Operation};
use super::{Call, run};
use heddle_comm::CommRef;
use heddle_ranks::Ranks;

/// After so many operations the ranks have a blackboard.
const FIRST: usize = 4;

#[test]
fn data_for_which_a_rank_waits_go_in_four_parts() {
    for operation in [Operation::Bcast, Operation::Scatter, Operation::Gather, Operation::Reduce] {
        Ranks::new(2).run(|rank| {
            let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
            let operate = |length| {
                let manner = Manner::default();
                let case = Case { operation, rank, size: 2, length, root: 0, manner };
                let mut data = case.data();
                run(&world, |talk| data.describe(talk)).expect("an operation");
                data.check(&format!("{case:?}"));
            };
            for _ in 0..FIRST {
                operate(1);
            }
            let blackboard = world.blackboard.get().expect("they share memory");
            // Bytes, and the rounds that they take.
            for (bytes, rounds) in [(16 << 10, 1), (32 << 10, 2), (64 << 10, 4), (128 << 10, 4), (1 << 20, 8)]
            {
                let before = blackboard.begin(0);
                operate(bytes / size_of::<i32>());
                assert_eq!(blackboard.begin(0), before.after(rounds), "{operation:?} of {bytes} bytes");
            }
        });
    }
}
