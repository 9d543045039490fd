//! Threads that find the lock held: they post, and leave or wait.

use super::held::Held;
use super::state::{LockQueue, MOST_POSTED, PlatformOf, RequestOf};
use crate::patience::{Meanwhile, Wait};
use crate::posted::{Posted, run_unattended};
use crate::request::{Frame, Verdict};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_sync::RawLock;
use std::ptr::NonNull;

/// The attempts of a waiter: a thread that gets the lock runs all posted operations.
struct Attempts<'a, L: RawLock, T: 'static>(&'a LockQueue<L, T>);

impl<L: RawLock, T: 'static> Meanwhile for Attempts<'_, L, T> {
    fn attempt(&mut self) {
        // This may be the last attempt before the sleep.
        if let Some(mut held) = self.0.hold_or_leave_to_holder() {
            held.serve_waiting();
        }
    }

    fn call(&mut self) {
        self.0.mode.call();
    }
}

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Posts a request; returns about how many were there.
    #[inline]
    pub(super) fn enqueue(&self, request: NonNull<RequestOf<L, T>>) -> usize {
        // SAFETY: aligned as a frame; the owner keeps it in place until it has run, and posts it once.
        let outcome = unsafe { self.posted.push(request) };
        debug_assert!(outcome.is_ok(), "this chain is never closed");
        outcome.unwrap_or(0)
    }

    /// Posts a request without a waiting thread, and makes sure that some thread is responsible for it.
    fn announce(&self, request: NonNull<RequestOf<L, T>>) {
        self.enqueue(request);
        // From here on the request may be gone.
        L::Platform::fence(Ordering::SeqCst);
        self.mode.end_quiet();
        if let Some(mut held) = self.hold_or_leave_to_holder() {
            held.drain();
        }
    }

    /// Waits until `request` has been run, by others or by the caller.
    fn await_result(&self, request: NonNull<RequestOf<L, T>>, wait: Wait<'_>) {
        // SAFETY: the caller's frame, which outlives this call.
        let request = unsafe { request.as_ref() };
        while request.await_verdict(wait, &mut Attempts(self)) == Verdict::Lead {
            let mut held = self.held(self.lock.acquire());
            request.wait_again();
            held.serve_waiting();
        }
    }

    /// Posts an operation and waits for its result; `stands_back` if others shall be first.
    #[inline(never)]
    pub(super) fn run_posted<R, F: FnOnce(&mut T) -> R>(&self, operation: F, stands_back: bool) -> R {
        let frame = Frame::<PlatformOf<L>, T, F, R>::new(operation);
        let crowd = 1 + self.enqueue(frame.request());
        self.await_result(frame.request(), Wait { policy: &self.policy, crowd, stands_back });
        frame.into_result()
    }

    /// Lets others be first; the caller is the holder.
    #[cold]
    #[inline(never)]
    pub(super) fn run_back<R, F: FnOnce(&mut T) -> R>(&self, held: Held<'_, L, T>, operation: F) -> R {
        drop(held);
        self.run_posted(operation, true)
    }

    /// Posts an operation behind the posted ones and waits for its result; the caller is the holder.
    #[cold]
    #[inline(never)]
    pub(super) fn run_behind<R, F: FnOnce(&mut T) -> R>(&self, held: Held<'_, L, T>, operation: F) -> R {
        let frame = Frame::<PlatformOf<L>, T, _, R>::new(operation);
        let crowd = 1 + self.enqueue(frame.request());
        // The holder is responsible for it until it has handed over.
        drop(held);
        self.await_result(frame.request(), Wait { policy: &self.policy, crowd, stands_back: false });
        frame.into_result()
    }

    /// Posts an operation and leaves, unless the queue is long or its holder wants relief.
    #[inline(never)]
    pub(super) fn post_only<F: FnOnce(&mut T) + Send + 'static>(&self, operation: F) {
        let crowded = self.posted.depth() >= MOST_POSTED || self.mode.is_relief_wanted();
        // If the holder waited inside an operation, it would wait for itself. (If it was the holder until
        // just now, this does no harm.)
        if crowded && !self.is_inside() {
            return self.run_posted(|value| run_unattended(operation, value), false);
        }
        self.announce(Posted::new(operation).request());
    }
}
