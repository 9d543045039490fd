//! Threads that sleep until a message comes that they probe for.

use crate::fault::{Fault, planted};
use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// Who wants to be told of a message, and which: `K` is a key. Part of a VNI's state.
#[derive(Debug)]
pub struct Probers<K> {
    list: Vec<(K, Asleep)>,
}

impl<K> Default for Probers<K> {
    fn default() -> Probers<K> {
        Probers { list: Vec::new() }
    }
}

/// A prober's watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asleep(*const Watcher);

// SAFETY: a watcher is made for many threads; that it is alive is `Probers::add`'s promise.
unsafe impl Send for Asleep {}

impl Asleep {
    fn new(watcher: &Watcher) -> Asleep {
        Asleep(std::ptr::from_ref(watcher))
    }

    /// Has the watcher signalled when a message comes. `add` [adds](Probers::add) it to the probers, unless the message is there:
    /// then it returns false.
    pub fn watch(watcher: &Watcher, add: impl FnOnce(Asleep) -> bool) -> Watch {
        if !planted(Fault::ProberExpectsLate) {
            watcher.expect();
        }
        if add(Asleep::new(watcher)) {
            if planted(Fault::ProberExpectsLate) {
                watcher.expect();
            }
            Watch::Set
        } else {
            watcher.excuse();
            Watch::Over
        }
    }

    /// Takes the watcher out: `remove` [removes](Probers::remove) it from the probers and says whether it was there. If it was
    /// not, its signal has come or is under way.
    pub fn unwatch(watcher: &Watcher, remove: impl FnOnce(Asleep) -> bool) {
        if remove(Asleep::new(watcher)) {
            watcher.excuse();
        }
    }

    /// # Safety
    /// The watcher is alive, and expects a signal.
    unsafe fn wake(self) {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }.signal();
    }
}

impl<K> Probers<K> {
    /// Has the watcher signalled once, when a message comes that the key wants.
    ///
    /// # Safety
    /// The watcher expects that signal, and stays alive until it was told or [removed](Self::remove).
    pub unsafe fn add(&mut self, key: K, prober: Asleep) {
        self.list.push((key, prober));
    }

    /// Takes the watcher out. False if it was told.
    pub fn remove(&mut self, prober: Asleep) -> bool {
        let before = self.list.len();
        self.list.retain(|(_, other)| *other != prober);
        self.list.len() != before || planted(Fault::ProberAlwaysThere)
    }

    /// A message has come that keys want or not.
    #[inline]
    pub fn tell(&mut self, wants: impl Fn(&K) -> bool) {
        if !self.list.is_empty() {
            self.tell_those_who_want(wants);
        }
    }

    /// All of them: a probe leaves the message to the next one.
    #[cold]
    fn tell_those_who_want(&mut self, wants: impl Fn(&K) -> bool) {
        if planted(Fault::ProberToldAgain) {
            // SAFETY: none: this is a fault.
            self.list.iter().filter(|(key, _)| wants(key)).for_each(|(_, prober)| unsafe { prober.wake() });
            return;
        }
        for (_, prober) in self.list.extract_if(.., |(key, _)| wants(key)) {
            // SAFETY: alive while it is in the list, and told once, by the promise of `add`.
            unsafe { prober.wake() };
        }
    }
}
