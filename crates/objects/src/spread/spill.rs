//! Messages that found no room in their lanes.

use heddle_platform::atomic::{AtomicUsize, Ordering};
#[cfg(loom)]
use heddle_platform::loom::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

/// The messages of all lanes to one receiver that wait for room, first in, first out.
#[derive(Debug)]
pub struct Spill<M> {
    /// The number of waiting messages: written by the thread that has the queue.
    waiting: AtomicUsize,
    queue: Mutex<VecDeque<M>>,
}

/// The queue, which one thread has at a time.
#[derive(Debug)]
pub struct SpillGuard<'a, M> {
    waiting: &'a AtomicUsize,
    queue: MutexGuard<'a, VecDeque<M>>,
}

impl<M> Default for Spill<M> {
    fn default() -> Spill<M> {
        Spill { waiting: AtomicUsize::new(0), queue: Mutex::new(VecDeque::new()) }
    }
}

impl<M> Spill<M> {
    /// Returns true if no message waits. Then a thread may send to a lane. Any thread may call this.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        // Acquire: pairs with the Release in `note`. A message that has left the queue is in its lane, before
        // what the caller now sends.
        self.waiting.load(Ordering::Acquire) == 0
    }

    /// Waits for the queue.
    pub fn lock(&self) -> SpillGuard<'_, M> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        SpillGuard { waiting: &self.waiting, queue }
    }
}

impl<M> SpillGuard<'_, M> {
    /// Sends a message by `send`, which returns false if there is no room, unless others wait; else queues
    /// it. Returns true if it was sent.
    pub fn send_or_wait(&mut self, message: M, send: impl FnOnce(&M) -> bool) -> bool {
        if self.queue.is_empty() && send(&message) {
            return true;
        }
        self.queue.push_back(message);
        self.note();
        false
    }

    /// Sends waiting messages by `send`, in their order, until it returns false. Returns how many were sent.
    pub fn drain(&mut self, mut send: impl FnMut(&M) -> bool) -> usize {
        let mut sent = 0;
        while self.queue.front().is_some_and(&mut send) {
            self.queue.pop_front();
            sent += 1;
            self.note();
        }
        sent
    }

    /// Takes all messages out, in their order.
    pub fn take_all(&mut self) -> VecDeque<M> {
        let all = std::mem::take(&mut *self.queue);
        self.note();
        all
    }

    /// Takes out the first message that `is_wanted` accepts.
    pub fn take(&mut self, is_wanted: impl FnMut(&M) -> bool) -> Option<M> {
        let at = self.queue.iter().position(is_wanted)?;
        let taken = self.queue.remove(at);
        self.note();
        taken
    }

    /// Returns true if no message waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn note(&self) {
        // Release: pairs with the Acquire in `is_empty`.
        self.waiting.store(self.queue.len(), Ordering::Release);
    }
}
