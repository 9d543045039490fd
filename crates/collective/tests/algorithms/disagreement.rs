//! Ranks that want more data than the root gives: each of them gets an error, not what others have made up.

use heddle_collective::{Conversation, Part, bcast, begin, run, scatter};
use heddle_comm::CommRef;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_datatype::types;
use heddle_ranks::Ranks;
use heddle_settings::{Algorithm, Collectives};
use heddle_spec::constants::MPI_ERR_COUNT;

static INT: TypeInUse = TypeInUse::predefined(&types::MPI_INT);

const GIVEN: usize = 3;
const WANTED: usize = 5;
const RANKS: u32 = 7;

fn part(numbers: &mut [i32], length: usize) -> Part<'static> {
    // SAFETY: the test keeps the numbers until the operation is over.
    unsafe { Part::new(numbers.as_mut_ptr().cast(), length as i64, &INT) }.expect("a part")
}

/// Carries an operation out in which rank 0 gives less than the others want: by messages and, if the
/// algorithm does so, by shared memory. `root_fails` says whether rank 0 has an error, too.
fn all_fail(
    choose: fn(&mut Collectives),
    root_fails: bool,
    describe: fn(&mut Conversation<'_>, rank: usize, numbers: &mut [i32]) -> Result<()>,
) {
    Ranks::new(RANKS).with(|settings| choose(&mut settings.collectives)).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let mut numbers = vec![rank as i32; RANKS as usize * (GIVEN + WANTED)];
        for round in 0..3 {
            let blocking = run(&world, |talk| describe(talk, rank, &mut numbers)).err();
            let mut request = begin(&world, |talk| describe(talk, rank, &mut numbers)).expect("a request");
            let nonblocking = heddle_p2p::wait(&mut request).expect("a request").error;
            for error in [blocking, nonblocking] {
                let code = error.map(|error| error.code());
                let expected = (rank != 0 || root_fails).then_some(MPI_ERR_COUNT);
                assert_eq!(code, expected, "rank {rank}, round {round}");
            }
        }
    });
}

#[test]
fn a_scatter_of_shorter_blocks_fails_at_all_ranks() {
    let choices: [fn(&mut Collectives); 3] = [
        |all| all.scatter = Algorithm::Binomial,
        |all| all.scatter = Algorithm::Linear,
        |all| all.scatter = Algorithm::Blackboard,
    ];
    for choose in choices {
        all_fail(choose, true, |talk, rank, numbers| {
            let (given, wanted) = numbers.split_at_mut(RANKS as usize * GIVEN);
            scatter(talk, (rank == 0).then(|| part(given, GIVEN)), Some(part(wanted, WANTED)), 0)
        });
    }
}

#[test]
fn a_broadcast_of_less_fails_at_all_others() {
    let choices: [fn(&mut Collectives); 2] =
        [|all| all.bcast = Algorithm::Binomial, |all| all.bcast = Algorithm::Blackboard];
    for choose in choices {
        all_fail(choose, false, |talk, rank, numbers| {
            bcast(talk, part(numbers, if rank == 0 { GIVEN } else { WANTED }), 0)
        });
    }
}
