//! Any lock with a bias.

use crate::bias::{BiasAge, BiasObserver, BiasOffer, BiasOwner, Exit, FIRST_STREAK, Streak};
use heddle_platform::Platform;
use heddle_platform::platform::MemoryCell;
use heddle_sync::{CachePadded, RawLock, WaitPolicy};
use std::fmt;

/// A lock `L` with a bias to an owner of the kind `O`: see [`biased`](crate::biased) and
/// [`core_biased`](crate::core_biased). `W` sees the changes of the bias.
pub struct BiasedLock<O: BiasOwner<L::Platform>, L: RawLock, W: BiasObserver = ()> {
    /// The words that an entry by the bias touches, on one cache line.
    bias: CachePadded<O>,
    exit: Exit<L::Platform>,
    under: CachePadded<L>,
    age: CachePadded<BiasAge<L::Platform>>,
    /// `under` guards it.
    candidates: <L::Platform as Platform>::Cell<Candidates<O::Guarded>>,
    observer: W,
}

/// The state that decides which user gets the bias.
#[derive(Debug)]
struct Candidates<T> {
    streak: Streak,
    guarded: T,
}

impl<O: BiasOwner<L::Platform>, L: RawLock + fmt::Debug, W: BiasObserver> fmt::Debug for BiasedLock<O, L, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(O::NAME).field("under", &self.under).finish_non_exhaustive()
    }
}

// SAFETY: `candidates` is touched only while `under` is held, which orders the accesses; all other fields are
// Sync, or never written.
unsafe impl<O: BiasOwner<L::Platform>, L: RawLock, W: BiasObserver> Sync for BiasedLock<O, L, W> {}
// SAFETY: all of `Candidates` is Send, and so are O, L and W by their contracts.
unsafe impl<O: BiasOwner<L::Platform>, L: RawLock, W: BiasObserver> Send for BiasedLock<O, L, W> {}

impl<O: BiasOwner<L::Platform>, L: RawLock + Default> Default for BiasedLock<O, L> {
    fn default() -> Self {
        Self::new(L::default(), WaitPolicy::DEFAULT)
    }
}

impl<O: BiasOwner<L::Platform>, L: RawLock> BiasedLock<O, L> {
    /// Puts a bias before `under`. A revoker waits for the thread inside by `policy`.
    #[must_use]
    pub fn new(under: L, policy: WaitPolicy) -> Self {
        Self::with_streak(under, policy, FIRST_STREAK)
    }

    /// Does the same as [`new`](Self::new), with the number of acquisitions in a row (at least 1)
    /// that first make an owner.
    #[must_use]
    pub fn with_streak(under: L, policy: WaitPolicy, streak: u32) -> Self {
        Self::with_observer(under, policy, streak, ())
    }
}

impl<O: BiasOwner<L::Platform>, L: RawLock, W: BiasObserver> BiasedLock<O, L, W> {
    /// Does the same as [`new`](BiasedLock::new), and shows each change of the bias to `observer`.
    #[must_use]
    pub fn observed(under: L, policy: WaitPolicy, observer: W) -> Self {
        Self::with_observer(under, policy, FIRST_STREAK, observer)
    }

    fn with_observer(under: L, policy: WaitPolicy, streak: u32, observer: W) -> Self {
        let (bias, guarded) = O::new();
        Self {
            bias: CachePadded::new(bias),
            exit: Exit::new(policy),
            under: CachePadded::new(under),
            age: CachePadded::new(BiasAge::new()),
            candidates: MemoryCell::new(Candidates { streak: Streak::new(streak), guarded }),
            observer,
        }
    }

    /// The inner lock.
    pub fn under(&self) -> &L {
        &self.under
    }

    /// Acquires the lock, and uses `acquire` to acquire the inner lock if the bias does not suffice.
    #[inline(always)]
    pub fn acquire_by(&self, acquire: impl FnOnce(&L) -> L::Token) -> Option<L::Token> {
        if self.enter_as_owner() { None } else { self.acquire_through_lock(acquire) }
    }

    /// Tries to acquire the lock, and uses `attempt` to try the inner lock if the bias does not suffice.
    #[inline(always)]
    pub fn try_acquire_by(
        &self,
        attempt: impl FnOnce(&L) -> Option<L::Token>,
    ) -> Option<<Self as RawLock>::Token> {
        if self.enter_as_owner() {
            return Some(None);
        }
        let token = self.try_through_lock(attempt)?;
        Some(self.count(token))
    }

