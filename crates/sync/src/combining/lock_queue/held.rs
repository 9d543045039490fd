//! The lock held: how a thread gets there, and how it leaves without forgetting anything.

use super::state::{Drained, LockQueue, PlatformOf};
use crate::RawLock;
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::thread::ID_STEP;
use std::mem::{self, ManuallyDrop};

/// Beside a thread's identity: it has served others who had waited for long, and is to let one of them be
/// first.
const STANDS_BACK: u64 = 1;
const _: () = assert!(STANDS_BACK < ID_STEP);

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// The lock, if it is free.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<Held<'_, L, T>> {
        self.lock.try_acquire().map(|token| self.held(token))
    }

    /// The lock, unless there is a holder, who will look at the queue after its release. The caller passed a
    /// full fence after it posted or released.
    pub(super) fn hold_or_leave_to_holder(&self) -> Option<Held<'_, L, T>> {
        let held = self.try_hold();
        if held.is_some() || L::TRY_IS_EXACT {
            return held;
        }
        // A holder that has not given `inside` up yet does so before its fence and its look.
        if self.section.inside.load(Ordering::Relaxed) == 1 {
            return None;
        }
        // Somebody is on its way in or out, or has tried in vain and is about to be gone.
        Some(self.held(self.lock.acquire()))
    }

    #[inline(always)]
    pub(super) fn held(&self, token: L::Token) -> Held<'_, L, T> {
        let held = Held::new(self, token);
        held.may_stay();
        held
    }

    /// Whether the calling thread is inside an operation. (It may be that it only was.)
    pub(super) fn is_inside(&self) -> bool {
        let me = PlatformOf::<L>::thread_id();
        self.section.holder.load(Ordering::Relaxed) & !STANDS_BACK == me
    }

    /// Runs `operation` on the value as the holder, unless it has to be posted behind others'.
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

    /// As the holder, runs what is posted, up to the threshold. A holder that was called to it stands back
    /// afterwards.
    #[inline(never)]
    fn serve(&self) -> Drained {
        let called = self.mode.take_call();
        let drained = self.guarded(|guarded| self.drain_posted(guarded));
        if called {
            self.section.holder.store(PlatformOf::<L>::thread_id() | STANDS_BACK, Ordering::Relaxed);
        }
        drained
    }

    /// As a holder whose threshold is reached: releases.
    #[cold]
    fn leave_more(&self, token: L::Token, drained: Drained) {
        let handed_over = self.hand_over(drained);
        // SAFETY: of the acquisition that made the caller's Held.
        unsafe { self.lock.release(token) };
        if !handed_over {
            self.look_again(drained);
        }
    }

    /// After a release when it is not quiet; see the module's drawing.
    #[inline(never)]
    fn look_again(&self, mut drained: Drained) {
        loop {
            // Pairs with the fence in announce() (invariant 3).
            L::Platform::fence(Ordering::SeqCst);
            if drained == Drained::Empty && self.posted.is_empty() {
                return;
            }
            let Some(mut held) = self.hold_or_leave_to_holder() else { return };
            // Whatever the mode: a poster may have been stopped before it ended the quiet.
            drained = self.serve();
            let handed_over = self.hand_over(drained);
            let token = held.end();
            mem::forget(held);
            // SAFETY: of the acquisition above.
            unsafe { self.lock.release(token) };
            if handed_over {
                return;
            }
        }
    }
}

/// The lock held. Its end releases, and sees to it that nothing posted is forgotten.
pub(super) struct Held<'a, L: RawLock, T: 'static> {
    queue: &'a LockQueue<L, T>,
    token: ManuallyDrop<L::Token>,
    drained: Drained,
}

impl<'a, L: RawLock, T: 'static> Held<'a, L, T> {
    #[inline(always)]
    pub(super) fn new(queue: &'a LockQueue<L, T>, token: L::Token) -> Self {
        if !L::TRY_IS_EXACT {
            queue.section.inside.store(1, Ordering::Relaxed);
        }
        Self { queue, token: ManuallyDrop::new(token), drained: Drained::Empty }
    }

    /// Notes that the calling thread is the holder; false if others are to be first.
    #[inline(always)]
    pub(super) fn may_stay(&self) -> bool {
        let holder = &self.queue.section.holder;
        let me = PlatformOf::<L>::thread_id();
        // A store would be dearer: the next acquisition's atomic instruction waits for it.
        let last = holder.load(Ordering::Relaxed);
        if last == me {
            return true;
        }
        holder.store(me, Ordering::Relaxed);
        last != me | STANDS_BACK
    }

    /// As a thread that comes with an operation of its own: runs what is posted, up to the threshold, if
    /// holders are to.
    #[inline]
    pub(super) fn drain(&mut self) -> Drained {
        if !self.queue.mode.is_quiet() {
            self.drained = self.queue.serve();
        }
        self.drained
    }

    /// As a thread that has waited: runs what is posted, its own request too, up to the threshold.
    pub(super) fn serve_waiting(&mut self) {
        let queue = self.queue;
        queue.mode.take_call();
        self.drained = queue.guarded(|guarded| queue.drain_posted(guarded));
    }

    /// Takes the token, to release the lock with it.
    #[inline(always)]
    fn end(&mut self) -> L::Token {
        if !L::TRY_IS_EXACT {
            self.queue.section.inside.store(0, Ordering::Relaxed);
        }
        // SAFETY: put there by new(); taken once, as Held ends.
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
        // SAFETY: of the acquisition that made this Held, by the same thread.
        unsafe { self.queue.lock.release(token) };
        // Pairs with the heavy() of a poster that ends the quiet, or of a waiter that goes to sleep
        // (invariant 3).
        L::Platform::light();
        if !self.queue.mode.is_quiet() {
            self.queue.look_again(Drained::Empty);
        }
    }
}
