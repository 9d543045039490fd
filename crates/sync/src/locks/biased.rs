//! Any lock, made free of charge while one thread uses it.
//!
//! **What it gives.** A lock is often used by one thread for a long time although others could come: a
//! communication path of which one thread makes use, a program that asked for threads and has one. [`Biased`]
//! gives the lock a *bias owner*, for whom entering and leaving are plain stores and loads, no locked
//! instruction and no fence. Another thread's arrival revokes the bias, which costs about 12 µs once; then
//! the inner lock `L` decides, at the cost of `L` plus two loads. A thread that acquires it many times in a
//! row without company becomes the owner again; how many times doubles with each revocation of a bias that
//! has not lasted for a millisecond, so that a lock that is really shared stops trying, and halves with that
//! of an older one, which was worth it. Threads that only poll now and then, as those do that make progress
//! for others, [visits](Biased::try_visit): it leaves a young bias alone.
//!
//! **Source.** The handshake is that of reservation locks and quickly reacquirable locks (Kawachiya, Koseki,
//! Onodera: *Lock reservation*, OOPSLA 2002, doi:10.1145/582419.582433; Dice, Moir, Scherer: *Quickly
//! reacquirable locks*, 2003; Vasudevan, Namjoshi, Edwards: *Simple and fast biased locks*, PACT 2010,
//! doi:10.1145/1854273.1854287). We depart in two points. The revoker does not stop the owner nor wait for it
//! to poll: `membarrier` makes the owner's plain store visible. And the bias may move from thread to thread:
//! each owner has a *seat* of its own, because a former owner may have been stopped between its first look
//! and its store, and that late store must not hit the new owner's flag.
//!
//! **When a thread does not run.** A stopped owner stops nobody while it is outside, all while it is inside.
//! Who takes the bias away holds `L`: stopped, it stops all, as a holder of `L` does. For other waiters see
//! `L`.
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
//! | `bias` is OWNED(me, seat) (first look) and `busy[seat] == 0`? | bias = REVOKING(t, seat) |
//! | `busy[seat] = 1` | heavy() |
//! | light() | wait until `busy[seat] == 0` (Acquire) |
//! | bias still OWNED(me, seat)? (second look): inside | bias = NOBODY |
//! | otherwise `busy[seat] = 0`, ring, go through L | inside |
//!
//! **Invariants.**
//!
//! 1. `bias` changes only under L. `busy[s]` is written only by the thread that sits in seat `s`.
//! 2. OWNED(t) is stored only by t itself. So if t's second look finds what the first found, no revocation
//!    came in between, however long t was stopped: had there been one, only t could have restored the word.
//! 3. *Exclusion.* t is inside by bias only if its second look read OWNED after `busy = 1`. The revoker
//!    stores REVOKING, then passes `heavy`, then reads `busy`; by the fence's guarantee either t's second
//!    look sees REVOKING, or the revoker sees `busy = 1` and waits. That holds for every entry whose second
//!    look reads OWNED, so once some holder of L has passed `heavy` in state REVOKING and someone (not
//!    necessarily the same) under L reads `busy == 0`, t is outside for good. NOBODY is stored only then; and
//!    whoever is inside through L has seen NOBODY, or OWNED or REVOKING of itself.
//! 4. *Seats.* A seat belongs to its thread until that thread, while it holds L, gives it back: then it is
//!    not between its two looks, so no late store can come. If all seats are taken (by threads that were
//!    owners once and never came back) nobody new becomes owner; the lock still works.
//! 5. *Identities.* A thread that ends outside leaves `busy = 0`, and its bias is revoked like any other's. A
//!    new thread with the same identity (see [`Platform::thread_id`]) takes over bias and seat: the old one
//!    has ended, and everything it did happened before the new one began, so they are one thread for this
//!    lock.
//! 6. *No lost wake-up.* Everything that sets `busy` to 0, a failed entry too, rings `left` afterwards
//!    ([`Bell`], invariant 2).
//!
//! **Orderings.** `busy = 0` is Release and pairs with the revoker's Acquire: promise 2 of [`RawLock`] when
//! the lock goes from the bias to L. From L to the bias it is the same thread. All else rests on the fences
//! or on L.

use crate::locks::raw_lock::RawLock;
use crate::memory::padded::CachePadded;
use crate::waiting::bell::Bell;
use crate::waiting::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use heddle_platform::{Platform, Scope, thread};
use std::array;
use std::fmt;

