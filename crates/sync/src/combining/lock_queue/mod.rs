//! LockQ: a lock, and beside it a queue of operations for whoever holds it.
//!
//! **What it gives.** A caller tries the lock. If it is free, the caller runs its operation itself, at the cost of the
//! lock and three loads. If it is not, the caller posts the operation for the holder to run: and leaves
//! ([`post`](Combining::post)), or waits for the result ([`run`](Combining::run)). A holder runs what others left
//! posted before its own operation, so order is kept, and looks once more after its release, so nothing is forgotten.
//! Those who wait let the holder come again, as with a mutex, and call when they have waited for long: then it runs
//! everything that is posted and stands back. The lock may be of any kind.
//!
//! **Source.** "LockQ" in A. Amer et al., *Software combining to mitigate multithreaded MPI contention*, ICS 2019. The
//! slides leave the race between a post and the holder's last look to MPI's completion calls. Here it is closed, since
//! an operation that nobody completes must leave as well; and the lock is handed on where they leave it to chance.
//! There every holder runs what is posted; here, while all posters wait for their results, only one who is called or has
//! waited itself: operations that are handed over one by one are some ten times as slow as those of a holder that comes
//! again.
//!
//! ```text
//!   run --try--> free:  called, or posts left? drain --empty--> own operation --> leave
//!        |                                        \--threshold--> own operation posted behind --> leave
//!        +-----> held:  posted --> wait for a verdict; now and then, and before a sleep, try: drain; call once
//!   post, held:         posted --> try once more --> held: go away
//!
//!   leave:  threshold reached and somebody is to go on? hand it to him, release
//!           otherwise release; called, or anything posted? try; got it: drain, leave again
//! ```
//!
//! **Modes.** To see, after its release, a post that was left a holder needs a full fence between the two, which would
//! cost as much as the lock. So it pays only while posts are left:
//!
//! | bit of `mode` | a holder | set by | taken away by |
//! |---|---|---|---|
//! | none | looks at `mode` on entry and after its release | | |
//! | `BUSY` | drains on entry; after its release full fence, looks for posts | a poster that leaves, which then passes `heavy` | a holder who found none for long, before a second look |
//! | `RELIEF` | the same; posters wait, so that one can be told to lead | a holder who is not relieved | the holder who was, or found the queue empty |
//! | `CALLED` | drains on entry or after its release, then stands back | a waiter, once, when its patience ends or before it sleeps; a holder that leaves something behind | whoever drains, before it takes what is posted |
//!
//! How long is "for long" doubles with every return to `BUSY`, as for a bias.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: `guarded` is accessed only under the lock.
//! 2. *Order*: operations are posted in one order ([`chain`](crate::queue)) and run in that order; a holder runs one
//!    that was not posted only when it has found the queue empty, or no mode set, and then only operations are posted
//!    whose owners wait. A thread's earlier operations are then run.
//! 3. *Nothing is forgotten*: while something is posted, somebody is *responsible*: a thread that holds the lock or is
//!    in an acquisition that will succeed; a releaser before its look; a poster before its second try; a waiting owner
//!    that is awake; or one that has been told to lead. Because each hands the responsibility to the next:
//!    - a holder either finds the queue empty, or hands over (to a thread that waits for the lock, or by `Lead`), or
//!      tries the lock again after its release, where a failure means that there is a holder.
//!    - a poster whose second try fails leaves it to the holder it failed for, whose release comes later than that
//!      try. Both have a full fence between their store and their look (post, fence, try; release, fence, look), or,
//!      if the holder read `QUIET`, a `light` against the poster's `heavy`, or, if a holder makes it `QUIET`
//!      meanwhile, its fence and second look at the queue against the poster's fence and look at `mode`.
//!    - a waiter that goes to sleep has called, and tries once more after `heavy`, against the `light` of a release
//!      and the look at `mode` after it. What a holder leaves in `pending` it calls for itself.
//! 4. *Nobody combines for ever*: after `threshold` operations a holder hands the role on if anybody waits; if nobody
//!    does, after the second time the mode is `RELIEF` and whoever posts next waits.
//! 5. *The queue stays short*: who finds [`MOST_POSTED`] operations waits for its own instead of leaving.
//!
//! **What it asks of the lock**, besides [`RawLock`]: from inside an operation `try_acquire` fails, which lets
//! operations post others. If the lock says that its tries [are exact](RawLock::TRY_IS_EXACT), a failing try means that
//! there is a holder. If not, holders keep a word (`inside`) up, and a poster whose try fails while nobody is inside
//! waits for the lock: seldom, and never from inside an operation.
//!
//! **Cost.** Uncontended: the lock and three loads of lines that nobody writes. Contended: a thread that comes again
//! pays the same; a post is a node from the thread's cache, a compare-and-swap, a fence and a look at the lock; a wait
//! allocates nothing, and disturbs the holder with a dozen looks at most before it calls. **Fairness**: posted
//! operations are first come, first served; threads that find the lock free overtake those who wait, until one of these
//! has waited for `forced_yield_ns` and calls: then all are served at once, and the lock is not the former holder's
//! again before a spin and a yield. **Choose it** when callers need not wait for all of their operations, or when the
//! lock is mostly free.
//!
//! **More threads than cores.** Waiters spin about a cache-line round trip, yield, now and then try the lock, and sleep.
//! The lock is never given to a thread that does not run, except by a lock that does so itself.
//!
//! **Liveness.** A waiter or poster that does not run for 50 ms delays nobody, wherever it stops, unless it has been
//! told to lead; then those who are awake take the lock when they try it. The holder delays everything that is run, but
//! not `post`, up to [`MOST_POSTED`].
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, FIFO queue, millions of operations a second): over
//! [`Mutex`](crate::Mutex) alone 2.5 ns (the lock 2.2); 2 threads 238, 16 threads 189, 64 threads 140 (parking_lot 134,
//! 144, 139). Over [`Mcs`](crate::Mcs) alone 5 to 6 ns (the lock 4.4); 134, 114, 76 (the same queue under `Mcs`
//! 11, 0.3, 0.4). Short sections with 16 and 64 threads: longest wait 0.1 and 0.2 ms (parking_lot 0.4 and 2.7).

