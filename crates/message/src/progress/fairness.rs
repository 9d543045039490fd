//! Yields of a thread whose waits all end promptly.
//!
//! A thread that waits long yields anyway (`wait.rs`). A thread that finds its message at every
//! poll would keep its core for a whole time slice. With more threads than cores, other threads pay
//! for that: of 16 clients of a busy server, the slowest, which shared the server's core, had a
//! fiftieth of the mean rate. So such a thread yields now and then without need. It yields often
//! while its yields let other threads run, and once in a thousand waits otherwise.
//!
//! A yield to a thread that computes gives away a time slice, and with many of them one of each. Then the
//! thread runs for as long before it yields again. Its own running time counts: beside many threads that
//! spin on a mutex, the thread may get a single time slice in that time. A yield in the first microseconds of
//! it, perhaps with that mutex held, would keep all of them waiting for another round.

use heddle_platform::{clock, thread};
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

    /// Lets other threads run, and finds out whether there are any. Does nothing in a thread that has a debt.
    #[cold]
    pub(super) fn yield_now(&self) {
        if !DEBT.with(Debt::is_paid) {
            return;
        }
        let began = clock::ticks();
        thread::yield_now();
        DEBT.with(|debt| debt.note_yield(clock::ticks_to_ns(clock::ticks().wrapping_sub(began))));
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

/// A yield that takes longer than this has given away a time slice.
const DEAR_NS: u64 = 500_000;

/// The largest debt. A yield takes any time if the process is stopped meanwhile.
const MOST_DEBT_NS: u64 = 100_000_000;

/// The running time that a thread has before its next yield without need: as much as its last one has
/// given away.
#[derive(Debug)]
struct Debt {
    /// The running time of the thread at which the debt is paid; 0 without a debt.
    paid_at: Cell<u64>,
}

impl Debt {
    fn is_paid(&self) -> bool {
        // The first answer costs least.
        if self.paid_at.get() == 0 {
            return true;
        }
        if thread::is_yield_dear() || thread::running_ns() < self.paid_at.get() {
            return false;
        }
        self.paid_at.set(0);
        true
    }

    fn note_yield(&self, took_ns: u64) {
        if took_ns > DEAR_NS {
            self.paid_at.set(thread::running_ns() + took_ns.min(MOST_DEBT_NS));
        }
    }
}

thread_local! {
    static DEBT: Debt = const { Debt { paid_at: Cell::new(0) } };
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
    fn a_debt_is_paid_by_running() {
        let debt = Debt { paid_at: Cell::new(0) };
        debt.note_yield(DEAR_NS);
        assert!(debt.is_paid(), "the machine's own pace");
        let took_ns = 4 * DEAR_NS;
        let begin = thread::running_ns();
        debt.note_yield(took_ns);
        assert!(!debt.is_paid());
        std::thread::sleep(std::time::Duration::from_nanos(took_ns));
        while !debt.is_paid() {}
        assert!(thread::running_ns() - begin >= took_ns, "a sleep pays nothing");
        debt.note_yield(u64::MAX);
        assert!(debt.paid_at.get() <= thread::running_ns() + MOST_DEBT_NS);
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
