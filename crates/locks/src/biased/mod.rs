//! Any lock, made free of charge while one thread uses it.
//!
//! **What it gives.** One thread often uses a lock for a long time although others could come: a
//! communication path that only one thread uses, or a program that asked for threads and has one. [`Biased`]
//! gives the lock a *bias owner*, which enters and leaves the critical section with plain stores and loads,
//! without a locked instruction and without a fence. When another thread arrives, it revokes the bias, which
//! costs about 12 µs once; then the inner lock `L` decides, at the cost of `L` plus two loads. A thread that
//! acquires the lock many times in a row without company becomes the owner again; `bias/streak.rs` says how
//! many times. A thread that only polls now and then, to make progress for others,
//! [visits](Biased::try_visit): a visit leaves a young bias alone.
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

use crate::bias::{BiasAge, Exit, FIRST_STREAK, Streak};
use crate::biased::seats::{SEATS, Seats};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use heddle_platform::{Platform, Scope, thread};
use heddle_sync::{CachePadded, RawLock, WaitPolicy};
use std::array;
use std::fmt;

/// The bias word's low bits that hold the seat.
const SEAT_BITS: u64 = SEATS as u64 - 1;
/// A holder of L is revoking the bias.
const REVOKING: u64 = 8;
/// No owner.
const NOBODY: u64 = 0;
const _: () = assert!(SEAT_BITS + REVOKING < thread::ID_STEP);

/// A lock `L` with a bias; see the [module](self).
pub struct Biased<L: RawLock> {
    bias: CachePadded<Bias<L::Platform>>,
    exit: Exit<L::Platform>,
    under: CachePadded<L>,
    age: CachePadded<BiasAge<L::Platform>>,
    /// `under` guards it.
    candidates: <L::Platform as Platform>::Cell<Candidates>,
}

impl<L: RawLock + fmt::Debug> fmt::Debug for Biased<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Biased").field("under", &self.under).finish_non_exhaustive()
    }
}

type AtomicU32Of<L> = <<L as RawLock>::Platform as Platform>::AtomicU32;

/// The words that the owner touches on every use, on one cache line.
#[derive(Debug)]
struct Bias<P: Platform> {
    word: P::AtomicU64,
    busy: [P::AtomicU32; SEATS],
}

/// The state that decides which thread gets the bias.
#[derive(Debug)]
struct Candidates {
    streak: Streak,
    seats: Seats,
}

// SAFETY: `candidates` is touched only while `under` is held, which orders the accesses; all other fields are
// atomic, a RawLock, or never written.
unsafe impl<L: RawLock> Sync for Biased<L> {}
// SAFETY: `Candidates` are plain numbers, and L is Send by its contract.
unsafe impl<L: RawLock> Send for Biased<L> {}

impl<L: RawLock + Default> Default for Biased<L> {
    fn default() -> Self {
        Self::new(L::default(), WaitPolicy::DEFAULT)
    }
}

impl<L: RawLock> Biased<L> {
    /// Puts a bias before `under`. A revoker waits for the owner by `policy`.
    #[must_use]
    pub fn new(under: L, policy: WaitPolicy) -> Self {
        Self::with_streak(under, policy, FIRST_STREAK)
    }

    /// Does the same as [`new`](Self::new), with the number of acquisitions in a row (at least 1)
    /// that first make an owner.
    #[must_use]
    pub fn with_streak(under: L, policy: WaitPolicy, streak: u32) -> Self {
        Self {
            bias: CachePadded::new(Bias {
                word: AtomicInteger::new(NOBODY),
                busy: array::from_fn(|_| AtomicInteger::new(0)),
            }),
            exit: Exit::new(policy),
            under: CachePadded::new(under),
            age: CachePadded::new(BiasAge::new()),
            candidates: MemoryCell::new(Candidates { streak: Streak::new(streak), seats: Seats::new() }),
        }
    }

    /// The inner lock.
    pub fn under(&self) -> &L {
        &self.under
    }

    /// Acquires the lock, and uses `acquire` to acquire the inner lock if the bias does not suffice.
    #[inline(always)]
    pub fn acquire_by(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        if self.enter_biased() { None } else { Some(self.acquire_through_lock(acquire)) }
    }

    /// Tries to acquire the lock for a thread that polls now and then. It fails while another thread has a
    /// bias younger than a millisecond, and it does not interrupt the streak of another thread.
    #[inline]
    pub fn try_visit(&self) -> Option<<Self as RawLock>::Token> {
        if self.age.is_to_be_spared_by(L::Platform::thread_id) {
            return None;
        }
        if self.enter_biased() { Some(None) } else { self.try_through_lock().map(Some) }
    }

    /// Enters if the bias is the caller's, at the cost of a few loads and a store. On success the caller
    /// leaves by [`leave_as_owner`](Self::leave_as_owner).
    #[inline(always)]
    pub fn enter_as_owner(&self) -> bool {
        self.enter_biased()
    }

    /// Leaves the critical section that the caller entered as the bias owner.
    ///
    /// # Safety
    /// The calling thread is inside by [`enter_as_owner`](Self::enter_as_owner).
    #[inline(always)]
    pub unsafe fn leave_as_owner(&self) {
        // SAFETY: the caller is inside by the bias, whose token this is.
        unsafe { self.release(None) };
    }

