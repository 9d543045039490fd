//! LockQ: a lock, and beside it a queue of operations for whoever holds it.
//!
//! **What it gives.** A caller tries the lock. If it is free, the caller runs its operation itself, at the cost of the
//! lock and three loads. If it is not, the caller posts the operation for the holder to run: and leaves
//! ([`post`](Combining::post)), or waits for the result ([`run`](Combining::run)). A holder runs what is posted before
//! its own operation, so order is kept, and looks once more after its release, so nothing is forgotten. The lock may be
//! of any kind.
//!
//! **Source.** "LockQ" in A. Amer et al., *Software combining to mitigate multithreaded MPI contention*, ICS 2019. The
//! slides leave the race between a post and the holder's last look to MPI's completion calls. Here it is closed, since
//! an operation that nobody completes must leave as well; and the lock is handed on where they leave it to chance.
//!
//! ```text
//!   run/post --try--> free:  drain --empty--> own operation --> leave
//!               |               \--threshold--> own operation posted behind --> leave
//!               +---> held:  posted --> try once more --> held: go away, or wait for a verdict
//!
//!   leave:  threshold reached and somebody is to go on? hand it to him, release
//!           otherwise release; anything posted? try; got it: drain, leave again
//! ```
//!
//! **Modes.** To see a post after its release a holder needs a full fence between the two, which would cost as much as
//! the lock. So it pays only while the queue is in use:
//!
//! | `mode` | a holder after its release | a poster | left by |
//! |---|---|---|---|
//! | `QUIET` | one load of `mode` | makes it `BUSY` and passes `heavy` | a poster |
//! | `BUSY` | full fence, looks for posts | leaves | a holder who found none for long, after a second look; a holder who is not relieved |
//! | `RELIEF` | the same | waits for its result, so that it can be told to lead | the holder who was relieved or found the queue empty |
//!
//! How long is "for long" doubles with every return to `BUSY`, as for a bias.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: `guarded` is accessed only under the lock.
//! 2. *Order*: operations are posted in one order ([`chain`](crate::queue)) and run in that order; a holder runs one
//!    that was not posted only when it has found the queue empty. A thread's earlier operations are then run.
//! 3. *Nothing is forgotten*: while something is posted, somebody is *responsible*: a thread that holds the lock or is
//!    in an acquisition that will succeed; a releaser before its look; a poster before its second try; or a waiting
//!    owner that has been told to lead. Because each hands the responsibility to the next:
//!    - a holder either finds the queue empty, or hands over (to a thread that waits for the lock, or by `Lead`), or
//!      tries the lock again after its release, where a failure means that there is a holder.
//!    - a poster whose second try fails leaves it to the holder it failed for, whose release comes later than that
//!      try. Both have a full fence between their store and their look (post, fence, try; release, fence, look), or,
//!      if the holder read `QUIET`, a `light` against the poster's `heavy`, or, if a holder makes it `QUIET`
//!      meanwhile, its fence and second look at the queue against the poster's fence and look at `mode`.
//! 4. *Nobody combines for ever*: after `threshold` operations a holder hands the role on if anybody waits; if nobody
//!    does, after the second time the mode is `RELIEF` and whoever posts next waits.
//! 5. *The queue stays short*: who finds [`MOST_POSTED`] operations waits for its own instead of leaving.
//!
//! **What it asks of the lock**, besides [`RawLock`]: `try_acquire` fails only if another thread is, during the
//! try, between the start of an acquisition (or of a successful try) and the end of its release. And from inside an
//! operation it fails, which lets operations post others.
//!
//! **Cost.** Uncontended: the lock and three loads of lines that nobody writes. Contended: a post is a node from the
//! thread's cache, a compare-and-swap, a fence and a look at the lock; a wait allocates nothing. **Fairness**: posted
//! operations are first come, first served; before that, the lock decides. **Choose it** when callers need not wait for
//! all of their operations, or when the lock is mostly free.
//!
//! **More threads than cores.** Waiters spin about a cache-line round trip, yield, now and then try the lock, and sleep.
//! The lock is never given to a thread that does not run, except by a lock that does so itself.
//!
//! **Liveness.** A waiter or poster that does not run for 50 ms delays nobody, wherever it stops, unless it has been
//! told to lead; then those who are awake take the lock when they try it. The holder delays everything that is run, but
//! not `post`, up to [`MOST_POSTED`].

use super::Combining;
use super::request::{self, Frame, Posted, Request, Verdict};
use crate::RawLock;
use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::queue::chain::Chain;
use crate::wait::WaitPolicy;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_platform::{Platform, Scope};
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};

