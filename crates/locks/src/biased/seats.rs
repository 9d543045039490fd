//! The seats of the threads that are, or were, bias owners of a lock.
//!
//! Each seat has a `busy` flag that only its thread writes. A former owner may have been stopped between its
//! first check and its store to the flag; that late store must not hit the flag of a new owner.

/// The number of threads that can have a seat at the same time.
pub(super) const SEATS: usize = 8;

/// The identity of the thread in each seat, 0 for a free seat. The inner lock guards it.
#[derive(Debug)]
pub struct Seats([u64; SEATS]);

impl Seats {
    /// All seats are free.
    pub(super) fn new() -> Self {
        Self([0; SEATS])
    }

    /// The seat of the thread `id`, or a free one that becomes its seat. `None` if
    /// other threads have all seats.
    pub(super) fn take(&mut self, id: u64) -> Option<usize> {
        let seat_of = |id| self.0.iter().position(|seat| *seat == id);
        let seat = seat_of(id).or_else(|| seat_of(0))?;
        self.0[seat] = id;
        Some(seat)
    }

    /// Frees the seat of the thread `id`, if it has one. The thread is not between
    /// its two checks of the bias.
    pub(super) fn give_back(&mut self, id: u64) {
        for seat in self.0.iter_mut().filter(|seat| **seat == id) {
            *seat = 0;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_seat_until_it_gives_it_back() {
        let mut seats = Seats::new();
        assert_eq!(seats.take(16), Some(0));
        assert_eq!(seats.take(32), Some(1));
        assert_eq!(seats.take(16), Some(0));
        seats.give_back(16);
        assert_eq!(seats.take(48), Some(0));
    }

    #[test]
    fn a_thread_gets_no_seat_when_others_have_all() {
        let mut seats = Seats::new();
        for id in 1..=SEATS as u64 {
            assert!(seats.take(id).is_some());
        }
        assert_eq!(seats.take(100), None);
        assert!(seats.take(1).is_some());
    }
}
