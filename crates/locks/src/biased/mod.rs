//! Any lock, made free of charge while one thread uses it.
//!
//! **What it gives.** One thread often uses a lock for a long time although others could come: a
//! communication path that only one thread uses, or a program that asked for threads and has one. [`Biased`]
//! gives the lock a *bias owner*, which enters and leaves the critical section with plain stores and loads,
//! without a locked instruction and without a fence. When another thread arrives, it revokes the bias, which
//! costs about 12 µs once; then the inner lock `L` decides, at the cost of `L` plus two loads. A thread that
//! acquires the lock many times in a row without company becomes the owner again; `bias/streak.rs` says how
//! many times. A thread that only polls now and then, to make progress for others,
//! [visits](BiasedLock::try_visit): a visit leaves a young bias alone.
//!
//! **Source.** The handshake is that of reservation locks and quickly reacquirable locks (Kawachiya, Koseki,
//! Onodera: *Lock reservation*, OOPSLA 2002, doi:10.1145/582419.582433; Dice, Moir, Scherer: *Quickly
//! reacquirable locks*, 2003; Vasudevan, Namjoshi, Edwards: *Simple and fast biased locks*, PACT 2010,
//! doi:10.1145/1854273.1854287). We depart in two points. The revoker neither stops the owner nor waits for
//! it to poll: `membarrier` makes the owner's plain store visible. And the bias may move from thread to
//! thread, so each owner has a separate *seat* (`seats.rs`).
//!
//! **When a thread does not run.** A stopped owner blocks no thread while it is outside, and all threads
//! while it is inside. A thread that revokes the bias holds `L`; if it is stopped, it blocks all threads, as
//! any holder of `L` does. For other waiters see `L`.
//!
//! `bias` is 0 (nobody), or the owner's identity with the number of its seat, or that with `REVOKING`:
//!
//! ```text
//!              N acquisitions in a row through L, nobody waiting
//!      NOBODY ---------------------------------------------> OWNED(t, seat)
//!        ^                                                        | another thread, holding L
//!        |  a holder of L sees busy[seat] == 0                    v
//!        +------------------------------------------------- REVOKING(t, seat)
//! ```
//!
//! | owner, entering | revoker, holding L |
//! |---|---|
//! | `bias` is OWNED(me, seat) (first check) and `busy[seat] == 0`? | bias = REVOKING(t, seat) |
//! | `busy[seat] = 1` | heavy() |
//! | light() | wait until `busy[seat] == 0` (Acquire) |
//! | bias still OWNED(me, seat)? (second check): inside | bias = NOBODY |
//! | otherwise `busy[seat] = 0`, ring, go through L | inside |
//!
//! **Invariants.**
//!
//! 1. `bias` changes only under L. `busy[s]` is written only by the thread that sits in seat `s`.
//! 2. OWNED(t) is stored only by t itself. So if t's second check reads the same word as the
//!    first, no revocation came in between, however long t was stopped: after a revocation only t
//!    could have restored the word.
//! 3. *Exclusion.* t is inside by bias only if its second check read OWNED after `busy = 1`. The revoker
//!    stores REVOKING, then passes `heavy`, then reads `busy`; by the fence's guarantee either t's second
//!    check sees REVOKING, or the revoker sees `busy = 1` and waits. That holds for every entry whose second
//!    check reads OWNED, so once some holder of L has passed `heavy` in state REVOKING and a holder of L (not
//!    necessarily the same) reads `busy == 0`, t is outside for good. NOBODY is stored only then; and
//!    a thread that is inside through L has seen NOBODY, or OWNED or REVOKING of itself.
//! 4. *Seats.* A seat belongs to its thread until that thread, while it holds L, gives it back: then the
//!    thread is not between its two checks, so no late store can come. If all seats are taken (by threads
//!    that were owners once and never came back) no other thread becomes the owner; the lock still works.
//! 5. *Identities.* A thread that ends outside leaves `busy = 0`, and its bias is revoked like any other's. A
//!    new thread with the same identity (see [`Platform::thread_id`]) takes over bias and seat: the old
//!    thread has ended, and everything it did happened before the new one began, so they are one thread for
//!    this lock.
//! 6. *No lost wake-up.* Every store of 0 to `busy`, also that of a failed entry, is made by `bias/exit.rs`.
//!
//! **Orderings.** `busy = 0` is Release and pairs with the revoker's Acquire: promise 2 of [`RawLock`]
//! when the lock goes from the bias to L. From L to the bias it is the same thread. All other orderings
//! rest on the fences or on L.