    /// Tries to enter through L. It fails if another thread holds L, or if the owner is inside.
    fn try_through_lock(&self) -> Option<L::Token> {
        let token = self.under.try_acquire()?;
        if self.end_bias(false) {
            return Some(token);
        }
        // The owner is inside. The bias stays REVOKING, so the owner goes through L next time.
        // SAFETY: this thread acquired L above, which gave it this token.
        unsafe { self.under.release(token) };
        None
    }

    /// Enters by the bias if it is the caller's.
    #[inline(always)]
    fn enter_biased(&self) -> bool {
        let word = self.bias.word.load(Ordering::Relaxed);
        let seat = word ^ L::Platform::thread_id();
        if seat > SEAT_BITS {
            return false;
        }
        let busy = &self.bias.busy[seat as usize];
        if busy.load(Ordering::Relaxed) != 0 {
            // The caller is inside already: an acquisition waits for itself for ever, and a try fails.
            return false;
        }
        busy.store(1, Ordering::Relaxed);
        // There is an owner, so the platform is asymmetric (see `make_owner`).
        L::Platform::light_if_asymmetric();
        if self.bias.word.load(Ordering::Relaxed) == word {
            return true;
        }
        self.retreat(busy);
        false
    }

    /// Undoes an entry, because the bias was revoked between the two checks.
    #[cold]
    fn retreat(&self, busy: &AtomicU32Of<L>) {
        self.exit.leave(busy);
    }

    #[inline(never)]
    fn acquire_through_lock(&self, acquire: impl FnOnce(&L) -> L::Token) -> L::Token {
        let token = acquire(&self.under);
        self.end_bias(true);
        self.count();
        token
    }

    /// Makes sure that no owner is inside, or fails if `may_wait` is false and one is. The caller holds L.
    fn end_bias(&self, may_wait: bool) -> bool {
        let word = self.bias.word.load(Ordering::Relaxed);
        if word == NOBODY {
            return true;
        }
        let seat = word & SEAT_BITS;
        // The owner itself sees its own flag without a fence.
        if word & REVOKING == 0 && word & !SEAT_BITS != L::Platform::thread_id() {
            self.bias.word.store(word | REVOKING, Ordering::Relaxed);
            L::Platform::heavy(Scope::Process);
        }
        let busy = &self.bias.busy[seat as usize];
        if !self.exit.is_left(busy, may_wait) {
            return false;
        }
        self.bias.word.store(NOBODY, Ordering::Relaxed);
        let was_old = self.age.end();
        self.candidates.with_mut(|candidates| {
            // SAFETY: the caller holds L, which guards the cell.
            let candidates = unsafe { &mut *candidates };
            candidates.streak.bias_ended(was_old);
        });
        true
    }

    /// Counts an acquisition through L, and makes the caller the owner if it has come often enough. The
    /// caller holds L and has ended every other bias.
    fn count(&self) {
        // A thread with company has no streak. Not counting saves passing a cache line around.
        if self.under.has_waiters() {
            return;
        }
        let me = L::Platform::thread_id();
        self.candidates.with_mut(|candidates| {
            // SAFETY: the caller holds L, which guards the cell.
            let candidates = unsafe { &mut *candidates };
            if candidates.streak.user() != Some(me) {
                // Other threads may have its seat: it holds L, so it is not between its
                // two checks (invariant 4).
                candidates.seats.give_back(me);
            }
            if candidates.streak.count(me) {
                self.make_owner(candidates, me);
            }
        });
    }

    #[cold]
    fn make_owner(&self, candidates: &mut Candidates, me: u64) {
        // Where the light fence is a full fence, the bias costs more than the lock.
        if !L::Platform::is_asymmetric() {
            candidates.streak.give_up();
            return;
        }
        let Some(seat) = candidates.seats.take(me) else { return };
        candidates.streak.restart();
        self.age.begin(me);
        self.bias.word.store(me | seat as u64, Ordering::Relaxed);
    }
}

// SAFETY: exclusion by invariant 3; order by L, by the Release and Acquire of `busy`, or within one thread;
// liveness by that of L and by invariant 6.
unsafe impl<L: RawLock> RawLock for Biased<L> {
    type Platform = L::Platform;
    /// The token of L, or `None` for a thread that entered by the bias.
    type Token = Option<L::Token>;

    #[inline]
    fn acquire(&self) -> Self::Token {
        self.acquire_by(L::acquire)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        if self.enter_biased() {
            return Some(None);
        }
        let token = self.try_through_lock()?;
        self.count();
        Some(Some(token))
    }

    #[inline(always)]
    unsafe fn release(&self, token: Self::Token) {
        if let Some(token) = token {
            // SAFETY: the caller holds the lock, not by bias, so it holds L.
            return unsafe { self.under.release(token) };
        }
        // Entered by the bias, so the word still names the caller, perhaps under revocation, and its seat.
        let seat = self.bias.word.load(Ordering::Relaxed) & SEAT_BITS;
        self.exit.leave(&self.bias.busy[seat as usize]);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // A revoker holds L while it waits for the owner. A failed try also leaves REVOKING behind, but no
        // waiter; so the bias word does not tell.
        self.under.has_waiters() || self.exit.has_waiter()
    }
}