/// How many posted operations a holder runs before it hands the lock on, if nobody says otherwise.
pub const DEFAULT_THRESHOLD: u32 = 64;

/// How many operations may be posted before posters wait.
pub const MOST_POSTED: usize = 48;
const _: () = assert!(MOST_POSTED < crate::queue::chain::MOST_DEPTH);

/// Nobody posts.
const QUIET: u32 = 0;
/// Operations may be posted at any time.
const BUSY: u32 = 1;
/// As `BUSY`, and the holder wants to be relieved.
const RELIEF: u32 = 2;

/// Acquisitions that find nothing posted, after which the mode first is quiet again. (Small in models, to be reached.)
const FIRST_FRUITLESS: u32 = if cfg!(loom) { 1 } else { 64 };
/// The most that the doubling makes of it.
const MOST_FRUITLESS: u32 = if cfg!(loom) { 2 } else { 1 << 13 };

/// How many polls of a waiter there are to one try of the lock.
const POLLS_A_TRY: u32 = 16;

type PlatformOf<L> = <L as RawLock>::Platform;
type RequestOf<L, T> = Request<PlatformOf<L>, T>;
type CellOf<L, T> = <PlatformOf<L> as Platform>::Cell<T>;

/// A value under LockQ over the lock `L`; see the [module](self).
pub struct LockQueue<L: RawLock, T: 'static> {
    lock: CachePadded<L>,
    posted: CachePadded<Chain<PlatformOf<L>, RequestOf<L, T>>>,
    section: CachePadded<Section<L, T>>,
    mode: <PlatformOf<L> as Platform>::AtomicU32,
    threshold: u32,
    policy: WaitPolicy,
}

/// What the holder works with.
struct Section<L: RawLock, T: 'static> {
    /// The thread that holds the lock, or that held it last.
    holder: <PlatformOf<L> as Platform>::AtomicU64,
    guarded: CellOf<L, Guarded<RequestOf<L, T>, T>>,
}

/// What the lock guards.
struct Guarded<N, T> {
    value: T,
    /// What was taken from `posted`, oldest first.
    pending: *mut N,
    /// How many holders in a row found nothing posted, and how many it takes to be quiet.
    fruitless: u32,
    needed: u32,
    /// How many times in a row the threshold was reached without anybody to hand over to.
    alone: u32,
}

