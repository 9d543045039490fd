//! Any lock, made nearly free of charge while the threads of one core use it.
//!
//! **What it gives.** [`Biased`](crate::Biased) belongs to a thread, so two threads that share a lock pay
//! for its locked instructions even if they run on one core, one after the other. [`CoreBiased`] gives the
//! lock an *owner core*. Every thread that runs there enters and leaves the critical section with plain
//! loads and stores. When a thread on another core arrives, it revokes the bias, which interrupts the owner
//! core once; then the inner lock `L` decides, at the cost of `L` plus two loads. A core whose threads
//! acquire the lock many times in a row becomes the owner again; `bias/streak.rs` says how many times. A
//! thread that only polls now and then, to make progress for others, [visits](CoreBiased::try_visit): a
//! visit leaves a young bias alone. On a system without core claims
//! ([`core_claim`](heddle_platform::core_claim)) no core becomes the owner.
//!
//! **Source.** The bias is that of [`biased`](crate::biased). Ownership by a core comes from per-CPU data
//! in user space (Turner, Hunter: *Restartable sequences*, Linux Plumbers 2013; Desnoyers: `rseq(2)`,
//! Linux 4.18). The revocation comes from TCMalloc, which takes a remote core's cache by `membarrier`'s
//! rseq command (Linux 5.10).
//!
//! **When a thread does not run.** A thread that is stopped inside blocks all threads, however it entered. A
//! thread that is stopped while it enters by the bias blocks no thread: its claim fails when it goes on. A
//! thread that revokes the bias holds `L`; if it is stopped, it blocks all threads, as any holder of `L`
//! does. For other waiters see `L`.
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
//! A thread may be moved to another core while it is inside: `busy` says that a thread
//! is inside, not which one.
//!
//! **Invariants.**
//!
//! 1. `core` changes only under L. `busy` becomes 1 by a claim, or under L while `core` is NOBODY; it becomes
//!    0 only by the thread that is inside by the bias.
//! 2. *One thread by the bias.* Claims on one core take turns and see earlier ones, so of all claims between
//!    two zeros of `busy` one succeeds. Claims on different cores do not meet: between two owners lies a
//!    revocation. After its barrier every claim on the former owner core fails, until that core becomes the
//!    owner again.
//! 3. *No thread by the bias beside a holder of L.* A thread is inside through L only after it, under L, has
//!    seen NOBODY, or has stored it. Before NOBODY is stored, a barrier has come after REVOKING, and a holder
//!    of L has read `busy == 0` after the barrier. A successful claim before the barrier has stored `busy =
//!    1`, which the revoker sees; every later claim fails.
//! 4. *The new owner.* A thread that makes its core the owner is inside: it stores `busy = 1` first, and a
//!    claim that reads OWNED (Acquire) also reads that store. The thread then counts as inside by the bias,
//!    and leaves as such.
//! 5. *No lost wake-up.* Every store of 0 to `busy` is made by `bias/exit.rs`.
//!
//! **Orderings.** `busy = 0` is Release. It pairs with the Acquire of the next claim and of the revoker:
//! promise 2 of [`RawLock`] when the lock goes from the bias to another thread. From L to the bias, OWNED's
//! Release pairs with the claim's Acquire. All other orderings rest on the barrier or on L.

use crate::bias::{BiasAge, Exit, FIRST_STREAK, Streak};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use heddle_sync::{CachePadded, RawLock, WaitPolicy};
use std::fmt;

/// No core owns the bias.
const NOBODY: u32 = 1 << 31;
/// A holder of L is revoking the bias.
const REVOKING: u32 = 1 << 30;

/// A lock `L` with a bias to a core; see the [module](self).
pub struct CoreBiased<L: RawLock> {
    bias: CachePadded<Bias<L::Platform>>,
    exit: Exit<L::Platform>,
    under: CachePadded<L>,
    age: CachePadded<BiasAge<L::Platform>>,
    /// `under` guards it.
    streak: <L::Platform as Platform>::Cell<Streak>,
}

impl<L: RawLock + fmt::Debug> fmt::Debug for CoreBiased<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreBiased").field("under", &self.under).finish_non_exhaustive()
    }
}

/// The words that an entry by the bias touches, on one cache line.
#[derive(Debug)]
struct Bias<P: Platform> {
    core: P::AtomicU32,
    /// 1 while a thread is inside by the bias.
    busy: P::AtomicU32,
}

