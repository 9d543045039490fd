//! The queue lock of Mellor-Crummey and Scott: strictly first come, first served; each thread waits
//! on a separate cache line.
//!
//! **Idea.** A thread that wants the lock swaps its node into `tail` and gets its predecessor, into which it
//! writes the address of its node. Then it polls only its node until the predecessor, in its release, writes
//! there that the lock is granted. So a hand-over disturbs only the next thread, however many wait.
//! **Source:** J. M. Mellor-Crummey, M. L. Scott: *Algorithms for scalable synchronization on shared-memory
//! multiprocessors*, ACM TOCS 9(1), 1991, doi:10.1145/103727.103729, algorithm 5; *MCS* in Amer et al., *Lock
//! contention management in multithreaded MPI*, ACM TOPC 2019, section 2.3. We depart in three points:
//! waiters yield and sleep by their [`WaitPolicy`]; nodes come from [`node`], so the caller brings none; and
//! `holder` tells [`has_waiters`](RawLock::has_waiters) which node is the holder's.
//!
//! | | |
//! |---|---|
//! | uncontended | one swap to enter, one compare-and-swap to leave: two locked instructions, where [`Mutex`](heddle_sync::Mutex) has one |
//! | contended | one swap, two lines moved in a hand-over: the successor's node, and `tail` when the former holder comes back |
//! | space | the lock: two cache lines; a node of two words for each waiter or holder |
//! | fairness | strict: the order of the swaps on `tail` |
//! | needs | nothing |
//! | choose it | when many cores contend; in its strict form when the order matters and threads do not outnumber cores |
//!
//! **Two forms.** [`Mcs`] is this queue behind a word that the running thread may take again for 50 µs before
//! the next in the queue gets it ([`Fissile`]); this is the form to use. [`StrictMcs`], or [`Mcs`] with
//! [`WaitPolicy::STRICT`], always keeps the order; what this page says of order and cost is about that form.
//!
//! **More threads than cores.** A strict order hands the lock to the thread that waited longest, which then
//! usually is not running: an acquisition costs a switch between threads, about a microsecond, or a wake-up.
//! The default form pays that once in a turn of 50 µs, and the threads' turns come in the order of the queue.
//!
//! **When a thread does not run.** A stopped holder blocks all threads, as with every lock. A stopped
//! waiter blocks those behind it as soon as its turn has come, because of the order; in the default form
//! arrivals go past it. A thread that is stopped between its swap and its store to its predecessor blocks
//! the release of that predecessor, and with it the queue. [`AbortableMcs`](crate::AbortableMcs) passes
//! over a waiter whose time is up.
//!
//! ```text
//!   tail ------------------------------------------+
//!   holder ----+                                   v
//!              v            next                 next
//!         [ node A ] -------------> [ node B ] --------> [ node C ]     next = null
//!          inside                    WAITING              WAITING
//! ```
//!
//! **Invariants.**
//!
//! 1. `tail` is null exactly while no thread holds the lock or waits for it; otherwise it is the
//!    node of the last arrival.
//! 2. *Exclusion*: a thread is inside if its swap returned null, or if its node's state became
//!    `GRANTED`. The former happens only when no thread is inside (1); the holder writes the latter
//!    once, and is outside from then on.
//! 3. A node is accessed by its owner, and by its successor once between the successor's swap and its store
//!    to `next`. The owner waits for that store before it gives the node back; it need not wait when the
//!    compare-and-swap on `tail` found the node to be last: then there is no successor and there will be
//!    none. The predecessor writes `GRANTED` before the owner enters, and nothing after.
//! 4. *No lost wake-up*: a sleeper sleeps on the `state` of its node, which it has changed to `PARKED`. The
//!    granter's compare-and-swap to `GRANTED` finds that; it then changes the word, wakes, and stores
//!    `GRANTED` last, and the owner waits for that store: so the node is there while the granter uses it.
//! 5. If the holder sees `tail != holder`, a thread's swap came after the holder's: that thread waits, and
//!    enters after the release.
//!
//! **Orderings.** The release's compare-and-swap on `tail` (Release) pairs with the Acquire of the
//! swap that returns null; the store of `GRANTED` (Release) with the waiter's load (Acquire). The
//! store to `next` is Release and its load Acquire: they let the releaser write to the successor's
//! node, which was initialised before.
//!
//! **Assembly** (x86-64, `Hardware`, in a shared library): entering without a wait is 18 instructions: find
//! the thread's [`node`] cache and take a block (8, with two branches never taken), two stores to the node,
//! `xchg` on `tail`, a branch, the store to `holder`. Leaving is 15: the load of `next`, a branch,
//! `lock cmpxchg`, a branch, and the return of the block. No call, nothing of the platform trait and no
//! branch of the waiting policy is left.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, ten cache lines in the critical section; uncontended
//! nanoseconds, then millions of acquisitions a second; in the last columns the slowest thread's share of
//! the mean over a second):
//!
//! | | alone | 2 threads | 16 threads | 64 threads | share, 16 | share, 64 |
//! |---|---|---|---|---|---|---|
//! | `Mcs` | 2.4 | 98 | 88 | 83 | 0.87 | 0.66 |
//! | `StrictMcs` | 4.5 | 13 | 0.16 | 0.07 | 0.92 | 0.80 |
//! | `Mutex` | 2.3 | 78 | 89 | 86 | 0.84 | 0.77 |
//! | `parking_lot` | 5.1 | 88 | 94 | 82 | 0.82 | 0.88 |