mod seats;

use crate::bias::{BiasOffer, BiasOwner, BiasedLock, Exit};
use crate::biased::seats::{SEATS, Seats};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope, thread};
use heddle_sync::RawLock;
use std::array;

/// The bias word's low bits that hold the seat.
const SEAT_BITS: u64 = SEATS as u64 - 1;
/// A holder of L is revoking the bias.
const REVOKING: u64 = 8;
/// No owner.
const NOBODY: u64 = 0;
const _: () = assert!(SEAT_BITS + REVOKING < thread::ID_STEP);

/// A lock `L` with a bias to a thread; see the [module](self).
pub type Biased<L, W = ()> = BiasedLock<OwnerThread<<L as RawLock>::Platform>, L, W>;

/// A bias that belongs to a thread: the words that the owner touches on every use.
#[derive(Debug)]
pub struct OwnerThread<P: Platform> {
    bias: P::AtomicU64,
    busy: [P::AtomicU32; SEATS],
}

impl<P: Platform> OwnerThread<P> {
    /// Undoes an entry, because the bias was revoked between the two checks.
    #[cold]
    fn retreat(exit: &Exit<P>, busy: &P::AtomicU32) {
        exit.leave(busy);
    }
}

// SAFETY: invariant 3.
unsafe impl<P: Platform> BiasOwner<P> for OwnerThread<P> {
    const NAME: &'static str = "Biased";
    const OWNS_FROM_INSIDE: bool = false;
    type Guarded = Seats;
    /// The bias word.
    type Place = u64;

    fn new() -> (Self, Seats) {
        let busy = array::from_fn(|_| AtomicInteger::new(0));
        (OwnerThread { bias: AtomicInteger::new(NOBODY), busy }, Seats::new())
    }

    #[inline(always)]
    fn caller() -> u64 {
        P::thread_id()
    }

    #[inline(always)]
    fn enter(&self, exit: &Exit<P>) -> bool {
        let bias = self.bias.load(Ordering::Relaxed);
        let seat = bias ^ P::thread_id();
        if seat > SEAT_BITS {
            return false;
        }
        let busy = &self.busy[seat as usize];
        if busy.load(Ordering::Relaxed) != 0 {
            // The caller is inside already: an acquisition waits for itself for ever, and a try fails.
            return false;
        }
        busy.store(1, Ordering::Relaxed);
        // There is an owner, so the platform is asymmetric (see `offer`).
        P::light_if_asymmetric();
        if self.bias.load(Ordering::Relaxed) == bias {
            return true;
        }
        Self::retreat(exit, busy);
        false
    }

    #[inline(always)]
    fn flag(&self) -> &P::AtomicU32 {
        // Entered by the bias, so the word still names the caller, perhaps under revocation, and its seat.
        let seat = self.bias.load(Ordering::Relaxed) & SEAT_BITS;
        &self.busy[seat as usize]
    }

    fn revoke(&self) -> Option<&P::AtomicU32> {
        let bias = self.bias.load(Ordering::Relaxed);
        if bias == NOBODY {
            return None;
        }
        // The owner itself sees its own flag without a fence.
        if bias & REVOKING == 0 && bias & !SEAT_BITS != P::thread_id() {
            self.bias.store(bias | REVOKING, Ordering::Relaxed);
            P::heavy(Scope::Process);
        }
        Some(&self.busy[(bias & SEAT_BITS) as usize])
    }

    fn clear(&self) {
        self.bias.store(NOBODY, Ordering::Relaxed);
    }

    fn comes_anew(seats: &mut Seats, me: u64) {
        // Other threads may have its seat: it holds L, so it is not between its two checks (invariant 4).
        seats.give_back(me);
    }

    fn offer(&self, seats: &mut Seats, me: u64) -> BiasOffer<u64> {
        // Where the light fence is a full fence, the bias costs more than the lock.
        if !P::is_asymmetric() {
            return BiasOffer::Never;
        }
        seats.take(me).map_or(BiasOffer::NotNow, |seat| BiasOffer::At(me | seat as u64))
    }

    fn give(&self, bias: u64) {
        self.bias.store(bias, Ordering::Relaxed);
    }
}
