//! Threads that sleep until a message comes that they probe for.

use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// Sleeping threads, each with the key of the messages that it waits for. Part of a VNI's state, behind its
/// critical section.
#[derive(Debug)]
pub struct Probers<K> {
    list: Vec<(K, Asleep)>,
}

impl<K> Default for Probers<K> {
    fn default() -> Probers<K> {
        Probers { list: Vec::new() }
    }
}

/// The address of a prober's watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asleep(*const Watcher);

// SAFETY: any thread may signal a watcher; the caller of `Probers::add` promises that it is alive.
unsafe impl Send for Asleep {}

impl Asleep {
    fn new(watcher: &Watcher) -> Asleep {
        Asleep(std::ptr::from_ref(watcher))
    }

    /// Arranges that the watcher is signalled when a message comes. `add` [adds](Probers::add) it to the
    /// probers, or returns false if the message is there already.
    pub fn watch(watcher: &Watcher, add: impl FnOnce(Asleep) -> bool) -> Watch {
        watcher.expect();
        if add(Asleep::new(watcher)) {
            Watch::Set
        } else {
            watcher.excuse();
            Watch::Over
        }
    }

    /// Takes the watcher out: `remove` [removes](Probers::remove) it from the probers and says whether it was
    /// there. Otherwise its signal has come or is under way.
    pub fn unwatch(watcher: &Watcher, remove: impl FnOnce(Asleep) -> bool) {
        if remove(Asleep::new(watcher)) {
            watcher.excuse();
        }
    }

    /// # Safety
    /// The watcher is alive, and expects a signal.
    unsafe fn wake(self) {
        // SAFETY: the caller promises that the watcher is alive.
        unsafe { &*self.0 }.signal();
    }
}

impl<K> Probers<K> {
    /// Arranges that the watcher is signalled once, when a message comes that matches the key.
    ///
    /// # Safety
    /// The watcher expects that signal, and stays alive until it is signalled or [removed](Self::remove).
    pub unsafe fn add(&mut self, key: K, prober: Asleep) {
        self.list.push((key, prober));
    }

    /// Takes the watcher out. False if it was signalled already.
    pub fn remove(&mut self, prober: Asleep) -> bool {
        let before = self.list.len();
        self.list.retain(|(_, other)| *other != prober);
        self.list.len() != before
    }

    /// Signals the probers whose keys match a message that has come, as `wants` says.
    #[inline]
    pub fn tell(&mut self, wants: impl Fn(&K) -> bool) {
        if !self.list.is_empty() {
            self.tell_those_who_want(wants);
        }
    }

    /// Signals all of them: a probe leaves the message there for the next one.
    #[cold]
    fn tell_those_who_want(&mut self, wants: impl Fn(&K) -> bool) {
        for (_, prober) in self.list.extract_if(.., |(key, _)| wants(key)) {
            // SAFETY: the caller of `add` promised that the watcher lives while it is in the list; it is
            // signalled once.
            unsafe { prober.wake() };
        }
    }
}