mod drain;
mod held;
mod mode;
mod waiting;

use super::Combining;
use super::posted::{Posted, run_unattended};
use super::request::Request;
use crate::RawLock;
use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::queue::chain::Chain;
use crate::wait::WaitPolicy;
use drain::{Drained, Guarded};
use heddle_platform::Platform;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use held::Held;
use mode::Mode;
use std::fmt;

/// How many posted operations a holder runs before it hands the lock on, if nobody says otherwise.
pub const DEFAULT_THRESHOLD: u32 = 64;

/// How many operations may be posted before posters wait.
pub const MOST_POSTED: usize = 48;
const _: () = assert!(MOST_POSTED < crate::queue::chain::MOST_DEPTH);

type PlatformOf<L> = <L as RawLock>::Platform;
type RequestOf<L, T> = Request<PlatformOf<L>, T>;
type CellOf<L, T> = <PlatformOf<L> as Platform>::Cell<T>;

/// A value under LockQ over the lock `L`; see the [module](self).
pub struct LockQueue<L: RawLock, T: 'static> {
    lock: CachePadded<L>,
    posted: CachePadded<Chain<PlatformOf<L>, RequestOf<L, T>>>,
    section: CachePadded<Section<L, T>>,
    mode: Mode<PlatformOf<L>>,
    threshold: u32,
    policy: WaitPolicy,
}

/// What the holder works with.
struct Section<L: RawLock, T: 'static> {
    /// The thread that holds the lock, or that held it last; with a mark if it is to stand back.
    holder: <PlatformOf<L> as Platform>::AtomicU64,
    /// 1 while somebody holds the lock who will look at the queue after its release; kept up only if a failing try does
    /// not say so.
    inside: <PlatformOf<L> as Platform>::AtomicU32,
    guarded: CellOf<L, Guarded<RequestOf<L, T>, T>>,
}

