//! Any lock, made nearly free of charge while the threads of one core use it.
//!
//! **What it gives.** [`Biased`](crate::Biased) belongs to a thread, so two threads that share a lock pay for its
//! locked instructions even if they run on one core, one after the other. [`CoreBiased`] gives the lock an *owner
//! core*. Every thread that runs there acquires and releases with plain loads and stores. A thread of another
//! core revokes the bias, which interrupts the owner core once; then the inner lock `L` decides, at the cost of `L`
//! plus two loads. A core from which all of many acquisitions in a row come becomes the owner again (`habit.rs`).
//! Where the system has no claims ([`core_claim`](heddle_platform::core_claim)), no core becomes the owner.
//!
//! **Source.** The bias is that of [`biased`](crate::biased). That a core instead of a thread can own something comes
//! from per-CPU data in user space (Turner, Hunter: *Restartable sequences*, Linux Plumbers 2013; Desnoyers:
//! `rseq(2)`, Linux 4.18) and its revocation from TCMalloc, which takes a remote core's cache by `membarrier`'s rseq
//! command (Linux 5.10).
//!
//! **When a thread does not run.** A holder that is stopped stops all, wherever it is. A thread that is stopped while
//! it enters stops nobody: its claim fails when it goes on. A thread that revokes the bias holds `L`. For other
//! waiters see `L`.
//!
//! `core` is `NOBODY`, or a core's number (OWNED), or that with `REVOKING`:
//!
//! ```text
//!              N acquisitions in a row from core c through L, nobody waiting
//!      NOBODY ---------------------------------------------> OWNED(c)
//!        ^                                                      | a thread that holds L
//!        |  a holder of L sees busy == 0                        v
//!        +------------------------------------------------- REVOKING(c)
//! ```
//!
//! | entering on core c | revoking, holding L | giving the bias to c, holding L, inside |
//! |---|---|---|
//! | in one step of the core: | core = REVOKING(c) | `busy = 1` |
//! | `core` is OWNED(c) and `busy == 0`? | core_barrier(c) | core = OWNED(c) (Release) |
//! | `busy = 1` | wait until `busy == 0` (Acquire) | release L |
//! | otherwise go through L | core = NOBODY | inside by the bias |
//!
//! The holder may be moved to another core while it is inside: the flag says that somebody is, not who.
//!
//! **Invariants.**
//!
//! 1. `core` changes only under L. `busy` becomes 1 by a claim, or under L while `core` is NOBODY; it becomes 0 only
//!    by the thread that is inside by the bias.
//! 2. *One by the bias.* Claims of a core take turns and see its earlier ones, so of all claims between two zeros
//!    of `busy` one succeeds. Claims of different cores do not meet: between two owners lies a revocation, after
//!    whose barrier every claim of the former owner fails, until that core is made the owner anew.
//! 3. *None by the bias beside a holder of L.* A thread is inside through L only after it, under L, has seen NOBODY,
//!    or has stored it. Before NOBODY is stored, a barrier has come after REVOKING, and `busy == 0` after the barrier.
//!    A claim that the barrier came after has raised `busy`, which the revoker sees; every later one fails.
//! 4. *The new owner.* A thread that makes its core the owner is inside: it raises `busy` first, and a claim that
//!    reads OWNED (Acquire) reads that too. It then counts as inside by the bias, and leaves as such.
//! 5. *No lost wake-up.* A thread that sets `busy` to 0 rings `left` afterwards ([`Doorbell`], invariant 2).
//!
//! **Orderings.** `busy = 0` is Release. It pairs with the Acquire of the next claim and of the revoker: promise 2 of
//! [`RawLock`]. From L to the bias it is OWNED's Release that pairs with the claim's Acquire. All else rests on the
//! barrier or on L.

mod habit;

use crate::locks::raw_lock::RawLock;
use crate::memory::padded::CachePadded;
use crate::waiting::doorbell::Doorbell;
use crate::waiting::wait::{Next, WaitPolicy, Waiter};
use habit::{FIRST_STREAK, Habit, WORTHWHILE_NS};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use heddle_platform::{Platform, Scope};
use std::fmt;

/// No core owns the bias.
const NOBODY: u32 = 1 << 31;
/// A holder of L wants the bias gone.
const REVOKING: u32 = 1 << 30;

/// A lock `L` with a bias to a core; see the [module](self).
pub struct CoreBiased<L: RawLock> {
    bias: CachePadded<Bias<L::Platform>>,
    left: CachePadded<Doorbell<L::Platform>>,
    under: CachePadded<L>,
    /// 1 while a holder of L waits for the thread inside to leave.
    revokers: CachePadded<AtomicU32Of<L>>,
    begun: CachePadded<Begun<L::Platform>>,
    /// Guarded by `under`.
    habit: <L::Platform as Platform>::Cell<Habit>,
    policy: WaitPolicy,
}

