//! The numbers that a leader gives the context ids that it makes. None is given twice, so there is an end of
//! them. With the leader's world rank, which a context id has too, a number is unique in the job without
//! agreement: a new communicator needs one broadcast, and a reduction before it if hints are given.

use crate::error::{Error, Result};
use crate::mapping::{NUMBERS, UNKNOWN, VniChoice};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;

/// The first free number: 0 is `MPI_COMM_WORLD`'s, 1 is `MPI_COMM_SELF`'s, 2 is that of the communicator for
/// creations without a parent.
const FIRST: u64 = 3;

/// The numbers that are left: this one and all above it.
#[derive(Debug)]
pub(crate) struct Numbers(AtomicU64);

impl Numbers {
    pub(crate) fn new() -> Numbers {
        Numbers(AtomicU64::new(FIRST))
    }

    /// The numbers of a leader that has given away all below `next`.
    #[cfg(test)]
    fn starting_at(next: u64) -> Numbers {
        Numbers(AtomicU64::new(next))
    }

    /// Takes the first number left whose default VNI is the chosen one. A number that does not fit into a
    /// context id is not taken: with its upper bits it would name a context of another leader.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if none is left.
    pub(crate) fn take(&self, choice: VniChoice, vnis: usize) -> Result<u64> {
        let number = |next| Some(choice.number_from(next, vnis)).filter(|number| *number < NUMBERS);
        // Relaxed: the only requirement is that no two calls get the same number.
        let (store, load) = (Ordering::Relaxed, Ordering::Relaxed);
        let taken = self.0.fetch_update(store, load, |next| Some(number(next)? + 1));
        taken.ok().and_then(number).ok_or_else(none_left)
    }
}

/// The context that a leader has announced.
///
/// # Errors
/// `MPI_ERR_OTHER` if the leader has announced [`UNKNOWN`], because no number was left to it.
pub fn known(context: u64) -> Result<u64> {
    if context == UNKNOWN { Err(none_left()) } else { Ok(context) }
}

#[cold]
fn none_left() -> Error {
    let message = format!(
        "no context is left for a new communicator: its rank 0 has led the creation of about {NUMBERS} of them, \
         which is all that a process can lead, freed ones included; keep communicators and use them again, or \
         give the new one another process as its rank 0"
    );
    Error::new(mpi::MPI_ERR_OTHER, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::context_id;

    fn any() -> VniChoice {
        VniChoice::default()
    }

    #[test]
    fn numbers_end_before_they_would_name_contexts_of_another_leader() {
        let numbers = Numbers::starting_at(NUMBERS - 2);
        let made = [(); 2].map(|()| context_id(6, numbers.take(any(), 4).expect("one is left"), any()));
        assert_ne!(made[0], made[1]);
        assert!(made.iter().all(|context| context >> 42 == 6 && known(*context) == Ok(*context)));
        for _ in 0..3 {
            let error = numbers.take(any(), 4).expect_err("the last one is given away");
            assert_eq!(error.code(), mpi::MPI_ERR_OTHER);
            assert!(error.message().contains("no context is left"), "{}", error.message());
            assert_eq!(known(UNKNOWN), Err(error), "the leader and the others report the same");
        }
    }

    #[test]
    fn a_named_vni_that_has_no_number_left_leaves_the_others_theirs() {
        // The last number is on VNI 3 of 4.
        let (numbers, named) =
            (Numbers::starting_at(NUMBERS - 2), |vni| VniChoice::new(Some(vni), false, false));
        assert!(numbers.take(named(1), 4).is_err());
        assert_eq!(numbers.take(named(3), 4), Ok(NUMBERS - 1));
        assert!(numbers.take(named(3), 4).is_err() && numbers.take(any(), 4).is_err());
    }

    #[test]
    fn threads_share_the_last_numbers() {
        let numbers = Numbers::starting_at(NUMBERS - 100);
        let take = || std::iter::from_fn(|| numbers.take(any(), 1).ok()).collect::<Vec<_>>();
        let mut taken: Vec<u64> = std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(take));
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        taken.sort_unstable();
        assert!(taken.into_iter().eq(NUMBERS - 100..NUMBERS));
    }
}