use crate::fissile::Fissile;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Native, Platform, Scope};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, RawLock, WaitPolicy, node};
use std::ptr::{self, NonNull};

/// The predecessor has not released yet.
const WAITING: u32 = 0;
/// The owner of this node has the lock.
const GRANTED: u32 = 1;
/// The same as [`WAITING`], and the owner sleeps on the word, or is about to.
const PARKED: u32 = 2;
/// The granter is waking the owner, which then gets the lock.
const WAKING: u32 = 3;

/// One thread's place in the queue.
#[derive(Debug)]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    state: P::AtomicU32,
}

/// What an acquisition hands to its release.
#[derive(Debug)]
pub struct Token<P: Platform>(NonNull<Node<P>>);

#[derive(Debug)]
struct Ends<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
    /// The holder's node. Only the holder writes it; it is stale while the lock is free.
    holder: P::AtomicPtr<Node<P>>,
    /// True if the last wait was longer than a spin; a hint.
    crowded: P::AtomicU32,
}

/// The lock; see the [module](self).
#[derive(Debug)]
pub struct StrictMcs<P: Platform = Native> {
    ends: CachePadded<Ends<P>>,
    policy: WaitPolicy,
}

/// [`StrictMcs`] behind a word that a running thread may take again for a while: see [`Fissile`].
pub type Mcs<P = Native> = Fissile<StrictMcs<P>>;

