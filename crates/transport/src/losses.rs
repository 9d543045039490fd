//! The ranks of other machines that this process has lost.
//!
//! A port that loses a rank either ends the process or notes the loss here: [`Survives`] decides. Each port
//! then takes note in its next poll (`network/port/losing.rs`), and tells its reader by a message of kind
//! [`LOST`]. A rank that was lost stays lost, also if the link to it works again.

use heddle_platform::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kind of the message that says that a rank is lost: its first word is the rank. A port sends it to its
/// own reader, and a process to others that may not know. The kinds of other messages are smaller.
pub const LOST: u8 = 12;

/// Returns true if the process goes on without a lost rank, false if the loss ends the process.
pub type Survives = fn() -> bool;

/// The lost ranks, in the order in which they were lost.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    count: AtomicUsize,
    all: Mutex<Vec<Loss>>,
}

#[derive(Debug)]
struct Loss {
    rank: usize,
    /// The message for a person: rank, host and cause.
    text: String,
    /// True once the process has told others.
    is_told: bool,
}

impl Losses {
    fn all(&self) -> MutexGuard<'_, Vec<Loss>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a rank is lost; does nothing if that is known.
    #[cold]
    pub(crate) fn note(&self, rank: usize, text: String) {
        let mut all = self.all();
        if !all.iter().any(|loss| loss.rank == rank) {
            all.push(Loss { rank, text, is_told: false });
            self.count.store(all.len(), Ordering::Release);
        }
    }

    /// The number of lost ranks.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        // Acquire: pairs with the Release in `note`, though the lock orders all that is read later.
        self.count.load(Ordering::Acquire)
    }

    /// Returns true if a rank is lost. A thread that has published an operation before the call, and is told
    /// that the rank is not lost, leaves the operation to the thread that handles the loss.
    pub(crate) fn contain(&self, rank: usize) -> bool {
        // SeqCst: either this thread sees the loss, or the thread that handles the loss, which has such a
        // fence between the two steps, sees the operation.
        fence(Ordering::SeqCst);
        self.count() != 0 && self.all().iter().any(|loss| loss.rank == rank)
    }

    /// The ranks that were lost after the first `known` ones.
    pub(crate) fn after(&self, known: usize) -> Vec<usize> {
        self.all().iter().skip(known).map(|loss| loss.rank).collect()
    }

    /// The message about the loss of a rank; about the first loss, for `None`.
    pub(crate) fn text(&self, rank: Option<usize>) -> Option<String> {
        let all = self.all();
        all.iter().find(|loss| rank.is_none_or(|rank| loss.rank == rank)).map(|loss| loss.text.clone())
    }

    /// Returns true to the first caller that is to tell other processes of a loss.
    pub(crate) fn is_news(&self, rank: usize) -> bool {
        let mut all = self.all();
        let loss = all.iter_mut().find(|loss| loss.rank == rank);
        loss.is_some_and(|loss| !std::mem::replace(&mut loss.is_told, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_noted_once_and_told_once() {
        let losses = Losses::default();
        assert!(!losses.contain(3) && !losses.is_news(3) && losses.text(None).is_none());
        losses.note(3, "first".to_owned());
        losses.note(5, "second".to_owned());
        losses.note(3, "again".to_owned());
        assert_eq!((losses.count(), losses.after(0), losses.after(1)), (2, vec![3, 5], vec![5]));
        assert_eq!(losses.text(Some(3)).as_deref(), Some("first"));
        assert_eq!(losses.text(None).as_deref(), Some("first"));
        assert!(losses.contain(5) && !losses.contain(4));
        assert!(losses.is_news(5) && !losses.is_news(5));
    }
}