/// How a holder's run through the queue ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drained {
    /// Nothing was posted at its end.
    Empty,
    /// There is more.
    Threshold,
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
        let guarded =
            Guarded { value, pending: ptr::null_mut(), fruitless: 0, needed: FIRST_FRUITLESS, alone: 0 };
        Self {
            lock: CachePadded::new(lock),
            posted: CachePadded::new(Chain::new()),
            section: CachePadded::new(Section {
                holder: AtomicInteger::new(0),
                guarded: MemoryCell::new(guarded),
            }),
            mode: AtomicInteger::new(QUIET),
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

    /// Runs `operation` on the value as the holder, unless it has to be posted behind others'.
    #[inline]
    fn run_holding<R, F: FnOnce(&mut T) -> R>(
        &self,
        held: &mut Held<'_, L, T>,
        operation: F,
    ) -> Result<R, F> {
        if held.drain() == Drained::Threshold && !injected(Fault::LockQueueRunsAhead) {
            return Err(operation);
        }
        Ok(self.guarded(|guarded| operation(&mut guarded.value)))
    }

    #[inline]
    fn try_hold(&self) -> Option<Held<'_, L, T>> {
        self.lock.try_acquire().map(|token| self.held(token))
    }

    #[inline(always)]
    fn held(&self, token: L::Token) -> Held<'_, L, T> {
        let me = L::Platform::thread_id();
        // A store would be dearer: the next acquisition's atomic instruction waits for it.
        if self.section.holder.load(Ordering::Relaxed) != me {
            self.section.holder.store(me, Ordering::Relaxed);
        }
        Held { queue: self, token: ManuallyDrop::new(token), drained: Drained::Empty }
    }

    /// Posts a request.
    #[inline]
    fn enqueue(&self, request: NonNull<RequestOf<L, T>>) {
        // SAFETY: aligned as a frame; the owner keeps it where it is until it was run, and posts it once.
        let outcome = unsafe { self.posted.push(request) };
        debug_assert!(outcome.is_ok(), "this chain is never closed");
    }

    /// Posts a request and makes sure that somebody is responsible for it.
    fn announce(&self, request: NonNull<RequestOf<L, T>>) {
        self.enqueue(request);
        // From here on the request may be gone.
        if !injected(Fault::LockQueuePostsWithoutFence) {
            L::Platform::fence(Ordering::SeqCst);
        }
        // Acquire: pairs with the Release of a holder who took QUIET back.
        if self.mode.load(Ordering::Acquire) == QUIET {
            self.mode.store(BUSY, Ordering::Release);
            if !injected(Fault::LockQueueBusyWithoutHeavy) {
                L::Platform::heavy(Scope::Process);
            }
        }
        if injected(Fault::LockQueueLeavesAtOnce) {
            return;
        }
        if let Some(mut held) = self.try_hold() {
            held.drain();
        }
    }

    /// Waits until `own` has been run, by others or by the caller.
    fn await_result(&self, own: NonNull<RequestOf<L, T>>) {
        // SAFETY: the caller's own frame, which outlives this call.
        let own = unsafe { own.as_ref() };
        let mut polls = 0_u32;
        let mut look = || {
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(POLLS_A_TRY)
                && let Some(mut held) = self.try_hold()
            {
                held.drain();
            }
        };
        while own.await_verdict(&self.policy, &mut look) == Verdict::Lead {
            let mut held = self.held(self.lock.acquire());
            own.wait_again();
            held.drain();
        }
    }

    /// Posts an operation and waits for its result.
    #[inline(never)]
    fn run_posted<R, F: FnOnce(&mut T) -> R>(&self, operation: F) -> R {
        let frame = Frame::<PlatformOf<L>, T, F, R>::new(operation);
        self.announce(frame.request());
        self.await_result(frame.request());
        frame.into_result()
    }

    /// As the holder, posts an operation behind what is posted and waits for its result.
    #[inline(never)]
    fn run_behind<R, F: FnOnce(&mut T) -> R>(&self, held: Held<'_, L, T>, operation: F) -> R {
        let frame = Frame::<PlatformOf<L>, T, _, R>::new(operation);
        self.enqueue(frame.request());
        // The holder is responsible for it until it has handed over.
        drop(held);
        self.await_result(frame.request());
        frame.into_result()
    }

    /// Posts an operation and leaves, unless the queue is long or its holder wants relief.
    #[inline(never)]
    fn post_only<F: FnOnce(&mut T) + Send + 'static>(&self, operation: F) {
        let crowded = self.posted.depth() >= MOST_POSTED || self.mode.load(Ordering::Relaxed) == RELIEF;
        // The holder, inside an operation, would wait for itself. (If it only was the holder, no harm is done.)
        if crowded && self.section.holder.load(Ordering::Relaxed) != L::Platform::thread_id() {
            return self.run_posted(|value| request::run_unattended(operation, value));
        }
        self.announce(Posted::new(operation).request());
    }

    /// After a release in the modes `BUSY` and `RELIEF`, or with the queue not empty; see the module's drawing.
    #[inline(never)]
    fn look_again(&self, mut drained: Drained) {
        loop {
            if !injected(Fault::LockQueueReleasesWithoutFence) {
                // Pairs with the fence in announce() (invariant 3).
                L::Platform::fence(Ordering::SeqCst);
            }
            if drained == Drained::Empty && self.posted.is_empty() {
                return;
            }
            let Some(mut held) = self.try_hold() else { return };
            // Whatever the mode: a poster may have been stopped before it ended the quiet.
            drained = self.guarded(|guarded| self.drain_posted(guarded));
            let handed_over = self.hand_over(drained);
            held.release();
            mem::forget(held);
            if handed_over {
                return;
            }
        }
    }

    /// As the holder, with the threshold reached: whether somebody else will go on after the release.
    #[inline]
    fn hand_over(&self, drained: Drained) -> bool {
        drained == Drained::Threshold
            && (self.lock.has_waiters() || self.tell_heir() || injected(Fault::LockQueueStopsAtThreshold))
    }

    /// As the holder: whether a request waits in `pending`, and tells the first such to lead.
    #[cold]
    fn tell_heir(&self) -> bool {
        self.guarded(|guarded| {
            let mut place = guarded.pending;
            while let Some(request) = NonNull::new(place) {
                // SAFETY: taken and not run, so alive.
                let node = unsafe { request.as_ref() };
                if node.is_attended() {
                    // SAFETY: attended, not run, and only a holder tells. The owner comes through the lock.
                    unsafe { Request::tell(request, Verdict::Lead) };
                    guarded.alone = 0;
                    if self.mode.load(Ordering::Relaxed) == RELIEF {
                        self.mode.store(BUSY, Ordering::Release);
                    }
                    return true;
                }
                place = node.next_taken();
            }
            guarded.alone = guarded.alone.saturating_add(1);
            if guarded.alone > 1 {
                self.mode.store(RELIEF, Ordering::Release);
            }
            false
        })
    }
}

