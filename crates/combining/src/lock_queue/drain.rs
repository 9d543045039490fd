//! The holder at the queue: it runs posted operations, and finds a thread to go on.

use super::state::{Drained, Guarded, LockQueue, RequestOf};
use crate::request::{Request, Verdict};
use heddle_sync::RawLock;
use std::ptr::NonNull;

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Runs posted operations, up to the threshold; the caller is the holder.
    #[inline(never)]
    pub(super) fn drain_posted(&self, guarded: &mut Guarded<RequestOf<L, T>, T>) -> Drained {
        let mut left = self.threshold;
        loop {
            if guarded.pending.is_null() {
                guarded.pending = self.posted.take();
            }
            let Some(request) = NonNull::new(guarded.pending) else {
                if left == self.threshold {
                    self.mode.count_fruitless(&mut guarded.patience, || self.posted.is_empty());
                } else {
                    guarded.patience.restart();
                }
                self.mode.set_relief_wanted(false);
                guarded.alone = 0;
                // A second check: a poster that did not see the quiet mode left its post to
                // this holder (invariant 3).
                if self.posted.is_empty() {
                    return Drained::Empty;
                }
                continue;
            };
            if left == 0 {
                // The call makes sure that no holder overlooks the rest.
                self.mode.call();
                return Drained::Threshold;
            }
            left -= 1;
            // SAFETY: taken by this holder or an earlier one, in order and each once; only a holder tells.
            guarded.pending = unsafe { Request::serve(request, &mut guarded.value) };
        }
    }

    /// Returns true if another thread will go on after the release. The caller is the holder and
    /// has reached the threshold.
    #[inline]
    pub(super) fn hand_over(&self, drained: Drained) -> bool {
        drained == Drained::Threshold && (self.lock.has_waiters() || self.tell_heir())
    }

    /// Tells the first waiting owner in `pending` to lead; returns whether there is one.
    /// The caller is the holder.
    #[cold]
    fn tell_heir(&self) -> bool {
        self.guarded(|guarded| {
            let mut place = guarded.pending;
            while let Some(request) = NonNull::new(place) {
                // SAFETY: taken and not run yet, so alive.
                let node = unsafe { request.as_ref() };
                if node.is_attended() {
                    // SAFETY: attended, not run, and only a holder tells. The owner comes through the lock.
                    unsafe { Request::tell(request, Verdict::Lead) };
                    guarded.alone = 0;
                    self.mode.set_relief_wanted(false);
                    return true;
                }
                place = node.next_taken();
            }
            guarded.alone = guarded.alone.saturating_add(1);
            if guarded.alone > 1 {
                self.mode.set_relief_wanted(true);
            }
            false
        })
    }
}