impl<L: RawLock + fmt::Debug> fmt::Debug for CoreBiased<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreBiased").field("under", &self.under).finish_non_exhaustive()
    }
}

type AtomicU32Of<L> = <<L as RawLock>::Platform as Platform>::AtomicU32;

/// What an entry by the bias touches: one cache line.
#[derive(Debug)]
struct Bias<P: Platform> {
    core: P::AtomicU32,
    /// 1 while a thread is inside by the bias.
    busy: P::AtomicU32,
}

/// Which core has the bias and since when: written under L, and a hint to others. It lies apart from the flag, so
/// that a thread that only asks does not take the owner's line away.
#[derive(Debug)]
struct Begun<P: Platform> {
    core: P::AtomicU32,
    /// In ticks.
    since: P::AtomicU64,
}

// SAFETY: `habit` is touched only while `under` is held, which orders the accesses; all else is atomic or a
// RawLock.
unsafe impl<L: RawLock> Sync for CoreBiased<L> {}
// SAFETY: a `Habit` is numbers, and L is Send by its contract.
unsafe impl<L: RawLock> Send for CoreBiased<L> {}

impl<L: RawLock + Default> Default for CoreBiased<L> {
    fn default() -> Self {
        Self::new(L::default(), WaitPolicy::DEFAULT)
    }
}

impl<L: RawLock> CoreBiased<L> {
    /// Puts a bias before `under`. A revoker waits for the thread inside by `policy`.
    #[must_use]
    pub fn new(under: L, policy: WaitPolicy) -> Self {
        Self::with_streak(under, policy, FIRST_STREAK)
    }

    /// As [`new`](Self::new), with the number of acquisitions in a row (at least 1) that first make an owner.
    #[must_use]
    pub fn with_streak(under: L, policy: WaitPolicy, streak: u32) -> Self {
        Self {
            bias: CachePadded::new(Bias { core: AtomicInteger::new(NOBODY), busy: AtomicInteger::new(0) }),
            left: CachePadded::new(Doorbell::default()),
            under: CachePadded::new(under),
            revokers: CachePadded::new(AtomicInteger::new(0)),
            begun: CachePadded::new(Begun { core: AtomicInteger::new(NOBODY), since: AtomicInteger::new(0) }),
            habit: MemoryCell::new(Habit::new(streak)),
            policy,
        }
    }

    /// The lock below.
    pub fn under(&self) -> &L {
        &self.under
    }

    /// As [`acquire`](RawLock::acquire), with `acquire` in place of the acquisition of the lock below, where
    /// that is needed.
    #[inline(always)]
    pub fn acquire_by(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        if self.enter_by_core() { None } else { self.acquire_through_lock(acquire) }
    }

    /// As [`try_acquire`](RawLock::try_acquire), for a thread that polls now and then: fails as long as another
    /// core's bias is younger than a millisecond, and does not interrupt any core's streak.
    #[inline]
    pub fn try_visit(&self) -> Option<Option<L::Token>> {
        let core = self.begun.core.load(Ordering::Relaxed);
        if core != NOBODY && core as usize != L::Platform::hardware_thread() && !self.is_bias_old() {
            return None;
        }
        if self.enter_by_core() { Some(None) } else { self.try_through_lock().map(Some) }
    }

    /// Enters if the bias belongs to the caller's core and nobody is inside, at the cost of a few loads and
    /// stores. On success the caller leaves by [`leave_as_owner`](Self::leave_as_owner).
    #[inline(always)]
    pub fn enter_as_owner(&self) -> bool {
        self.enter_by_core()
    }

    /// Leaves.
    ///
    /// # Safety
    /// The calling thread is inside by [`enter_as_owner`](Self::enter_as_owner).
    #[inline(always)]
    pub unsafe fn leave_as_owner(&self) {
        // SAFETY: the caller is inside by the bias, whose token this is.
        unsafe { self.release(None) };
    }

    /// Enters if the bias belongs to the caller's core and nobody is inside by it.
    #[inline(always)]
    fn enter_by_core(&self) -> bool {
        // While no core owns the bias, one load is all that it costs.
        self.bias.core.load(Ordering::Relaxed) < REVOKING
            && L::Platform::claim_on_core(&self.bias.core, &self.bias.busy)
    }

    /// Whether the bias has lasted long enough to be worth its revocation. A hint, unless the caller holds L.
    fn is_bias_old(&self) -> bool {
        let age = L::Platform::ticks().wrapping_sub(self.begun.since.load(Ordering::Relaxed));
        age > L::Platform::ns_to_ticks(WORTHWHILE_NS)
    }

    /// Fails if another thread is in L, or inside by the bias.
    fn try_through_lock(&self) -> Option<L::Token> {
        if self.bias.busy.load(Ordering::Relaxed) != 0 {
            // Without touching the bias: the thread inside keeps it for its core.
            return None;
        }
        let token = self.under.try_acquire()?;
        if self.end_bias(false) {
            return Some(token);
        }
        // A thread is inside; the bias stays REVOKING, so its core comes through L next time.
        // SAFETY: acquired above.
        unsafe { self.under.release(token) };
        None
    }

