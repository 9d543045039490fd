//! Yields of a thread whose waits all end at once.
//!
//! A thread that waits long yields anyway (`progress.rs`). One that finds what it waits for at every look would keep its
//! core for a whole time slice, and with more threads than cores it does so at the cost of others: of 16 clients
//! of a busy server the slowest, sharing its core, had a fiftieth of the mean. So such a thread yields now and then
//! without need; how often depends on whether that lets anybody run. If not, it soon does so once in a thousand waits only.

use heddle_platform::thread;
use std::cell::Cell;

/// Prompt waits between two yields, as long as yields let others run …
const OFTEN: u32 = 24;
/// … and when they do not.
const SELDOM: u32 = 1024;

#[derive(Debug)]
struct Share {
    /// Prompt waits until the next yield, and from that to the one after it.
    left: Cell<u32>,
    interval: Cell<u32>,
    /// How often others had run in place of this thread when it yielded last.
    preemptions: Cell<u64>,
}

thread_local! {
    static SHARE: Share =
        const { Share { left: Cell::new(OFTEN), interval: Cell::new(OFTEN), preemptions: Cell::new(0) } };
}

/// A wait of this thread has ended without a yield. Returns whether it is time for one, which [`yield_now`] does.
#[inline(always)]
pub(crate) fn is_yield_due() -> bool {
    SHARE.with(|share| {
        let left = share.left.get() - 1;
        share.left.set(left);
        left == 0
    })
}

/// Lets others run, and finds out whether there are any.
#[cold]
pub(crate) fn yield_now() {
    thread::yield_now();
    SHARE.with(|share| {
        let now = thread::preemptions();
        let others_ran = share.preemptions.replace(now) != now;
        let interval = next_interval(share.interval.get(), others_ran);
        share.interval.set(interval);
        share.left.set(interval);
    });
}

fn next_interval(interval: u32, others_ran: bool) -> u32 {
    if others_ran { (interval / 2).max(OFTEN) } else { (interval * 2).min(SELDOM) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_that_help_nobody_become_rare_and_come_back() {
        let alone = (0..10).fold(OFTEN, |interval, _| next_interval(interval, false));
        assert_eq!(alone, SELDOM);
        let crowded = (0..10).fold(alone, |interval, _| next_interval(interval, true));
        assert_eq!(crowded, OFTEN);
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
