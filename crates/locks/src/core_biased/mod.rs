//! Any lock, made nearly free of charge while the threads of one core use it.
//!
//! **What it gives.** [`Biased`](crate::Biased) belongs to a thread, so two threads that share a lock pay
//! for its locked instructions even if they run on one core, one after the other. [`CoreBiased`] gives the
//! lock an *owner core*. Every thread that runs there enters and leaves the critical section with plain
//! loads and stores. When a thread on another core arrives, it revokes the bias, which interrupts the owner
//! core once; then the inner lock `L` decides, at the cost of `L` plus two loads. A core whose threads
//! acquire the lock many times in a row becomes the owner again; `bias/streak.rs` says how many times. A
//! thread that only polls now and then, to make progress for others, [visits](BiasedLock::try_visit): a
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

use crate::bias::{BiasOffer, BiasOwner, BiasedLock, Exit};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_sync::RawLock;

/// No core owns the bias.
const NOBODY: u32 = 1 << 31;
/// A holder of L is revoking the bias.
const REVOKING: u32 = 1 << 30;

/// A lock `L` with a bias to a core; see the [module](self).
pub type CoreBiased<L, W = ()> = BiasedLock<OwnerCore<<L as RawLock>::Platform>, L, W>;

/// A bias that belongs to a core: the words that an entry by the bias touches.
#[derive(Debug)]
pub struct OwnerCore<P: Platform> {
    core: P::AtomicU32,
    /// 1 while a thread is inside by the bias.
    busy: P::AtomicU32,
}

// SAFETY: invariants 2 to 4.
unsafe impl<P: Platform> BiasOwner<P> for OwnerCore<P> {
    const NAME: &'static str = "CoreBiased";
    const OWNS_FROM_INSIDE: bool = true;
    type Guarded = ();
    /// The core's number.
    type Place = u32;

    fn new() -> (Self, ()) {
        (OwnerCore { core: AtomicInteger::new(NOBODY), busy: AtomicInteger::new(0) }, ())
    }

    #[inline(always)]
    fn caller() -> u64 {
        P::hardware_thread() as u64
    }

    #[inline(always)]
    fn enter(&self, _: &Exit<P>) -> bool {
        // While no core owns the bias, an attempt costs only this load.
        self.core.load(Ordering::Relaxed) < REVOKING && P::claim_on_core(&self.core, &self.busy)
    }

    #[inline(always)]
    fn flag(&self) -> &P::AtomicU32 {
        &self.busy
    }

    /// A try does not revoke the bias then: the thread inside keeps it for its core.
    fn is_in_use(&self) -> bool {
        self.busy.load(Ordering::Relaxed) != 0
    }

    fn revoke(&self) -> Option<&P::AtomicU32> {
        let core = self.core.load(Ordering::Relaxed);
        if core == NOBODY {
            return None;
        }
        if core & REVOKING == 0 {
            self.core.store(core | REVOKING, Ordering::Relaxed);
            P::core_barrier(core);
        }
        Some(&self.busy)
    }

    fn clear(&self) {
        self.core.store(NOBODY, Ordering::Relaxed);
    }

    fn offer(&self, (): &mut (), core: u64) -> BiasOffer<u32> {
        // Where the light fence of the doorbell is a full fence, the bias costs more than the lock.
        let is_cheap = P::is_asymmetric() && P::has_core_claims();
        let core = u32::try_from(core).ok().filter(|core| is_cheap && *core < REVOKING);
        core.map_or(BiasOffer::Never, BiasOffer::At)
    }

    fn give(&self, core: u32) {
        // Before the core's number: a claim that sees the number sees the flag (invariant 4).
        self.busy.store(1, Ordering::Relaxed);
        self.core.store(core, Ordering::Release);
    }
}