// SAFETY: `streak` is touched only while `under` is held, which orders the accesses; all other fields are
// atomic, a RawLock, or never written.
unsafe impl<L: RawLock> Sync for CoreBiased<L> {}
// SAFETY: a `Streak` is plain numbers, and L is Send by its contract.
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

    /// Does the same as [`new`](Self::new), with the number of acquisitions in a row (at least 1)
    /// that first make an owner.
    #[must_use]
    pub fn with_streak(under: L, policy: WaitPolicy, streak: u32) -> Self {
        Self {
            bias: CachePadded::new(Bias { core: AtomicInteger::new(NOBODY), busy: AtomicInteger::new(0) }),
            exit: Exit::new(policy),
            under: CachePadded::new(under),
            age: CachePadded::new(BiasAge::new()),
            streak: MemoryCell::new(Streak::new(streak)),
        }
    }

    /// The inner lock.
    pub fn under(&self) -> &L {
        &self.under
    }

    /// Acquires the lock, and uses `acquire` to acquire the inner lock if the bias does not suffice.
    #[inline(always)]
    pub fn acquire_by(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        if self.enter_by_core() { None } else { self.acquire_through_lock(acquire) }
    }

    /// Tries to acquire the lock for a thread that polls now and then. It fails while another core has a bias
    /// younger than a millisecond, and it does not interrupt the streak of another core.
    #[inline]
    pub fn try_visit(&self) -> Option<<Self as RawLock>::Token> {
        if self.age.is_to_be_spared_by(|| L::Platform::hardware_thread() as u64) {
            return None;
        }
        if self.enter_by_core() { Some(None) } else { self.try_through_lock().map(Some) }
    }

    /// Enters if the bias belongs to the caller's core and no thread is inside, at the cost of a few loads
    /// and stores. On success the caller leaves by [`leave_as_owner`](Self::leave_as_owner).
    #[inline(always)]
    pub fn enter_as_owner(&self) -> bool {
        self.enter_by_core()
    }

    /// Leaves the critical section that the caller entered by the bias.
    ///
    /// # Safety
    /// The calling thread is inside by [`enter_as_owner`](Self::enter_as_owner).
    #[inline(always)]
    pub unsafe fn leave_as_owner(&self) {
        // SAFETY: the caller is inside by the bias, whose token this is.
        unsafe { self.release(None) };
    }

    /// Enters if the bias belongs to the caller's core and no thread is inside by it.
    #[inline(always)]
    fn enter_by_core(&self) -> bool {
        // While no core owns the bias, an attempt costs only this load.
        self.bias.core.load(Ordering::Relaxed) < REVOKING
            && L::Platform::claim_on_core(&self.bias.core, &self.bias.busy)
    }

    /// Tries to enter through L. It fails if another thread holds L, or if a thread is inside by the bias.
    fn try_through_lock(&self) -> Option<L::Token> {
        if self.bias.busy.load(Ordering::Relaxed) != 0 {
            // The bias is not revoked: the thread inside keeps it for its core.
            return None;
        }
        let token = self.under.try_acquire()?;
        if self.end_bias(false) {
            return Some(token);
        }
        // A thread is inside. The bias stays REVOKING, so the threads of its core go through L next time.
        // SAFETY: this thread acquired L above, which gave it this token.
        unsafe { self.under.release(token) };
        None
    }

    #[inline(never)]
    fn acquire_through_lock(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        let token = acquire(&self.under);
        self.end_bias(true);
        self.count(token)
    }

    /// Makes sure that no thread is inside by the bias and that none can enter by it, or fails if `may_wait`
    /// is false and one is inside. The caller holds L.
    fn end_bias(&self, may_wait: bool) -> bool {
        let core = self.bias.core.load(Ordering::Relaxed);
        if core == NOBODY {
            return true;
        }
        if core & REVOKING == 0 {
            self.bias.core.store(core | REVOKING, Ordering::Relaxed);
            L::Platform::core_barrier(core);
        }
        if !self.exit.is_left(&self.bias.busy, may_wait) {
            return false;
        }
        self.bias.core.store(NOBODY, Ordering::Relaxed);
        let was_old = self.age.end();
        self.streak.with_mut(|streak| {
            // SAFETY: the caller holds L, which guards the cell.
            let streak = unsafe { &mut *streak };
            streak.bias_ended(was_old);
        });
        true
    }

    /// Counts an acquisition through L, by `token`, and makes the caller's core the owner if enough
    /// acquisitions have come from there. The caller has ended every other bias. Returns the token with which
    /// the caller is inside now.
    fn count(&self, token: L::Token) -> Option<L::Token> {
        // A core with company has no streak. Not counting saves passing a cache line around.
        if self.under.has_waiters() {
            return Some(token);
        }
        let here = L::Platform::hardware_thread();
        let is_owner = self.streak.with_mut(|streak| {
            // SAFETY: the caller holds L, which guards the cell.
            let streak = unsafe { &mut *streak };
            streak.count(here as u64) && self.make_owner(streak, here)
        });
        if !is_owner {
            return Some(token);
        }
        // SAFETY: the token is that of the caller's acquisition, and the caller is inside
        // by the bias from here on.
        unsafe { self.under.release(token) };
        None
    }

    /// Gives the bias to core number `core`, with the caller, which holds L, inside by it. Fails
    /// where cores get no bias.
    #[cold]
    fn make_owner(&self, streak: &mut Streak, core: usize) -> bool {
        // Where the light fence of the doorbell is a full fence, the bias costs more than the lock.
        let is_cheap = L::Platform::is_asymmetric() && L::Platform::has_core_claims();
        let Some(core) = u32::try_from(core).ok().filter(|core| is_cheap && *core < REVOKING) else {
            streak.give_up();
            return false;
        };
        streak.restart();
        self.age.begin(u64::from(core));
        // Before the core's number: a claim that sees the number sees the flag (invariant 4).
        self.bias.busy.store(1, Ordering::Relaxed);
        self.bias.core.store(core, Ordering::Release);
        true
    }
}

// SAFETY: exclusion by invariants 2 to 4; order by L and by the Release and Acquire of `busy` and `core`;
// liveness by that of L and by invariant 5.
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
        self.exit.leave(&self.bias.busy);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // A revoker holds L while it waits for the thread inside. A failed try also leaves REVOKING behind,
        // but no waiter; so the bias word does not tell.
        self.under.has_waiters() || self.exit.has_waiter()
    }
}
