//! How long a thread waits for a lock.

use crate::CallStatus;
use heddle_platform::clock;

/// How long a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the lock is the caller's.
    Endless,
    /// Not at all.
    None,
    /// Until the clock shows this time, in nanoseconds.
    Until(u64),
}

impl Patience {
    /// Waits for that time from now on.
    #[must_use]
    pub fn of_ns(timeout_ns: u64) -> Patience {
        Patience::Until(clock::now_ns().saturating_add(timeout_ns))
    }

    /// The answer to a thread that has no more patience.
    #[must_use]
    pub fn given_up<S: CallStatus>(self) -> S {
        if self == Patience::None { S::BUSY } else { S::TIMED_OUT }
    }
}