/// How many threads may be, or have been and never come back, bias owners of one lock.
const SEATS: usize = 8;
/// The bias word's low bits that hold the seat.
const SEAT_BITS: u64 = SEATS as u64 - 1;
/// Somebody holds L and wants the bias gone.
const REVOKING: u64 = 8;
/// No owner.
const NOBODY: u64 = 0;
const _: () = assert!(SEAT_BITS + REVOKING < thread::ID_STEP);

/// Acquisitions in a row that make a thread the owner of a lock that was never revoked.
const FIRST_STREAK: u32 = 16;
/// The most that revocations can raise that to.
const LONGEST_STREAK: u32 = 1 << 16;
/// How long a bias has to last to be worth its revocation: nearly a hundred times as long as that takes.
const WORTHWHILE_NS: u64 = if cfg!(loom) { 2 } else { 1_000_000 };

/// A lock `L` with a bias; see the [module](self).
pub struct Biased<L: RawLock> {
    bias: CachePadded<Bias<L::Platform>>,
    left: CachePadded<Bell<L::Platform>>,
    under: CachePadded<L>,
    /// 1 while a holder of L waits for the owner to leave.
    revokers: CachePadded<AtomicU32Of<L>>,
    begun: CachePadded<Begun<L::Platform>>,
    /// Guarded by `under`.
    habit: <L::Platform as Platform>::Cell<Habit>,
    policy: WaitPolicy,
}

impl<L: RawLock + fmt::Debug> fmt::Debug for Biased<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Biased").field("under", &self.under).finish_non_exhaustive()
    }
}

type AtomicU32Of<L> = <<L as RawLock>::Platform as Platform>::AtomicU32;

/// What the owner touches on every use: one cache line.
#[derive(Debug)]
struct Bias<P: Platform> {
    word: P::AtomicU64,
    busy: [P::AtomicU32; SEATS],
}

/// Whose bias it is and since when: written under L, and a hint to others. Apart from what the owner writes,
/// so that looking here costs the owner nothing.
#[derive(Debug)]
struct Begun<P: Platform> {
    /// The owner's identity, or 0.
    owner: P::AtomicU64,
    /// In ticks.
    since: P::AtomicU64,
}

/// Who uses the lock, for the decision to whom it should be biased.
#[derive(Debug)]
struct Habit {
    /// Who acquired it last through L, and how many times in a row.
    user: u64,
    streak: u32,
    /// How long a streak makes an owner, and how long at least.
    needed: u32,
    least: u32,
    /// The identity that sits in each seat, 0 for a free one.
    seats: [u64; SEATS],
}

