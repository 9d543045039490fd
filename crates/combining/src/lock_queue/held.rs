//! The held lock: how a thread acquires it, and how it leaves without forgetting an operation.

use super::state::{Drained, LockQueue, PlatformOf};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::thread::ID_STEP;
use heddle_sync::RawLock;
use std::mem::{self, ManuallyDrop};

/// Beside a thread's identity: it has served others that had waited for long, and shall
/// let one of them be first.
const STANDS_BACK: u64 = 1;
const _: () = assert!(STANDS_BACK < ID_STEP);

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Acquires the lock if it is free.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<Held<'_, L, T>> {
        self.lock.try_acquire().map(|token| self.held(token))
    }

    /// Acquires the lock, unless there is a holder that will check the queue after its release. The caller
    /// passed a full fence after it posted or released.
    pub(super) fn hold_or_leave_to_holder(&self) -> Option<Held<'_, L, T>> {
        let held = self.try_hold();
        if held.is_some() || L::TRY_IS_EXACT {
            return held;
        }
        // A holder that has not cleared `inside` yet does so before its fence and its check.
        if self.holder_state.inside.load(Ordering::Relaxed) == 1 {
            return None;
        }
        // A thread is on its way in or out, or has tried in vain and will be gone in a moment.
        Some(self.held(self.lock.acquire()))
    }

    #[inline(always)]
    pub(super) fn held(&self, token: L::Token) -> Held<'_, L, T> {
        let held = Held::new(self, token);
        held.may_stay();
        held
    }

    /// Returns true if the calling thread is inside an operation. It may also return true shortly after.
    pub(super) fn is_inside(&self) -> bool {
        let me = PlatformOf::<L>::thread_id();
        self.holder_state.holder.load(Ordering::Relaxed) & !STANDS_BACK == me
    }

    /// Runs `operation` on the value, unless it has to be posted behind those of others.
    /// The caller is the holder.
    #[inline]
    pub(super) fn run_holding<R, F: FnOnce(&mut T) -> R>(
        &self,
        held: &mut Held<'_, L, T>,
        operation: F,
    ) -> Result<R, F> {
        if held.drain() == Drained::Threshold {
            return Err(operation);
        }
        Ok(self.guarded(|guarded| operation(&mut guarded.value)))
    }

    /// Runs posted operations, up to the threshold; the caller is the holder. A holder that was
    /// called stands back afterwards.
    #[inline(never)]
    fn serve(&self) -> Drained {
        let called = self.mode.take_call();
        let drained = self.guarded(|guarded| self.drain_posted(guarded));
        if called {
            self.holder_state.holder.store(PlatformOf::<L>::thread_id() | STANDS_BACK, Ordering::Relaxed);
        }
        drained
    }

    /// Releases the lock of a holder that has reached its threshold.
    #[cold]
    fn leave_more(&self, token: L::Token, drained: Drained) {
        let handed_over = self.hand_over(drained);
        // SAFETY: the token is of the acquisition that made the caller's Held.
        unsafe { self.lock.release(token) };
        if !handed_over {
            self.check_again(drained);
        }
    }

    /// Checks the queue after a release if the mode is not quiet; see the module's drawing.
    #[inline(never)]
    fn check_again(&self, mut drained: Drained) {
        loop {
            // Pairs with the fence in announce() (invariant 3).
            L::Platform::fence(Ordering::SeqCst);
            if drained == Drained::Empty && self.posted.is_empty() {
                return;
            }
            let Some(mut held) = self.hold_or_leave_to_holder() else { return };
            // In any mode: a poster may have been stopped before it ended the quiet.
            drained = self.serve();
            let handed_over = self.hand_over(drained);
            let token = held.end();
            mem::forget(held);
            // SAFETY: the token is of the acquisition above.
            unsafe { self.lock.release(token) };
            if handed_over {
                return;
            }
        }
    }
}

/// The held lock. Dropping it releases the lock, and makes sure that no posted operation is forgotten.
pub(super) struct Held<'a, L: RawLock, T: 'static> {
    queue: &'a LockQueue<L, T>,
    token: ManuallyDrop<L::Token>,
    drained: Drained,
}

impl<'a, L: RawLock, T: 'static> Held<'a, L, T> {
    #[inline(always)]
    pub(super) fn new(queue: &'a LockQueue<L, T>, token: L::Token) -> Self {
        if !L::TRY_IS_EXACT {
            queue.holder_state.inside.store(1, Ordering::Relaxed);
        }
        Self { queue, token: ManuallyDrop::new(token), drained: Drained::Empty }
    }

    /// Records that the calling thread is the holder; returns false if others shall be first.
    #[inline(always)]
    pub(super) fn may_stay(&self) -> bool {
        let holder = &self.queue.holder_state.holder;
        let me = PlatformOf::<L>::thread_id();
        // A store would cost more: the next acquisition's atomic instruction waits for it.
        let last = holder.load(Ordering::Relaxed);
        if last == me {
            return true;
        }
        holder.store(me, Ordering::Relaxed);
        last != me | STANDS_BACK
    }

    /// Runs posted operations, up to the threshold, if the mode asks holders to. The caller
    /// comes with a new operation.
    #[inline]
    pub(super) fn drain(&mut self) -> Drained {
        if !self.queue.mode.is_quiet() {
            self.drained = self.queue.serve();
        }
        self.drained
    }

    /// Runs posted operations, up to the threshold, among them the caller's. The caller has waited.
    pub(super) fn serve_waiting(&mut self) {
        let queue = self.queue;
        queue.mode.take_call();
        self.drained = queue.guarded(|guarded| queue.drain_posted(guarded));
    }

    /// Takes the token, to release the lock with it.
    #[inline(always)]
    fn end(&mut self) -> L::Token {
        if !L::TRY_IS_EXACT {
            self.queue.holder_state.inside.store(0, Ordering::Relaxed);
        }
        // SAFETY: new() put it there; it is taken once, when Held is dropped.
        unsafe { ManuallyDrop::take(&mut self.token) }
    }
}

impl<L: RawLock, T: 'static> Drop for Held<'_, L, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let token = self.end();
        if self.drained == Drained::Threshold {
            return self.queue.leave_more(token, self.drained);
        }
        // SAFETY: the token is of the acquisition that made this Held, by the same thread.
        unsafe { self.queue.lock.release(token) };
        // Pairs with the heavy() of a poster that ends the quiet, or of a waiter that
        // goes to sleep (invariant 3).
        L::Platform::light();
        if !self.queue.mode.is_quiet() {
            self.queue.check_again(Drained::Empty);
        }
    }
}
