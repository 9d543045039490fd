//! Threads that sleep until a message comes that they probe for.

use crate::matching::Key;
use heddle_sync::Watcher;

/// Who wants to be told of a message. Part of a VNI's state.
#[derive(Debug, Default)]
pub(crate) struct Probers {
    list: Vec<(Key, Asleep)>,
}

/// A prober's watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asleep(*const Watcher);

// SAFETY: a watcher is made for many threads; that it is alive is `Probers::add`'s promise.
unsafe impl Send for Asleep {}

impl Asleep {
    pub(crate) fn new(watcher: &Watcher) -> Asleep {
        Asleep(std::ptr::from_ref(watcher))
    }

    /// # Safety
    /// The watcher is alive, and expects a signal.
    unsafe fn wake(self) {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }.signal();
    }
}

impl Probers {
    /// Has the watcher signalled once, when a message comes that the key wants.
    ///
    /// # Safety
    /// The watcher expects that signal, and stays alive until it was told or [removed](Self::remove).
    pub(crate) unsafe fn add(&mut self, key: Key, prober: Asleep) {
        self.list.push((key, prober));
    }

    /// Takes the watcher out. False if it was told.
    pub(crate) fn remove(&mut self, prober: Asleep) -> bool {
        let before = self.list.len();
        self.list.retain(|(_, other)| *other != prober);
        self.list.len() != before
    }

    /// A message has come.
    #[inline]
    pub(crate) fn tell(&mut self, message: &Key) {
        if !self.list.is_empty() {
            self.tell_those_who_want(message);
        }
    }

    /// All of them: a probe leaves the message to the next one.
    #[cold]
    fn tell_those_who_want(&mut self, message: &Key) {
        for (_, prober) in self.list.extract_if(.., |(key, _)| key.wants(message)) {
            // SAFETY: alive while it is in the list, and told once, by the promise of `add`.
            unsafe { prober.wake() };
        }
    }
}