// SAFETY: `habit` is touched only while `under` is held, which orders the accesses; all else is atomic or a
// RawLock.
unsafe impl<L: RawLock> Sync for Biased<L> {}
// SAFETY: a `Habit` is numbers, and L is Send by its contract.
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

    /// As [`new`](Self::new), with the number of acquisitions in a row (at least 1) that first make an owner.
    #[must_use]
    pub fn with_streak(under: L, policy: WaitPolicy, streak: u32) -> Self {
        Self {
            bias: CachePadded::new(Bias {
                word: AtomicInteger::new(NOBODY),
                busy: array::from_fn(|_| AtomicInteger::new(0)),
            }),
            left: CachePadded::new(Bell::default()),
            under: CachePadded::new(under),
            revokers: CachePadded::new(AtomicInteger::new(0)),
            begun: CachePadded::new(Begun { owner: AtomicInteger::new(0), since: AtomicInteger::new(0) }),
            habit: MemoryCell::new(Habit {
                user: 0,
                streak: 0,
                needed: streak.max(1),
                least: streak.max(1),
                seats: [0; SEATS],
            }),
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
        if self.enter_biased() { None } else { Some(self.acquire_through_lock(acquire)) }
    }

    /// As [`try_acquire`](RawLock::try_acquire), for who looks in now and then: fails as long as another's
    /// bias is younger than a millisecond, and does not interrupt anybody's streak.
    #[inline]
    pub fn try_visit(&self) -> Option<Option<L::Token>> {
        let owner = self.begun.owner.load(Ordering::Relaxed);
        if owner != 0 && owner != L::Platform::thread_id() && !self.is_bias_old() {
            return None;
        }
        if self.enter_biased() { Some(None) } else { self.try_through_lock().map(Some) }
    }

    /// Enters if the bias is the caller's, at the cost of a few loads and a store. On success the caller leaves by
    /// [`leave_as_owner`](Self::leave_as_owner).
    #[inline(always)]
    pub fn enter_as_owner(&self) -> bool {
        self.enter_biased()
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

    /// Whether the bias has lasted long enough to be worth its revocation. A hint, unless the caller holds L.
    fn is_bias_old(&self) -> bool {
        let age = L::Platform::ticks().wrapping_sub(self.begun.since.load(Ordering::Relaxed));
        age > L::Platform::ns_to_ticks(WORTHWHILE_NS)
    }

    /// Fails if another thread is in L, or the owner is inside.
    fn try_through_lock(&self) -> Option<L::Token> {
        let token = self.under.try_acquire()?;
        if self.end_bias(false) {
            return Some(token);
        }
        // The owner is inside; the bias stays REVOKING, so it comes through L next time.
        // SAFETY: acquired above.
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
            // The caller is inside already: it waits for itself, or its try fails.
            return false;
        }
        busy.store(1, Ordering::Relaxed);
        L::Platform::light();
        if self.bias.word.load(Ordering::Relaxed) == word {
            return true;
        }
        self.retreat(busy);
        false
    }

    /// The bias was revoked between the two looks.
    #[cold]
    fn retreat(&self, busy: &AtomicU32Of<L>) {
        busy.store(0, Ordering::Release);
        self.left.ring(Scope::Process);
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
        // Acquire: pairs with the Release of the owner's release.
        if busy.load(Ordering::Acquire) != 0 {
            if !may_wait {
                return false;
            }
            self.wait_for_owner(busy);
        }
        self.bias.word.store(NOBODY, Ordering::Relaxed);
        self.begun.owner.store(0, Ordering::Relaxed);
        let was_worthwhile = self.is_bias_old();
        self.habit.with_mut(|habit| {
            // SAFETY: the caller holds L, which guards it.
            let habit = unsafe { &mut *habit };
            habit.needed = if was_worthwhile {
                (habit.needed / 2).max(habit.least)
            } else {
                habit.needed.saturating_mul(2).min(LONGEST_STREAK)
            };
        });
        true
    }

    #[cold]
    fn wait_for_owner(&self, busy: &AtomicU32Of<L>) {
        self.revokers.store(1, Ordering::Relaxed);
        let mut waiter = Waiter::<L::Platform>::new(&self.policy, 1);
        while busy.load(Ordering::Acquire) != 0 {
            if waiter.pause() == Next::Park {
                let mut ticket = self.left.prepare(Scope::Process);
                while busy.load(Ordering::Acquire) != 0 {
                    ticket.park(None);
                }
            }
        }
        self.revokers.store(0, Ordering::Relaxed);
    }

    /// Counts an acquisition through L, and makes the caller the owner when it has come often enough. The
    /// caller holds L and has ended every other bias.
    fn count(&self) {
        // With company there is no streak, and one cache line less to pass around.
        if self.under.has_waiters() {
            return;
        }
        let me = L::Platform::thread_id();
        self.habit.with_mut(|habit| {
            // SAFETY: the caller holds L, which guards it.
            let habit = unsafe { &mut *habit };
            if habit.user != me {
                // Its seat is free for others: it holds L, so it is not between its two looks (invariant 4).
                for seat in habit.seats.iter_mut().filter(|seat| **seat == me) {
                    *seat = 0;
                }
                habit.user = me;
                habit.streak = 0;
            }
            habit.streak = habit.streak.saturating_add(1);
            if habit.streak >= habit.needed {
                self.make_owner(habit, me);
            }
        });
    }

    #[cold]
    fn make_owner(&self, habit: &mut Habit, me: u64) {
        // Where the light fence is a full one, the bias costs more than the lock.
        if !L::Platform::is_asymmetric() {
            habit.needed = u32::MAX;
            return;
        }
        let seat_of = |id| habit.seats.iter().position(|seat| *seat == id);
        let Some(seat) = seat_of(me).or_else(|| seat_of(0)) else { return };
        habit.seats[seat] = me;
        habit.streak = 0;
        self.begun.since.store(L::Platform::ticks(), Ordering::Relaxed);
        self.begun.owner.store(me, Ordering::Relaxed);
        self.bias.word.store(me | seat as u64, Ordering::Relaxed);
    }
}

// SAFETY: exclusion by invariant 3; order by L, by the Release and Acquire of `busy`, or within one thread;
// liveness by L's and by invariant 6.
unsafe impl<L: RawLock> RawLock for Biased<L> {
    type Platform = L::Platform;
    /// The token of L, or `None` for who came in by the bias.
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
        // Release: pairs with the revoker's Acquire.
        self.bias.busy[seat as usize].store(0, Ordering::Release);
        self.left.ring(Scope::Process);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // A revoker waits for the owner holding L; a try that failed leaves REVOKING behind, but nobody who
        // waits.
        self.under.has_waiters() || self.revokers.load(Ordering::Relaxed) != 0
    }
}
