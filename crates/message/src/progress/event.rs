//! The events that a thread waits for.

use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// The kinds of events that threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A word that another process stores.
    Word,
    /// The message that a blocking call receives, or the end of one that it sends.
    Message,
    /// Anything else, such as one of several messages.
    Anything,
}

/// An event that a thread waits for. The thread that causes the event learns from it which thread to wake.
pub trait AwaitedEvent {
    /// Returns true if the event has happened; from then on it stays true.
    fn is_over(&mut self) -> bool;

    /// Says which kind of event it is.
    fn awaited(&self) -> Awaited {
        Awaited::Anything
    }

    /// A watcher for [`watch`](Self::watch).
    fn watcher(&self) -> Watcher {
        Watcher::for_all()
    }

    /// Registers the watcher for a signal when the event happens. Unless the result is [`Watch::Set`], the
    /// caller polls for the event itself. In any case the caller [unwatches](Self::unwatch).
    ///
    /// # Safety
    /// The watcher is not moved until [`unwatch`](Self::unwatch) has taken it out and it has left.
    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch;

    /// Takes the watcher out if it was not signalled.
    fn unwatch(&mut self, watcher: &Watcher);
}

/// A condition that no thread signals: another process stores something, and the waiting thread polls for
/// it. It may be an attempt that succeeds only once: it is not made again.
pub(super) struct Condition<F> {
    attempt: F,
    is_over: bool,
}

impl<F: FnMut() -> bool> Condition<F> {
    #[inline(always)]
    pub(super) fn new(attempt: F) -> Condition<F> {
        Condition { attempt, is_over: false }
    }
}

impl<F: FnMut() -> bool> AwaitedEvent for Condition<F> {
    #[inline(always)]
    fn is_over(&mut self) -> bool {
        self.is_over = self.is_over || (self.attempt)();
        self.is_over
    }

    fn awaited(&self) -> Awaited {
        Awaited::Word
    }

    unsafe fn watch(&mut self, _: &Watcher) -> Watch {
        Watch::Taken
    }

    fn unwatch(&mut self, _: &Watcher) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_succeeds_only_once() {
        let mut attempts = 0;
        let mut condition = Condition::new(|| {
            attempts += 1;
            attempts == 2
        });
        assert!(!condition.is_over());
        assert!(condition.is_over() && condition.is_over());
        assert_eq!(attempts, 2);
    }
}
