//! Yields of a thread whose waits all end promptly.
//!
//! A thread that waits long yields anyway (`wait.rs`). A thread that finds its message at every
//! poll would keep its core for a whole time slice. With more threads than cores, other threads pay
//! for that: of 16 clients of a busy server, the slowest, which shared the server's core, had a
//! fiftieth of the mean rate. So such a thread yields now and then without need. It yields often
//! while its yields let other threads run, and once in a thousand waits otherwise.
//!
//! A yield to a thread that computes gives away a time slice. A thread that has seen one does not yield
//! without need for a while (`heddle_platform::thread`).

use heddle_platform::thread;
use std::cell::Cell;
use std::ptr::without_provenance_mut;

/// The number of prompt waits between two yields, while yields let other threads run …
const OFTEN: u32 = 22;
/// … and while they do not.
const SELDOM: u32 = 1024;

/// The number of waits between two yields: it grows unless yields let other threads run.
#[derive(Debug)]
pub(super) struct Interval {
    often: u32,
    seldom: u32,
    now: Cell<u32>,
    /// The number of yields until the thread asks the kernel how often other threads ran in its place. The
    /// question costs half a yield.
    until_asked: Cell<u32>,
    /// The kernel's last answer.
    preemptions: Cell<u64>,
}

/// The number of yields for each question to the kernel.
const YIELDS_A_QUESTION: u32 = 4;

impl Interval {
    pub(super) const fn new(often: u32, seldom: u32) -> Interval {
        Interval {
            often,
            seldom,
            now: Cell::new(often),
            until_asked: Cell::new(YIELDS_A_QUESTION),
            preemptions: Cell::new(0),
        }
    }

    /// The present number of waits between two yields.
    #[inline(always)]
    pub(super) fn get(&self) -> u32 {
        self.now.get()
    }

    /// Lets other threads run, and finds out whether there are any.
    #[cold]
    pub(super) fn yield_now(&self) {
        thread::yield_now();
        self.until_asked.set(self.until_asked.get() - 1);
        if self.until_asked.get() == 0 {
            self.until_asked.set(YIELDS_A_QUESTION);
            let preemptions = thread::preemptions();
            self.adapt(self.preemptions.replace(preemptions) != preemptions);
        }
    }

    fn adapt(&self, others_ran: bool) {
        let now = self.now.get();
        self.now.set(if others_ran { (now / 2).max(self.often) } else { (now * 2).min(self.seldom) });
    }
}

// The number of prompt waits until the thread's next yield; null in a thread that has not waited yet.
// A number, not a pointer.
heddle_platform::thread_slot!(left, "heddle_message_prompt_waits_slot");

thread_local! {
    static YIELDS: Interval = const { Interval::new(OFTEN, SELDOM) };
}

/// Counts a wait of this thread that has ended without a yield. Returns true if it is time
/// for one, by [`yield_now`].
#[inline(always)]
pub(super) fn is_yield_due() -> bool {
    let waits = left::get().addr();
    if waits > 1 {
        left::set(without_provenance_mut(waits - 1));
        return false;
    }
    waits == 1 || is_first_wait()
}

#[cold]
fn is_first_wait() -> bool {
    left::set(without_provenance_mut(OFTEN as usize));
    false
}

/// Lets other threads run, and finds out whether there are any.
#[cold]
pub(super) fn yield_now() {
    YIELDS.with(|yields| {
        if !thread::is_yield_dear() {
            yields.yield_now();
        }
        left::set(without_provenance_mut(yields.get() as usize));
    });
}

/// Goes on without a yield that is due.
pub(super) fn leave_out_yield() {
    left::set(without_provenance_mut(OFTEN as usize));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_that_help_nobody_become_rare_and_come_back() {
        let yields = Interval::new(OFTEN, SELDOM);
        (0..10).for_each(|_| yields.adapt(false));
        assert_eq!(yields.get(), SELDOM);
        (0..10).for_each(|_| yields.adapt(true));
        assert_eq!(yields.get(), OFTEN);
    }

    #[test]
    fn a_thread_that_never_has_to_wait_yields_in_the_end() {
        for _ in 0..10 {
            let prompt = (1..=SELDOM).find(|_| is_yield_due());
            assert!(prompt.is_some_and(|waits| waits >= OFTEN), "{prompt:?}");
            yield_now();
        }
    }
}
