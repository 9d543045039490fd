//! How a thread waits for another process if more threads than it has cores take turns on them.
//!
//! If each thread yields to the next, then two that wait for each other, in two processes, rarely run at the
//! same time: most turns find nothing, and that lasts, since both cores turn at the same pace. If those that
//! wait sleep, and those that need not wait do not yield, two partners that are awake go on together for a
//! time slice. (An allreduce of 8 B by 16 threads of each of two processes on two cores takes 6 µs instead of
//! 65; a message of 8 B between four threads of each 0.5 instead of 4.5, there and back, one way.)
//!
//! Two partners on one core, though, hold each other up: there a yield is the way, and the kernel may leave
//! them there for long. So a thread that has slept waits with a few yields next, for some waits, while these
//! help. With two threads per core such partners are so frequent that messages would take longer: these
//! threads go on with yields. So does a thread that waits for several messages, which it gets together, long
//! after it has asked (windows of 128 messages by 16 threads would fall from 11.6 to 8.0 million a second).

use super::event::Awaited;
use heddle_sync::{WaitPolicy, Waiter};
use std::cell::Cell;

/// The largest number of threads per core that yield to each other while they wait for that; `None` if any
/// number does.
pub(super) fn most_that_yield(awaited: Awaited) -> Option<u32> {
    match awaited {
        Awaited::Word => Some(1),
        Awaited::Message => Some(2),
        Awaited::Anything => None,
    }
}

/// The number of yields before a thread sleeps that has slept the last time.
const FEW_YIELDS: u32 = 4;

/// The number of waits that yields may end before the thread tries again to do without.
const WAITS_WITH_YIELDS: u32 = 64;

thread_local! {
    /// The number of the thread's next waits that begin with yields.
    static WITH_YIELDS: Cell<u32> = const { Cell::new(0) };
}

/// Returns true if a thread can get ahead of those that it waits for by some hundred such waits only. Then it
/// has to wait for them anyway, and where processes share a core it does not yield before. (If it yields
/// after every 22, each process goes on for a few steps only: broadcasts and scans of 16 processes on two
/// cores take 1.4 to 1.7 times as long.)
pub(super) fn is_bounded(awaited: Awaited) -> bool {
    awaited == Awaited::Word
}

/// One wait of a thread.
#[derive(Debug)]
pub(super) struct Turns {
    with_yields: u32,
    has_slept: bool,
}

impl Turns {
    pub(super) fn of_this_thread() -> Turns {
        Turns { with_yields: WITH_YIELDS.get(), has_slept: false }
    }

    pub(super) fn waiter(&self, policy: &WaitPolicy, crowd: usize) -> Waiter {
        if self.with_yields == 0 {
            return Waiter::new(policy, crowd).sleeping_early();
        }
        let yields = policy.yields.min(FEW_YIELDS);
        Waiter::new(&WaitPolicy { yields, ..*policy }, crowd)
    }

    /// Notes that the thread sleeps.
    pub(super) fn note_sleep(&mut self) {
        self.has_slept = true;
    }

    /// The wait is over.
    pub(super) fn end(self) {
        WITH_YIELDS.set(match (self.with_yields, self.has_slept) {
            (0, true) => WAITS_WITH_YIELDS,
            (_, true) | (0, false) => 0,
            (left, false) => left - 1,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_sync::Next;

    #[test]
    fn it_sleeps_at_once_or_after_a_few_yields() {
        let policy = WaitPolicy { spin_ns: 0, ..WaitPolicy::DEFAULT };
        let yields = |with_yields| {
            let mut waiter = Turns { with_yields, has_slept: false }.waiter(&policy, 1);
            (0..).take_while(|_| waiter.pause() == Next::Poll).count()
        };
        assert_eq!(yields(0), 0);
        // After a yield in which others ran for long it sleeps, too.
        let few = yields(1);
        assert!((1..=FEW_YIELDS as usize).contains(&few), "{few} yields");
    }

    fn wait(sleeps: bool) -> u32 {
        let mut turns = Turns::of_this_thread();
        if sleeps {
            turns.note_sleep();
        }
        turns.end();
        WITH_YIELDS.get()
    }

    #[test]
    fn a_thread_that_has_slept_yields_while_that_helps() {
        std::thread::spawn(|| {
            assert_eq!([false, false].map(wait), [0, 0]);
            assert_eq!(wait(true), WAITS_WITH_YIELDS);
            assert_eq!(wait(true), 0, "yields do not help");
            wait(true);
            assert!((1..WAITS_WITH_YIELDS).all(|_| wait(false) != 0));
            assert_eq!(wait(false), 0, "another trial");
        })
        .join()
        .expect("no panic");
    }
}
