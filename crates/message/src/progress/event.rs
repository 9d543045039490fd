//! What a thread waits for.

use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// What a thread waits for, and how whoever brings it about learns whom to wake.
pub trait Event {
    /// Whether it has happened; once it has, the answer stays.
    fn is_over(&mut self) -> bool;

    /// A watcher for [`watch`](Self::watch).
    fn watcher(&self) -> Watcher {
        Watcher::for_all()
    }

    /// Has the watcher signalled when it happens. Unless it says [`Watch::Set`], the caller looks for itself. In any case the
    /// caller [unwatches](Self::unwatch).
    ///
    /// # Safety
    /// The watcher stays where it is until it was taken out by [`unwatch`](Self::unwatch) and has left.
    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch;

    /// Takes the watcher out where it was not signalled.
    fn unwatch(&mut self, watcher: &Watcher);
}

/// A condition that nobody tells of: it has to be looked at.
pub(super) struct Condition<F>(pub(super) F);

impl<F: FnMut() -> bool> Event for Condition<F> {
    #[inline(always)]
    fn is_over(&mut self) -> bool {
        (self.0)()
    }

    unsafe fn watch(&mut self, _: &Watcher) -> Watch {
        Watch::Taken
    }

    fn unwatch(&mut self, _: &Watcher) {}
}