impl<P: Platform> Default for StrictMcs<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> StrictMcs<P> {
    /// A free lock whose waiters wait by `policy`.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        let ends = Ends {
            tail: AtomicPointer::new(ptr::null_mut()),
            holder: AtomicPointer::new(ptr::null_mut()),
            crowded: AtomicInteger::new(0),
        };
        Self { ends: CachePadded::new(ends), policy }
    }

    #[inline(always)]
    fn new_node() -> NonNull<Node<P>> {
        node::take::<P, _>(Node {
            next: AtomicPointer::new(ptr::null_mut()),
            state: AtomicInteger::new(WAITING),
        })
    }

    #[inline(always)]
    fn entered(&self, node: NonNull<Node<P>>) -> Token<P> {
        self.ends.holder.store(node.as_ptr(), Ordering::Relaxed);
        Token(node)
    }

    #[cold]
    fn wait_behind(&self, predecessor: NonNull<Node<P>>, node: NonNull<Node<P>>) {
        // SAFETY: the predecessor's owner keeps it until it has seen this store (invariant 3).
        let link = unsafe { &predecessor.as_ref().next };
        // Release: pairs with the Acquire in successor(): the node's initial values come first.
        link.store(node.as_ptr(), Ordering::Release);
        // SAFETY: this thread's own node.
        let state = unsafe { &node.as_ref().state };
        let crowded = self.ends.crowded.load(Ordering::Relaxed);
        let mut waiter = Waiter::<P>::new(&self.policy, crowded as usize + 1);
        // Acquire: pairs with the Release in grant().
        while state.load(Ordering::Acquire) != GRANTED {
            if waiter.pause() == Next::Park {
                Self::sleep(state);
            }
        }
        let is_crowded = u32::from(waiter.has_yielded());
        if crowded != is_crowded {
            self.ends.crowded.store(is_crowded, Ordering::Relaxed);
        }
    }

    /// Sleeps until the lock is granted, or will be in a moment.
    #[cold]
    fn sleep(state: &P::AtomicU32) {
        // Fails if the grant came first, or if the word is `PARKED` already.
        let _ = state.compare_exchange(WAITING, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        while state.load(Ordering::Relaxed) == PARKED {
            P::wait(state, PARKED, None, Scope::Process);
        }
        // The granter is between its two stores.
        while state.load(Ordering::Relaxed) != GRANTED {
            P::yield_now();
        }
    }

    /// Returns the successor, after `tail` has shown that there is one.
    #[cold]
    fn await_successor(&self, node: &Node<P>) -> NonNull<Node<P>> {
        // The link is one store away, by a thread that is past its swap: too short a wait to sleep.
        let mut waiter = Waiter::<P>::new(&WaitPolicy { park: false, ..self.policy }, 1);
        loop {
            if let Some(next) = Self::successor(node) {
                return next;
            }
            waiter.pause();
        }
    }

    #[inline(always)]
    fn successor(node: &Node<P>) -> Option<NonNull<Node<P>>> {
        // Acquire: pairs with the Release in wait_behind().
        NonNull::new(node.next.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn free_if_last(&self, node: NonNull<Node<P>>) -> bool {
        let (tail, free) = (&self.ends.tail, ptr::null_mut());
        // Release: pairs with the Acquire of the swap that finds null.
        tail.compare_exchange(node.as_ptr(), free, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    fn grant(&self, next: NonNull<Node<P>>) {
        // SAFETY: its owner waits for this store (invariant 3).
        let state = unsafe { &next.as_ref().state };
        // Release: pairs with the Acquire in wait_behind(). From here on only the owner uses the node.
        if state.compare_exchange(WAITING, GRANTED, Ordering::Release, Ordering::Relaxed).is_err() {
            Self::wake(state);
        }
    }

    /// Grants the lock to a sleeper. The last store ends the use of the word.
    #[cold]
    fn wake(state: &P::AtomicU32) {
        state.store(WAKING, Ordering::Relaxed);
        P::wake(state, 1, Scope::Process);
        // Release: as in grant().
        state.store(GRANTED, Ordering::Release);
    }
}

impl<P: Platform> Default for Mcs<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Mcs<P> {
    /// A free lock whose waiters wait by `policy`, which also says how strict their order is.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self::over(StrictMcs::new(policy.apart()), policy)
    }
}

// SAFETY: exclusion by invariant 2, order by the pairs named above, liveness by invariants 3 and 4.
unsafe impl<P: Platform> RawLock for StrictMcs<P> {
    type Platform = P;
    const TRY_IS_EXACT: bool = true;
    type Token = Token<P>;

    #[inline]
    fn acquire(&self) -> Token<P> {
        let node = Self::new_node();
        // AcqRel: Acquire pairs with the Release in release(), Release with the Acquire of the next swap,
        // which then sees this node's initial `next`.
        let predecessor = self.ends.tail.swap(node.as_ptr(), Ordering::AcqRel);
        if let Some(predecessor) = NonNull::new(predecessor) {
            self.wait_behind(predecessor, node);
        }
        self.entered(node)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Token<P>> {
        if !self.ends.tail.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let node = Self::new_node();
        // AcqRel: as in acquire().
        let swapped = self.ends.tail.compare_exchange(
            ptr::null_mut(),
            node.as_ptr(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if swapped.is_err() {
            // SAFETY: taken above, and no other thread has seen it.
            unsafe { node::give::<P, _>(node) };
            return None;
        }
        Some(self.entered(node))
    }

    #[inline]
    unsafe fn release(&self, Token(node): Token<P>) {
        // SAFETY: the holder's node is alive until it is given back below.
        let mine = unsafe { node.as_ref() };
        match Self::successor(mine) {
            Some(next) => self.grant(next),
            None if self.free_if_last(node) => {}
            None => self.grant(self.await_successor(mine)),
        }
        // SAFETY: invariant 3: the successor, if any, has been seen to have linked itself.
        unsafe { node::give::<P, _>(node) };
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        let tail = self.ends.tail.load(Ordering::Relaxed);
        !tail.is_null() && tail != self.ends.holder.load(Ordering::Relaxed)
    }
}

// SAFETY: a token is an address, and the data there is atomic.
unsafe impl<P: Platform> Send for Token<P> {}
