//! Threads that begin together, share out the iterations and end together.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::clock;
use heddle_sync::CachePadded;

/// The size of one cell's measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamEffort {
    /// Iterations that all threads of a cell share, if the experiment counts iterations.
    pub(crate) iterations: u64,
    /// The length of a cell, if the experiment counts time.
    pub(crate) window: Duration,
    /// A cell that counts iterations ends after this time, done or not, so that a lock that
    /// collapses is measured too.
    pub(crate) limit: Duration,
}

/// When a cell ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// All threads together have made this number of iterations, or the time is over.
    Iterations(u64, Duration),
    /// The time is over.
    Time(Duration),
}

/// Iterations that a thread takes at a time from the common supply: enough to make the taking cost nothing.
const PORTION: u64 = 64;

/// The common supply of iterations.
#[derive(Debug)]
pub(crate) struct Supply {
    left: CachePadded<AtomicU64>,
    stop: CachePadded<AtomicBool>,
}

impl Supply {
    /// One thread's access to it.
    pub(crate) fn turns(&self) -> Turns<'_> {
        Turns { supply: self, mine: 0, done: 0 }
    }

    /// Takes up to a portion.
    fn take(&self) -> u64 {
        // Wraps below zero at most PORTION times a thread; the sign shows it.
        let before = self.left.fetch_sub(PORTION, Ordering::Relaxed).cast_signed();
        before.clamp(0, PORTION.cast_signed()).cast_unsigned()
    }
}

/// One thread's turns: `while turns.next() { … }`.
#[derive(Debug)]
pub(crate) struct Turns<'a> {
    supply: &'a Supply,
    mine: u64,
    done: u64,
}

impl Turns<'_> {
    /// Returns true if the thread goes on.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        if self.mine == 0 {
            self.mine = self.supply.take();
        }
        if self.mine == 0 || self.supply.stop.load(Ordering::Relaxed) {
            return false;
        }
        self.mine -= 1;
        self.done += 1;
        true
    }

    /// The number of turns so far.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }
}

/// The results of the threads.
#[derive(Debug)]
pub(crate) struct TeamOutcome<R> {
    /// Seconds from the common begin to the last thread's end.
    pub(crate) seconds: f64,
    /// The value that each thread returned.
    pub(crate) results: Vec<R>,
}

/// Runs `work(number, turns)` on `threads` threads.
pub(crate) fn run<R: Send>(
    threads: usize,
    until: Until,
    work: impl Fn(usize, &mut Turns<'_>) -> R + Sync,
) -> TeamOutcome<R> {
    let (iterations, limit) = match until {
        Until::Iterations(number, limit) => (number, limit),
        Until::Time(limit) => (u64::MAX >> 1, limit),
    };
    let supply = Supply {
        left: CachePadded::new(AtomicU64::new(iterations)),
        stop: CachePadded::new(AtomicBool::new(false)),
    };
    let begin = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let (done, all_done) = channel::<Span>();
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (supply, begin, work, done) = (&supply, &begin, &work, done.clone());
                scope.spawn(move || {
                    let mut turns = supply.turns();
                    begin.wait();
                    let start = clock::now_ns();
                    let result = work(number, &mut turns);
                    // The receiver waits for all threads; it is gone only if this thread's
                    // result is not needed any more.
                    let _ = done.send(Span { start, end: clock::now_ns() });
                    result
                })
            })
            .collect();
        drop(done);
        begin.wait();
        let span = wait_for_all(&supply, &all_done, limit);
        let results = workers.into_iter().map(|worker| worker.join().expect("a measuring thread")).collect();
        TeamOutcome { seconds: span.end.saturating_sub(span.start).max(1) as f64 / 1e9, results }
    })
}

/// The time in which threads worked, by their clocks: the thread that waits for them may
/// be late on a busy machine.
struct Span {
    start: u64,
    end: u64,
}

/// Waits until every thread is done, telling them to stop when `limit` is over; returns the time they took
/// together.
fn wait_for_all(supply: &Supply, done: &Receiver<Span>, limit: Duration) -> Span {
    let mut all = Span { start: u64::MAX, end: 0 };
    let since = Instant::now();
    let mut stopped = false;
    loop {
        let next = if stopped {
            done.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            done.recv_timeout(limit.saturating_sub(since.elapsed()))
        };
        match next {
            Ok(one) => all = Span { start: all.start.min(one.start), end: all.end.max(one.end) },
            Err(RecvTimeoutError::Timeout) => {
                supply.stop.store(true, Ordering::Relaxed);
                stopped = true;
            }
            Err(RecvTimeoutError::Disconnected) => return all,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Until, run};

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn all_iterations_are_made_once() {
        for (threads, iterations) in [(1, 1), (1, 1000), (3, 1), (3, 63), (7, 10_000)] {
            let outcome = run(threads, Until::Iterations(iterations, LONG), |_, turns| {
                while turns.next() {}
                turns.done()
            });
            assert_eq!(outcome.results.iter().sum::<u64>(), iterations);
            assert_eq!(outcome.results.len(), threads);
            assert!(outcome.seconds > 0.0);
        }
    }

    #[test]
    fn the_time_ends_what_would_not_end() {
        let outcome = run(3, Until::Time(Duration::from_millis(5)), |number, turns| {
            while turns.next() {}
            number
        });
        assert_eq!(outcome.results, [0, 1, 2]);
        assert!(outcome.seconds >= 0.005);
    }
}
