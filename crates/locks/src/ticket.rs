//! The ticket lock: strictly first come, first served, in two counters.
//!
//! **Idea.** A thread draws the next number from one counter and waits until the other, which every release
//! raises by one, shows it. The number also tells how many threads are before it: far from its turn a waiter
//! polls seldom, and leaves its core to others. **Source:** D. P. Reed, R. K. Kanodia: *Synchronization with
//! eventcounts and sequencers*, CACM 22(2), 1979, doi:10.1145/359060.359076; proportional backoff in J. M.
//! Mellor-Crummey, M. L. Scott, ACM TOCS 9(1), 1991, doi:10.1145/103727.103729, algorithm 2; *Ticket* in Amer
//! et al., *Lock contention management in multithreaded MPI*, ACM TOPC 2019, section 2.3, where it guards the
//! filter of the two-level lock.
//!
//! | | |
//! |---|---|
//! | uncontended | one fetch-and-add to enter, a plain store to leave: one locked instruction |
//! | contended | the line of `serving` goes to every waiter that polls it: cost grows with the waiters |
//! | space | two words and [`Doorbells`]; no nodes |
//! | fairness | strict: the order of the numbers |
//! | needs | fewer than 2^32 threads at once |
//! | choose it | for few contenders, such as the two classes of the two-level lock |
//!
//! **Two forms.** [`Ticket`] is this queue behind a word that the running thread may take again for 50
//! µs before the next in the queue gets it ([`Fissile`]); this is the form to use. [`StrictTicket`], or
//! [`Ticket`] with [`WaitPolicy::STRICT`], always keeps the order; what this page says of order and
//! cost is about that form.
//!
//! **More threads than cores.** As with every strict order, each hand-over goes to a thread that probably is
//! not running. A thread that is not next yields at once instead of spinning, and each waiter sleeps on the
//! [doorbell](Doorbells) of its number, so a release wakes one. The default form avoids the switches.
//!
//! **When a thread does not run.** A stopped holder blocks all threads, a stopped waiter those behind it once
//! its turn has come. A number cannot be given back, so a wait with a deadline ([`TimedLock`]) does not draw
//! one: it checks, ever more seldom, whether the lock is free, and takes it only if no thread waits. It is
//! outside of the order, and can be overtaken.
//!
//! **Measured** (like [`Mcs`](crate::mcs)): alone 2.2 ns; two threads 131 million a second, 16 threads
//! 103, 64 threads 83; shares 0.65 and 0.60. In strict order: alone 2.1 ns; two threads 13, 16 threads 0.1,
//! 64 threads 0.04.
//!
//! **Invariants.**
//!
//! 1. `serving <= next` (modulo 2^32): the difference is the number of waiters and holders. The lock is
//!    free when they are equal.
//! 2. *Exclusion*: every number is drawn once, and only the thread that drew it is inside while `serving`
//!    shows it; only the holder raises `serving`.
//! 3. *No lost wake-up*: the store to `serving` is followed by a ring for the number it shows
//!    ([`Doorbell`](heddle_sync::Doorbell), invariant 2).
//!
//! **Orderings.** The store to `serving` (Release) pairs with the waiter's load (Acquire); `next` carries
//! nothing.

use crate::doorbells::Doorbells;
use crate::fissile::Fissile;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, RawLock, TimedLock, WaitPolicy};

/// The number of spin hints between two polls for each waiter before this one: about a hand-over.
const HINTS_A_PLACE: u32 = 4;

/// The lock; see the [module](self).
#[derive(Debug)]
pub struct StrictTicket<P: Platform = Native> {
    /// The number that the next arrival draws.
    next: CachePadded<P::AtomicU32>,
    /// The number that is inside, or may enter.
    serving: CachePadded<P::AtomicU32>,
    doorbells: Doorbells<P>,
    policy: WaitPolicy,
}

/// [`StrictTicket`] behind a word that a running thread may take again for a while: see [`Fissile`].
///
/// ```
/// use heddle_locks::Ticket;
/// use heddle_sync::{Lock, WaitPolicy};
///
/// let list = Lock::new(Ticket::new(WaitPolicy::DEFAULT), vec![1]);
/// list.acquire().push(2);
/// assert_eq!(*list.acquire(), [1, 2]);
/// ```
pub type Ticket<P = Native> = Fissile<StrictTicket<P>>;

impl<P: Platform> Default for StrictTicket<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> StrictTicket<P> {
    /// A free lock whose waiters wait by `policy`.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self {
            next: CachePadded::new(AtomicInteger::new(0)),
            serving: CachePadded::new(AtomicInteger::new(0)),
            doorbells: Doorbells::default(),
            policy,
        }
    }

    /// A free lock that has been acquired and released `numbers` times.
    #[cfg(all(test, not(loom)))]
    fn starting_at(numbers: u32) -> Self {
        let lock = Self::default();
        lock.next.store(numbers, Ordering::Relaxed);
        lock.serving.store(numbers, Ordering::Relaxed);
        lock
    }

    /// The number of threads before `number`.
    #[inline(always)]
    fn before(&self, number: u32) -> u32 {
        // Acquire: pairs with the Release in release().
        number.wrapping_sub(self.serving.load(Ordering::Acquire))
    }

    #[cold]
    fn wait_turn(&self, number: u32, mut before: u32) {
        let mut waiter = Waiter::<P>::new(&self.policy, before as usize);
        let _ = self.doorbells.wait(number as usize, &mut waiter, None, || {
            for _ in 0..(before.min(16) - 1) * HINTS_A_PLACE {
                P::spin_hint();
            }
            before = self.before(number);
            before == 0
        });
    }
}

