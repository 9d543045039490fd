//! How far a rank may be ahead of others.

use super::operation::{Case, Manner, Operation};
use super::{Call, run};
use heddle_comm::CommRef;
use heddle_platform::thread::cores;
use heddle_ranks::Ranks;
use std::sync::Barrier;

/// After so many scans the ranks have a blackboard.
const FIRST: usize = 4;
/// More than a rank may be ahead of one that reads what it publishes.
const MANY: usize = 180;

#[test]
fn a_rank_without_a_core_of_its_own_waits_for_its_readers_alone() {
    // More than cores, and at least one between the first and the last.
    let size = cores().max(2) + 1;
    let ahead = Barrier::new(2);
    Ranks::new(size as u32).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let manner = Manner::default();
        let case = Case { operation: Operation::Scan, rank, size, length: 5, root: 0, manner };
        for number in 0..MANY {
            if number == FIRST && rank == size - 1 {
                // Until the first rank is through, which this one does not read.
                ahead.wait();
            }
            let mut data = case.data();
            run(&world, |talk| data.describe(talk)).expect("a scan");
            data.check(&format!("scan {number}"));
        }
        if rank == 0 {
            ahead.wait();
        }
    });
}
