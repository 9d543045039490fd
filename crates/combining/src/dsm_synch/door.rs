//! The door to the value: one word that lets one thread in, and the call of waiting threads.

use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;

/// Any thread may enter.
const FREE: u32 = 0;
/// A thread is inside.
const HELD: u32 = 1;
/// The head of the queue may enter; others go through the queue.
const RESERVED: u32 = 2;

/// The door; see the module above.
#[derive(Debug)]
pub(super) struct Door<P: Platform> {
    state: P::AtomicU32,
    /// 1 when a thread has waited for long. All changes are read-modify-writes, so a thread that clears a
    /// call has seen what all callers did before.
    called: P::AtomicU32,
    /// The thread that reserved it last.
    reserver: P::AtomicU64,
}

impl<P: Platform> Door<P> {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicInteger::new(FREE),
            called: AtomicInteger::new(0),
            reserver: AtomicInteger::new(0),
        }
    }

    #[inline(always)]
    fn take(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave_as().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Enters if the door is free.
    #[inline(always)]
    pub(super) fn enter(&self) -> bool {
        self.take(FREE)
    }

    /// Enters if no thread is inside.
    pub(super) fn enter_any(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            HELD => false,
            free_or_reserved => self.take(free_or_reserved),
        }
    }

    /// A hint: whether no thread is inside.
    pub(super) fn is_open(&self) -> bool {
        self.state.load(Ordering::Relaxed) != HELD
    }

    /// Returns true if the caller is the thread that shall let others be first.
    pub(super) fn stands_back(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RESERVED
            && self.reserver.load(Ordering::Relaxed) == P::thread_id()
    }

    #[inline(always)]
    fn leave_as(&self, state: u32) {
        // Release: pairs with the Acquire in take().
        self.state.store(state, Ordering::Release);
        // Pairs with the heavy() of a head that goes to sleep, between its call and its last attempt.
        P::light();
    }

    /// Leaves; the caller is inside. Afterwards it checks whether it [is called](Self::is_called).
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.leave_as(FREE);
    }

    /// Leaves, and reserves the door: others shall be before the caller.
    pub(super) fn leave_reserved(&self) {
        self.reserver.store(P::thread_id(), Ordering::Relaxed);
        self.leave_as(RESERVED);
    }

    /// Calls; the caller waits in the queue and has waited for long.
    pub(super) fn call(&self) {
        // Release: pairs with the Acquire in take_call(), for the store that makes the head known.
        self.called.swap(1, Ordering::AcqRel);
    }

    /// Returns true if a thread calls.
    #[inline(always)]
    pub(super) fn is_called(&self) -> bool {
        self.called.load(Ordering::Relaxed) != 0
    }

    /// Clears the call and returns whether there was one; the caller is inside.
    pub(super) fn take_call(&self) -> bool {
        // Acquire: pairs with the Release in call().
        self.is_called() && self.called.swap(0, Ordering::AcqRel) != 0
    }
}