impl<P: Platform> Default for Ticket<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Ticket<P> {
    /// A free lock whose waiters wait by `policy`, which also says how strict their order is.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self::over(StrictTicket::new(policy.apart()), policy)
    }
}

// SAFETY: exclusion by invariant 2, order by the Release and Acquire on `serving`, liveness by invariant 3.
unsafe impl<P: Platform> RawLock for StrictTicket<P> {
    type Platform = P;
    const TRY_IS_EXACT: bool = true;
    type Token = ();

    #[inline]
    fn acquire(&self) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let before = self.before(number);
        if before != 0 {
            self.wait_turn(number, before);
        }
    }

    #[inline]
    fn try_acquire(&self) -> Option<()> {
        // Acquire: pairs with the Release in release().
        let serving = self.serving.load(Ordering::Acquire);
        // Succeeds only if nobody holds the lock: `next` never falls back, so equal to `serving` it says that
        // this number is not drawn (invariant 1), and `serving` cannot have moved past a number that was not
        // drawn.
        let drawn = self.next.compare_exchange(
            serving,
            serving.wrapping_add(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        drawn.is_ok().then_some(())
    }

    #[inline]
    unsafe fn release(&self, (): ()) {
        // Only the holder writes it.
        let following = self.serving.load(Ordering::Relaxed).wrapping_add(1);
        // Release: pairs with the Acquire in before() and try_acquire().
        self.serving.store(following, Ordering::Release);
        self.doorbells.ring(following as usize);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        let holder = self.serving.load(Ordering::Relaxed);
        let waiters = self.next.load(Ordering::Relaxed).wrapping_sub(holder);
        // As a signed number: for a thread other than the holder, `serving` may have passed
        // the value read from `next`.
        waiters.cast_signed() > 1
    }
}

// SAFETY: a thread that gives up has drawn no number.
unsafe impl<P: Platform> TimedLock for StrictTicket<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<()> {
        // No release knows of this waiter, so it cannot sleep.
        let mut waiter = Waiter::<P>::backing_off(&WaitPolicy { park: false, ..self.policy }, 1);
        loop {
            if self.try_acquire().is_some() {
                return Some(());
            }
            if P::now_ns() >= deadline_ns || waiter.pause() == Next::Park {
                return None;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::atomic::AtomicU32;
    use std::sync::Mutex;

    /// One test, so that a wrong number ends it before threads wait for that number.
    #[test]
    fn counts_on_where_the_numbers_wrap() {
        for numbers in [u32::MAX - 2, u32::MAX - 1, u32::MAX, 0] {
            a_lone_thread_enters_again_and_again(numbers);
            three_threads_enter_in_order(numbers);
        }
        three_threads_exclude_each_other(u32::MAX - 1);
    }

    fn a_lone_thread_enters_again_and_again(numbers: u32) {
        let lock = StrictTicket::<Native>::starting_at(numbers);
        for ahead in 0..4 {
            assert_eq!(lock.before(numbers.wrapping_add(ahead)), ahead, "{numbers}");
        }
        for _ in 0..4 {
            lock.try_acquire().expect("it is free");
            assert!(lock.try_acquire().is_none() && !lock.has_waiters(), "{numbers}");
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
        }
    }

    fn three_threads_enter_in_order(numbers: u32) {
        let lock = StrictTicket::<Native>::starting_at(numbers);
        let entered = Mutex::new(Vec::new());
        let enter = |thread: u32| entered.lock().expect("no thread panics inside").push(thread);
        lock.acquire();
        let others_wait = std::thread::scope(|scope| {
            for thread in 1..=2 {
                let (lock, enter) = (&lock, &enter);
                scope.spawn(move || {
                    lock.acquire();
                    enter(thread);
                    // SAFETY: acquired above.
                    unsafe { lock.release(()) };
                });
                // The next thread draws its number after this one.
                while lock.next.load(Ordering::Relaxed).wrapping_sub(numbers) <= thread {
                    std::thread::yield_now();
                }
            }
            let others_wait = lock.has_waiters() && lock.try_acquire().is_none();
            enter(0);
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
            others_wait
        });
        assert!(others_wait, "{numbers}");
        assert_eq!(entered.into_inner().expect("no thread panicked inside"), [0, 1, 2], "{numbers}");
    }

    fn three_threads_exclude_each_other(numbers: u32) {
        const EACH: u32 = 1000;
        let lock = StrictTicket::<Native>::starting_at(numbers);
        let (inside, met) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        lock.acquire();
                        met.fetch_add(inside.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                        inside.fetch_sub(1, Ordering::Relaxed);
                        // SAFETY: acquired above.
                        unsafe { lock.release(()) };
                    }
                });
            }
        });
        assert_eq!(met.into_inner(), 0, "threads that found another one inside");
        assert_eq!(lock.serving.load(Ordering::Relaxed), numbers.wrapping_add(3 * EACH));
    }
}
