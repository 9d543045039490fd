//! Two ranks that disagree on how much one gives the other, however differently so much would travel: each
//! gets the errors that it should, and none waits for what never comes.

use heddle_collective::{
    Conversation, Numbers, Part, Parts, alltoall, alltoallv, gather, run, scatter, scatterv,
};
use heddle_comm::CommRef;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_datatype::types;
use heddle_ranks::Ranks;
use heddle_spec::constants::{MPI_ERR_COUNT, MPI_ERR_TRUNCATE};

static INT: TypeInUse = TypeInUse::predefined(&types::MPI_INT);

/// In a round, in two parts, in more of them, in a message.
const LENGTHS: [usize; 4] = [5, 7_000, 100_000, 1_100_000];

fn part(numbers: &mut [i32], length: usize) -> Part<'static> {
    // SAFETY: the test keeps the numbers until the operation is over.
    unsafe { Part::new(numbers.as_mut_ptr().cast(), length as i64, &INT) }.expect("a part")
}

fn parts<'a>(numbers: &mut [i32], counts: &'a [i64; 2], displs: &'a [i64; 2]) -> Parts<'a> {
    let (counts, displs) = (Numbers::Large(counts), Numbers::Large(displs));
    // SAFETY: the test keeps the numbers until the operation is over.
    unsafe { Parts::new(numbers.as_mut_ptr().cast(), counts, displs, &INT) }.expect("parts")
}

/// The numbers of a rank: those that leave, of which each is the rank, and room for those that arrive.
struct Data {
    leaves: Vec<i32>,
    arrives: Vec<i32>,
}

type Describe =
    fn(&mut Conversation<'_>, &mut Data, rank: usize, given: usize, expected: usize) -> Result<()>;

/// For each pair of lengths: the other rank gives so many numbers to a rank that expects another number.
/// `takes` says which rank takes; `None` if both do. `takes_less`: fewer numbers than expected are no error.
fn disagree(takes: Option<usize>, takes_less: bool, describe: Describe) {
    Ranks::new(2).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let most = 2 * LENGTHS[LENGTHS.len() - 1];
        let mut data = Data { leaves: vec![rank as i32; most], arrives: vec![-1; most] };
        let is_taker = takes.is_none_or(|taker| taker == rank);
        let mut operate = |given, expected| {
            data.arrives.fill(-1);
            let error = run(&world, |talk| describe(talk, &mut data, rank, given, expected)).err();
            let code = error.map(|error| error.code());
            let wanted = match given {
                _ if !is_taker || given == expected || given < expected && takes_less => None,
                given if given > expected => Some(MPI_ERR_TRUNCATE),
                _ => Some(MPI_ERR_COUNT),
            };
            assert_eq!(code, wanted, "rank {rank}: {given} given, {expected} expected");
            if is_taker && given <= expected {
                // Behind the rank's own block, if it has one.
                let from = data.arrives.iter().filter(|&&number| number == 1 - rank as i32).count();
                assert_eq!(from, given, "rank {rank}: {given} given, {expected} expected");
            }
        };
        for _ in 0..4 {
            operate(1, 1);
        }
        assert!(world.blackboard.get().is_some(), "they share memory");
        for given in LENGTHS {
            for expected in LENGTHS {
                operate(given, expected);
                // The ranks have counted the same rounds, and no message is left.
                operate(3, 3);
            }
        }
    });
}

#[test]
fn of_a_gather() {
    disagree(Some(0), true, |talk, data, rank, given, expected| {
        let receive = (rank == 0).then(|| part(&mut data.arrives, expected));
        let send = (rank == 1).then(|| part(&mut data.leaves, given));
        gather(talk, send, receive, 0)
    });
}

#[test]
fn of_a_scatter() {
    disagree(Some(1), false, |talk, data, rank, given, expected| {
        let receive = (rank == 1).then(|| part(&mut data.arrives, expected));
        scatter(talk, (rank == 0).then(|| part(&mut data.leaves, given)), receive, 0)
    });
}

#[test]
fn of_a_scatter_with_counts() {
    disagree(Some(1), true, |talk, data, rank, given, expected| {
        let (counts, displs) = ([0, given as i64], [0; 2]);
        let receive = (rank == 1).then(|| part(&mut data.arrives, expected));
        let send = (rank == 0).then(|| parts(&mut data.leaves, &counts, &displs));
        scatterv(talk, send, receive, 0)
    });
}

#[test]
fn of_an_exchange() {
    disagree(None, false, |talk, data, rank, given, expected| {
        let mut counts = [[given as i64; 2], [expected as i64; 2]];
        let displs = [[0; 2], [0, expected as i64]];
        counts[0][rank] = 0;
        counts[1][rank] = 0;
        let send = parts(&mut data.leaves, &counts[0], &displs[0]);
        alltoallv(talk, Some(send), parts(&mut data.arrives, &counts[1], &displs[1]))
    });
}

#[test]
fn they_may_give_each_other_different_lengths() {
    Ranks::new(2).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let most = 2 * LENGTHS[LENGTHS.len() - 1];
        let mut data = Data { leaves: vec![rank as i32; most], arrives: vec![-1; most] };
        let mut operate = |lengths: [usize; 2]| {
            data.arrives.fill(-1);
            let (mut out, mut into) = ([7i64; 2], [7i64; 2]);
            (out[1 - rank], into[1 - rank]) = (lengths[rank] as i64, lengths[1 - rank] as i64);
            let displs = [0, into[0]];
            let send = parts(&mut data.leaves, &out, &[0; 2]);
            let receive = parts(&mut data.arrives, &into, &displs);
            run(&world, |talk| alltoallv(talk, Some(send), receive)).expect("an exchange");
            for of in 0..2 {
                let block = &data.arrives[displs[of] as usize..][..into[of] as usize];
                assert!(block.iter().all(|&number| number == of as i32), "rank {rank}, {lengths:?}");
            }
            assert!(data.arrives[(into[0] + into[1]) as usize..].iter().all(|&number| number == -1));
        };
        for _ in 0..4 {
            operate([1, 1]);
        }
        for one in LENGTHS.into_iter().chain([0]) {
            for other in LENGTHS.into_iter().chain([0]) {
                operate([one, other]);
            }
        }
    });
}

#[test]
fn of_an_exchange_in_place() {
    // Both ranks have blocks of one length, but not of the same.
    Ranks::new(2).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let mut blocks = vec![0; 2 * LENGTHS[LENGTHS.len() - 1]];
        let mut operate = |lengths: [usize; 2]| {
            let (own, others) = (lengths[rank], lengths[1 - rank]);
            blocks.fill(rank as i32);
            let error = run(&world, |talk| alltoall(talk, None, part(&mut blocks, own))).err();
            let wanted = match others {
                _ if own == others => None,
                _ if own < others => Some(MPI_ERR_TRUNCATE),
                _ => Some(MPI_ERR_COUNT),
            };
            assert_eq!(error.map(|error| error.code()), wanted, "rank {rank}, {lengths:?}");
            if own == others {
                let block = &blocks[(1 - rank) * own..][..own];
                assert!(block.iter().all(|&number| number == 1 - rank as i32), "rank {rank}, {lengths:?}");
            }
        };
        for _ in 0..4 {
            operate([1, 1]);
        }
        for one in LENGTHS {
            for other in LENGTHS {
                operate([one, other]);
                operate([3, 3]);
            }
        }
    });
}