    #[inline(never)]
    fn acquire_through_lock(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        let token = acquire(&self.under);
        self.end_bias(true);
        self.count(token)
    }

    /// Makes sure that no thread is inside by the bias and none enters by it. Fails if `may_wait` is false and one
    /// is inside. The caller holds L.
    fn end_bias(&self, may_wait: bool) -> bool {
        let core = self.bias.core.load(Ordering::Relaxed);
        if core == NOBODY {
            return true;
        }
        if core & REVOKING == 0 {
            self.bias.core.store(core | REVOKING, Ordering::Relaxed);
            L::Platform::core_barrier(core);
        }
        // Acquire: pairs with the Release of the last release by the bias.
        if self.bias.busy.load(Ordering::Acquire) != 0 {
            if !may_wait {
                return false;
            }
            self.wait_for_holder();
        }
        self.bias.core.store(NOBODY, Ordering::Relaxed);
        self.begun.core.store(NOBODY, Ordering::Relaxed);
        let was_worthwhile = self.is_bias_old();
        self.habit.with_mut(|habit| {
            // SAFETY: the caller holds L, which guards it.
            unsafe { &mut *habit }.revoked(was_worthwhile);
        });
        true
    }

    #[cold]
    fn wait_for_holder(&self) {
        self.revokers.store(1, Ordering::Relaxed);
        let mut waiter = Waiter::<L::Platform>::new(&self.policy, 1);
        while self.bias.busy.load(Ordering::Acquire) != 0 {
            if waiter.pause() == Next::Park {
                let mut ticket = self.left.prepare(Scope::Process);
                while self.bias.busy.load(Ordering::Acquire) != 0 {
                    ticket.park(None);
                }
            }
        }
        self.revokers.store(0, Ordering::Relaxed);
    }

    /// Counts an acquisition through L, by `token`, and gives the bias to the caller's core when enough have come
    /// from there. The caller has ended every other bias. Returns how the caller is inside now.
    fn count(&self, token: L::Token) -> Option<L::Token> {
        // With company there is no streak, and one cache line less to pass around.
        if self.under.has_waiters() {
            return Some(token);
        }
        let here = L::Platform::hardware_thread();
        let is_due = self.habit.with_mut(|habit| {
            // SAFETY: the caller holds L, which guards it.
            unsafe { &mut *habit }.used_from(here)
        });
        if is_due && self.make_owner(here) {
            // SAFETY: the caller's own, and from here on the caller is inside by the bias.
            unsafe { self.under.release(token) };
            return None;
        }
        Some(token)
    }

    /// Gives the bias to core number `core`, with the caller, who holds L, inside by it.
    #[cold]
    fn make_owner(&self, core: usize) -> bool {
        // Where the light fence of the doorbell is a full one, the bias costs more than the lock.
        let is_cheap = L::Platform::is_asymmetric() && L::Platform::has_core_claims();
        let Some(core) = u32::try_from(core).ok().filter(|core| is_cheap && *core < REVOKING) else {
            self.habit.with_mut(|habit| {
                // SAFETY: the caller holds L, which guards it.
                unsafe { &mut *habit }.give_up();
            });
            return false;
        };
        self.begun.since.store(L::Platform::ticks(), Ordering::Relaxed);
        self.begun.core.store(core, Ordering::Relaxed);
        // Before the core's number: a claim that sees the number sees the flag (invariant 4).
        self.bias.busy.store(1, Ordering::Relaxed);
        self.bias.core.store(core, Ordering::Release);
        true
    }
}

// SAFETY: exclusion by invariants 2 to 4; order by L and by the Release and Acquire of `busy` and `core`; liveness
// by L's and by invariant 5.
unsafe impl<L: RawLock> RawLock for CoreBiased<L> {
    type Platform = L::Platform;
    /// The token of L, or `None` for a thread that is inside by the bias.
    type Token = Option<L::Token>;

    #[inline]
    fn acquire(&self) -> Self::Token {
        self.acquire_by(L::acquire)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        if self.enter_by_core() {
            return Some(None);
        }
        let token = self.try_through_lock()?;
        Some(self.count(token))
    }

    #[inline(always)]
    unsafe fn release(&self, token: Self::Token) {
        if let Some(token) = token {
            // SAFETY: the caller holds the lock, not by the bias, so it holds L.
            return unsafe { self.under.release(token) };
        }
        // Release: pairs with the Acquire of the next claim or of the revoker.
        self.bias.busy.store(0, Ordering::Release);
        self.left.ring_if_asymmetric();
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // A revoker waits for the thread inside holding L; a try that failed leaves REVOKING behind, but nobody
        // that waits.
        self.under.has_waiters() || self.revokers.load(Ordering::Relaxed) != 0
    }
}
