//! Yields of a thread whose waits all end at once.
//!
//! A thread that waits long yields anyway (`progress.rs`). One that finds what it waits for at every look would keep its
//! core for a whole time slice, and with more threads than cores it does so at the cost of others: of 16 clients
//! of a busy server the slowest, sharing its core, had a fiftieth of the mean. So such a thread yields now and then
//! without need; how often depends on whether that lets anybody run. If not, it soon does so once in a thousand waits only.
//! Beside a thread that computes it runs as long as that one, in between
//! ([`is_yield_dear`](heddle_platform::thread::is_yield_dear)).

use heddle_platform::thread;
use std::cell::Cell;
use std::ptr::without_provenance_mut;

/// Prompt waits between two yields, as long as yields let others run …
const OFTEN: u32 = 22;
/// … and when they do not.
const SELDOM: u32 = 1024;

/// How often a thread yields: seldom, unless that lets others run.
#[derive(Debug)]
pub(super) struct Interval {
    often: u32,
    seldom: u32,
    now: Cell<u32>,
    /// Yields until the kernel is asked, which costs half a yield, how often others ran in place of this thread.
    until_asked: Cell<u32>,
    /// What it said the last time.
    preemptions: Cell<u64>,
}

/// How many yields go by for each question to the kernel.
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

    /// Between two yields.
    #[inline(always)]
    pub(super) fn get(&self) -> u32 {
        self.now.get()
    }

    /// Lets others run, and finds out whether there are any.
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

// Prompt waits until the thread's next yield; null in a thread that has not waited yet. A number, not a pointer.
heddle_platform::thread_slot!(left, "heddle_engine_prompt_waits_slot");

thread_local! {
    static YIELDS: Interval = const { Interval::new(OFTEN, SELDOM) };
}

/// A wait of this thread has ended without a yield. Returns whether it is time for one, which [`yield_now`] does.
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

/// Lets others run, and finds out whether there are any.
#[cold]
pub(super) fn yield_now() {
    YIELDS.with(|yields| {
        if !thread::is_yield_dear() {
            yields.yield_now();
        }
        left::set(without_provenance_mut(yields.get() as usize));
    });
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