    /// Tries to acquire the lock for a thread that polls now and then, and uses `attempt` to try the inner
    /// lock if the bias does not suffice. It fails while another user has a bias younger than a
    /// millisecond, and it does not interrupt the streak of another user.
    #[inline]
    pub fn try_visit_by(
        &self,
        attempt: impl FnOnce(&L) -> Option<L::Token>,
    ) -> Option<<Self as RawLock>::Token> {
        if self.age.is_to_be_spared_by(O::caller) {
            return None;
        }
        if self.enter_as_owner() { Some(None) } else { self.try_through_lock(attempt).map(Some) }
    }

    /// [`try_visit_by`](Self::try_visit_by), for an inner lock of one class.
    #[inline]
    pub fn try_visit(&self) -> Option<<Self as RawLock>::Token> {
        self.try_visit_by(L::try_acquire)
    }

    /// Enters if the bias is the caller's, at the cost of a few loads and stores. On success the caller
    /// leaves by [`leave_as_owner`](Self::leave_as_owner).
    #[inline(always)]
    pub fn enter_as_owner(&self) -> bool {
        self.bias.enter(&self.exit)
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

    /// Tries to enter through L. It fails if another thread holds L, or if a thread is inside by the bias.
    fn try_through_lock(&self, attempt: impl FnOnce(&L) -> Option<L::Token>) -> Option<L::Token> {
        if self.bias.is_in_use() {
            return None;
        }
        let token = attempt(&self.under)?;
        if self.end_bias(false) {
            return Some(token);
        }
        // A thread is inside. The bias stays revoked, so its owner goes through L next time.
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
        let Some(flag) = self.bias.revoke() else { return true };
        if !self.exit.is_left(flag, may_wait) {
            return false;
        }
        self.bias.clear();
        self.observer.revoked();
        let was_old = self.age.end();
        self.candidates.with_mut(|candidates| {
            // SAFETY: the caller holds L, which guards the cell.
            let candidates = unsafe { &mut *candidates };
            candidates.streak.bias_ended(was_old);
        });
        true
    }

    /// Counts an acquisition through L, by `token`, and makes the caller the owner if it has come often
    /// enough. The caller has ended every other bias. Returns the token with which the caller is inside now.
    fn count(&self, token: L::Token) -> Option<L::Token> {
        // A user with company has no streak. Not counting saves passing a cache line around.
        if self.under.has_waiters() {
            return Some(token);
        }
        let user = O::caller();
        let is_owner = self.candidates.with_mut(|candidates| {
            // SAFETY: the caller holds L, which guards the cell.
            let candidates = unsafe { &mut *candidates };
            if candidates.streak.user() != Some(user) {
                O::comes_anew(&mut candidates.guarded, user);
            }
            candidates.streak.count(user) && self.make_owner(candidates, user)
        });
        if !(O::OWNS_FROM_INSIDE && is_owner) {
            return Some(token);
        }
        // SAFETY: the token is that of the caller's acquisition, and the caller is inside
        // by the bias from here on.
        unsafe { self.under.release(token) };
        None
    }

    /// Gives the bias to the caller, which holds L. Fails where there is no bias for it.
    #[cold]
    fn make_owner(&self, candidates: &mut Candidates<O::Guarded>, user: u64) -> bool {
        let place = match self.bias.offer(&mut candidates.guarded, user) {
            BiasOffer::Never => {
                candidates.streak.give_up();
                return false;
            }
            BiasOffer::NotNow => return false,
            BiasOffer::At(place) => place,
        };
        candidates.streak.restart();
        self.age.begin(user);
        self.bias.give(place);
        self.observer.given();
        true
    }
}

// SAFETY: exclusion and liveness by the promises of O and L: a thread is inside by the bias, or it holds L
// and has seen that nobody is or comes inside by the bias. Order by L, and by the Release and Acquire of the
// flags.
unsafe impl<O: BiasOwner<L::Platform>, L: RawLock, W: BiasObserver> RawLock for BiasedLock<O, L, W> {
    type Platform = L::Platform;
    /// The token of L, or `None` for a thread that is inside by the bias.
    type Token = Option<L::Token>;

    #[inline]
    fn acquire(&self) -> Self::Token {
        self.acquire_by(L::acquire)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        self.try_acquire_by(L::try_acquire)
    }

    #[inline(always)]
    unsafe fn release(&self, token: Self::Token) {
        if let Some(token) = token {
            // SAFETY: the caller holds the lock, not by the bias, so it holds L.
            return unsafe { self.under.release(token) };
        }
        self.exit.leave(self.bias.flag());
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // A revoker holds L while it waits for the thread inside. A failed try also leaves a revoked bias
        // behind, but no waiter; so the bias does not tell.
        self.under.has_waiters() || self.exit.has_waiter()
    }
}
