//! The door to the value: one word that lets one thread in, and the head of the queue's call.

use crate::fault::{Fault, injected};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use std::fmt;
use std::ptr::{self, NonNull};

/// Anybody may enter.
const FREE: u32 = 0;
/// Somebody is inside.
const HELD: u32 = 1;
/// The head of the queue may enter; others go through the queue.
const RESERVED: u32 = 2;

/// The door; `N` are the queue's nodes. See the module above.
pub(super) struct Door<P: Platform, N: 'static> {
    state: P::AtomicU32,
    /// The head's node while it calls, or null.
    called: P::AtomicPtr<N>,
    /// The thread that reserved it last.
    reserver: P::AtomicU64,
}

impl<P: Platform, N: 'static> fmt::Debug for Door<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

impl<P: Platform, N: 'static> Door<P, N> {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicInteger::new(FREE),
            called: AtomicPointer::new(ptr::null_mut()),
            reserver: AtomicInteger::new(0),
        }
    }

    #[inline(always)]
    fn take(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave_as().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Enters if it is free.
    #[inline(always)]
    pub(super) fn enter(&self) -> bool {
        self.take(FREE)
    }

    /// Enters if nobody is inside.
    pub(super) fn enter_any(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            HELD => false,
            RESERVED if injected(Fault::DsmSynchReservationUnknown) => false,
            free_or_reserved => self.take(free_or_reserved),
        }
    }

    /// Whether the caller is the one that others are to be before.
    pub(super) fn stands_back(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RESERVED
            && self.reserver.load(Ordering::Relaxed) == P::thread_id()
    }

    #[inline(always)]
    fn leave_as(&self, state: u32) {
        let order = if injected(Fault::DsmSynchRelaxedLeave) { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in take().
        self.state.store(state, order);
        if !injected(Fault::DsmSynchWithoutLight) {
            // Pairs with the heavy() of a head that goes to sleep, between its call and its last attempt.
            P::light();
        }
    }

    /// As the one inside. Afterwards the caller looks whether it [is called](Self::is_called).
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.leave_as(FREE);
    }

    /// As [`leave`](Self::leave); others are to be before the caller.
    pub(super) fn leave_reserved(&self) {
        self.reserver.store(P::thread_id(), Ordering::Relaxed);
        self.leave_as(RESERVED);
    }

    /// As the head of the queue that has waited for long.
    pub(super) fn call(&self, head: NonNull<N>) {
        if !injected(Fault::DsmSynchWaitsUncalled) {
            // Release: pairs with the Acquire in take_call(), for the operation.
            self.called.store(head.as_ptr(), Ordering::Release);
        }
    }

    /// Whether the head of the queue calls.
    #[inline(always)]
    pub(super) fn is_called(&self) -> bool {
        !self.called.load(Ordering::Relaxed).is_null()
    }

    /// As the one inside: the head that calls, if one does; it calls no more.
    pub(super) fn take_call(&self) -> Option<NonNull<N>> {
        // Acquire: pairs with the Release in call().
        let head = NonNull::new(self.called.load(Ordering::Acquire))?;
        self.called.store(ptr::null_mut(), Ordering::Relaxed);
        Some(head)
    }
}