// SAFETY: the value is accessed under the lock only (invariant 1), so it moves between threads but is never shared;
// posted operations are Send.
unsafe impl<L: RawLock, T: Send + 'static> Sync for LockQueue<L, T> {}
// SAFETY: whoever owns it owns the value and what is posted.
unsafe impl<L: RawLock, T: Send + 'static> Send for LockQueue<L, T> {}

impl<L: RawLock, T: 'static> fmt::Debug for LockQueue<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockQueue").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl<L: RawLock + Default, T: Default + 'static> Default for LockQueue<L, T> {
    fn default() -> Self {
        Self::new(L::default(), T::default(), DEFAULT_THRESHOLD, WaitPolicy::DEFAULT)
    }
}

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Puts `value` under `lock` with a queue. A holder runs at most `threshold` posted operations (at least 1) a turn;
    /// waiters wait by `policy`.
    #[must_use]
    pub fn new(lock: L, value: T, threshold: u32, policy: WaitPolicy) -> Self {
        Self {
            lock: CachePadded::new(lock),
            posted: CachePadded::new(Chain::new()),
            section: CachePadded::new(Section {
                holder: AtomicInteger::new(0),
                inside: AtomicInteger::new(0),
                guarded: MemoryCell::new(Guarded::new(value)),
            }),
            mode: Mode::default(),
            threshold: threshold.max(1),
            policy,
        }
    }

    /// The lock, for what its kind offers besides. Acquiring it keeps the value from others; what is posted
    /// meanwhile waits for the next call.
    pub fn lock(&self) -> &L {
        &self.lock
    }

    /// Whether nobody is at the value and nothing is posted; outdated when it arrives.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.try_hold().is_some_and(|_held| self.posted.is_empty() && self.guarded(|g| g.pending.is_null()))
    }

    /// Gives `use_it` what the lock guards. The caller holds the lock.
    #[inline(always)]
    fn guarded<R>(&self, use_it: impl FnOnce(&mut Guarded<RequestOf<L, T>, T>) -> R) -> R {
        let access = self.section.guarded.access();
        // SAFETY: the caller holds the lock (invariant 1), and nothing that `use_it` runs gets here without it.
        use_it(unsafe { access.deref() })
    }
}

impl<L: RawLock, T: Send + 'static> Combining<T> for LockQueue<L, T> {
    #[inline]
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let Some(token) = self.lock.try_acquire() else { return self.run_posted(operation, false) };
        let mut held = Held::new(self, token);
        if !held.may_stay() {
            return self.run_back(held, operation);
        }
        match self.run_holding(&mut held, operation) {
            Ok(result) => result,
            Err(operation) => self.run_behind(held, operation),
        }
    }

    /// Leaves when the operation has been run or posted. From inside an operation it may be called.
    #[inline]
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        let Some(mut held) = self.try_hold() else { return self.post_only(operation) };
        if held.drain() == Drained::Threshold && !injected(Fault::LockQueueRunsAhead) {
            self.enqueue(Posted::new(operation).request());
            return;
        }
        self.guarded(|guarded| run_unattended(operation, &mut guarded.value));
    }

    #[inline]
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        match self.try_hold() {
            Some(mut held) => self.run_holding(&mut held, operation),
            None => Err(operation),
        }
    }

    /// Waits for the lock instead of posting.
    fn run_here<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let mut operation = operation;
        loop {
            let mut held = self.held(self.lock.acquire());
            match self.run_holding(&mut held, operation) {
                Ok(result) => return result,
                Err(back) => operation = back,
            }
        }
    }
}

impl<L: RawLock, T: 'static> Drop for LockQueue<L, T> {
    /// Runs what is still posted.
    fn drop(&mut self) {
        while self.guarded(|guarded| self.drain_posted(guarded)) == Drained::Threshold {}
    }
}