/// The lock held. Its end releases, and sees to it that nothing posted is forgotten.
struct Held<'a, L: RawLock, T: 'static> {
    queue: &'a LockQueue<L, T>,
    token: ManuallyDrop<L::Token>,
    drained: Drained,
}

impl<L: RawLock, T: 'static> Held<'_, L, T> {
    /// Runs what is posted, up to the threshold.
    #[inline]
    fn drain(&mut self) -> Drained {
        let queue = self.queue;
        if queue.mode.load(Ordering::Relaxed) != QUIET {
            self.drained = queue.guarded(|guarded| queue.drain_posted(guarded));
        }
        self.drained
    }

    #[inline(always)]
    fn release(&mut self) {
        // SAFETY: a token is put there by held() and after each successful try; taken once each.
        let token = unsafe { ManuallyDrop::take(&mut self.token) };
        // SAFETY: of this thread's acquisition (Held does not leave the function it was made in).
        unsafe { self.queue.lock.release(token) };
    }

    /// Releases with the threshold reached.
    #[cold]
    fn leave_more(&mut self) {
        let handed_over = self.queue.hand_over(self.drained);
        self.release();
        if !handed_over {
            self.queue.look_again(self.drained);
        }
    }
}

impl<L: RawLock, T: 'static> Drop for Held<'_, L, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.drained == Drained::Threshold {
            return self.leave_more();
        }
        self.release();
        if injected(Fault::LockQueueWithoutSecondLook) {
            return;
        }
        // The model's `light` is a full fence, which would hide that the one in look_again() is needed.
        let no_fence = injected(Fault::LockQueueReleasesWithoutFence)
            && self.queue.mode.load(Ordering::Relaxed) != QUIET;
        if !no_fence && !injected(Fault::LockQueueReleasesWithoutLight) {
            // Pairs with the heavy() in announce() (invariant 3).
            L::Platform::light();
        }
        if self.queue.mode.load(Ordering::Relaxed) != QUIET {
            self.queue.look_again(Drained::Empty);
        }
    }
}

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// As the holder: runs what is posted, up to the threshold.
    #[inline(never)]
    fn drain_posted(&self, guarded: &mut Guarded<RequestOf<L, T>, T>) -> Drained {
        let mut left = self.threshold;
        loop {
            if guarded.pending.is_null() {
                guarded.pending = self.posted.take();
            }
            let Some(request) = NonNull::new(guarded.pending) else {
                if left == self.threshold {
                    self.count_fruitless(guarded);
                } else {
                    guarded.fruitless = 0;
                }
                if self.mode.load(Ordering::Relaxed) == RELIEF {
                    self.mode.store(BUSY, Ordering::Release);
                }
                guarded.alone = 0;
                // A second look: a poster that saw no quiet left its post to this holder (invariant 3).
                if self.posted.is_empty() || injected(Fault::LockQueueQuietWithoutLook) {
                    return Drained::Empty;
                }
                continue;
            };
            if left == 0 {
                return Drained::Threshold;
            }
            left -= 1;
            // SAFETY: taken by this holder or one before it, in order and each once; only a holder tells.
            guarded.pending = unsafe { Request::serve(request, &mut guarded.value) };
        }
    }

    /// As the holder that found nothing: makes the mode quiet when it is time.
    fn count_fruitless(&self, guarded: &mut Guarded<RequestOf<L, T>, T>) {
        // Acquire: pairs with the Release of the poster who made it BUSY; its post is visible then.
        if self.mode.load(Ordering::Acquire) == QUIET {
            return;
        }
        guarded.fruitless += 1;
        if guarded.fruitless < guarded.needed {
            return;
        }
        guarded.fruitless = 0;
        guarded.needed = (guarded.needed * 2).min(MOST_FRUITLESS);
        self.mode.store(QUIET, Ordering::Release);
        L::Platform::fence(Ordering::SeqCst);
        // A poster that missed the store has its post seen here (invariant 3).
        if !self.posted.is_empty() && !injected(Fault::LockQueueQuietWithoutLook) {
            self.mode.store(BUSY, Ordering::Release);
        }
    }
}

impl<L: RawLock, T: Send + 'static> Combining<T> for LockQueue<L, T> {
    #[inline]
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let Some(mut held) = self.try_hold() else { return self.run_posted(operation) };
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
            return self.enqueue(Posted::new(operation).request());
        }
        self.guarded(|guarded| request::run_unattended(operation, &mut guarded.value));
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
        self.guarded(|guarded| while self.drain_posted(guarded) == Drained::Threshold {});
    }
}
