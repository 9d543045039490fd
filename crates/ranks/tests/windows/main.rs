//! One-sided communication between ranks that are threads ([`heddle_ranks`]): every kind of epoch on every
//! kind of memory, against what the operations leave in memory by their definition (MPI 5.0, chapter 12).

mod peers;

use heddle_comm::group::Group;
use heddle_ranks::Ranks;
use heddle_spec::constants as mpi;
use peers::{KINDS, Played, far, numbers};

const SIZES: [u32; 3] = [1, 2, 4];

/// Numbers of a rank's memory.
const LENGTH: usize = 600;

fn on_every_kind(play: impl Fn(&Played) + Sync) {
    for size in SIZES {
        for kind in KINDS {
            Ranks::new(size).run(|rank| Played::with(kind, rank, size as usize, LENGTH, &play));
        }
    }
}

#[test]
fn what_is_put_between_fences_is_there_after_the_next() {
    on_every_kind(|it| {
        let next = (it.rank + 1) % it.size;
        for (round, length) in [1, 7, LENGTH].into_iter().enumerate() {
            it.win.fence(0).expect("a fence");
            let mut given = numbers(it.rank, round, length);
            heddle_rma::put(&it.win, &peers::buffer(&mut given), &far(next, 0, length)).expect("a put");
            it.win.fence(0).expect("a fence");
            let before = (it.rank + it.size - 1) % it.size;
            assert_eq!(it.memory()[..length], numbers(before, round, length), "{:?}", it.kind);
        }
    });
}

#[test]
fn what_is_got_under_a_lock_is_what_was_there() {
    on_every_kind(|it| {
        it.memory_mut().copy_from_slice(&numbers(it.rank, 3, LENGTH));
        it.meet();
        for target in 0..it.size {
            for kind in [mpi::MPI_LOCK_SHARED, mpi::MPI_LOCK_EXCLUSIVE] {
                let mut got = vec![0; LENGTH - 5];
                it.win.lock(kind, target as i32, 0).expect("a lock");
                heddle_rma::get(&it.win, &peers::buffer(&mut got), &far(target, 5, LENGTH - 5))
                    .expect("a get");
                it.win.unlock(target as i32).expect("an unlock");
                assert_eq!(got, numbers(target, 3, LENGTH)[5..]);
            }
        }
        it.meet();
    });
}

#[test]
fn sums_of_all_ranks_are_exact() {
    const ROUNDS: usize = 30;
    on_every_kind(|it| {
        it.memory_mut().fill(0);
        it.meet();
        it.win.lock_all(0).expect("a lock");
        for _ in 0..ROUNDS {
            for target in 0..it.size {
                let mut one = vec![1_i32; 40];
                let origin = peers::buffer(&mut one);
                heddle_rma::accumulate(
                    &it.win,
                    mpi::MPI_SUM,
                    || Ok((peers::int(), origin)),
                    None,
                    &far(target, 2, 40),
                )
                .expect("an accumulate");
            }
        }
        it.win.window.unlock_all().expect("an unlock");
        it.meet();
        let sum = (ROUNDS * it.size) as i32;
        assert!(it.memory()[2..42].iter().all(|number| *number == sum), "{:?}", it.kind);
        assert_eq!((it.memory()[1], it.memory()[42]), (0, 0));
    });
}

#[test]
fn an_exclusive_lock_excludes() {
    const ROUNDS: usize = 40;
    on_every_kind(|it| {
        it.memory_mut().fill(0);
        it.meet();
        for _ in 0..ROUNDS {
            let mut seen = [0_i32; 1];
            it.win.lock(mpi::MPI_LOCK_EXCLUSIVE, 0, 0).expect("a lock");
            heddle_rma::get(&it.win, &peers::buffer(&mut seen), &far(0, 9, 1)).expect("a get");
            it.win.flush(0).expect("a flush");
            seen[0] += 1;
            heddle_rma::put(&it.win, &peers::buffer(&mut seen), &far(0, 9, 1)).expect("a put");
            it.win.unlock(0).expect("an unlock");
        }
        it.meet();
        if it.rank == 0 {
            assert_eq!(it.memory()[9] as usize, ROUNDS * it.size, "{:?}", it.kind);
        }
    });
}

#[test]
fn targets_wait_for_those_that_they_have_let_in() {
    on_every_kind(|it| {
        let all = Group::all(it.size);
        for round in 0..3 {
            it.win.post(&all, 0).expect("a post");
            it.win.start(&all, 0).expect("a start");
            let mut given = numbers(it.rank, round, 4);
            for target in 0..it.size {
                let to = far(target, 4 * it.rank, 4);
                heddle_rma::put(&it.win, &peers::buffer(&mut given), &to).expect("a put");
            }
            it.win.window.complete().expect("a complete");
            it.win.window.wait_exposure().expect("a wait");
            for from in 0..it.size {
                assert_eq!(it.memory()[4 * from..4 * from + 4], numbers(from, round, 4));
            }
        }
    });
}
