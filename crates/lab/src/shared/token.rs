//! Whose turn it is, and how the turn goes from thread to thread.
//!
//! All threads of a machine stand on one core of the host. A hand-over is a wake-up and a wait: the system
//! then changes to the woken thread, since no other can run.

use super::{NONE, NextHolder, SLOTS, SharedLab, State};
use heddle_platform::atomic::Ordering::{Acquire, Relaxed, Release};
use heddle_platform::{Scope, atomic::AtomicU32, futex};
use std::time::Duration;

/// The holder's number when the supervisor holds the token.
pub const SUPERVISOR: u32 = SLOTS as u32;

/// The token: its holder, and a word for each who waits for it.
#[repr(C)]
#[derive(Debug)]
pub struct Token {
    holder: AtomicU32,
    /// 1 when the token has come.
    words: [AtomicU32; SLOTS + 1],
}

impl Token {
    /// Who holds it.
    #[must_use]
    pub fn holder(&self) -> u32 {
        self.holder.load(Acquire)
    }

    /// Marks `to` as the holder, who does not wait.
    pub fn give_to(&self, to: u32) {
        self.holder.store(to, Release);
    }

    /// Hands the token to `to`, who waits for it or soon will.
    pub fn hand_to(&self, to: u32) {
        self.give_to(to);
        let word = &self.words[to as usize];
        word.store(1, Release);
        futex::wake(word, 1, Scope::Machine);
    }

    /// Waits until the token comes to `mine`, or for `longest`. True if it has come.
    pub fn wait_for(&self, mine: u32, longest: Duration) -> bool {
        let word = &self.words[mine as usize];
        if word.load(Acquire) == 0 {
            futex::wait(word, 0, Some(longest), Scope::Machine);
        }
        word.swap(0, Acquire) != 0
    }

    /// Waits until the token comes to `mine`.
    pub fn wait(&self, mine: u32) {
        let word = &self.words[mine as usize];
        while word.load(Acquire) == 0 {
            futex::wait(word, 0, None, Scope::Machine);
        }
        word.store(0, Relaxed);
    }
}

impl SharedLab {
    /// Hands the token to whoever is next, and comes back when it is `mine` again. True if another had it in
    /// between.
    pub fn hand_over(&mut self, mine: u32) -> bool {
        let next = self.next_holder(false);
        if next == mine {
            return false;
        }
        self.passes += 1;
        self.token.hand_to(next);
        self.token.wait(mine);
        true
    }

    /// Hands the token to whoever is next, for good: the thread ends.
    pub fn hand_on(&mut self) {
        let next = self.next_holder(false);
        self.passes += 1;
        self.token.hand_to(next);
    }

    /// For the supervisor: hands the token to whoever is next. False if nobody can run; then the token stays.
    pub fn let_run(&mut self) -> bool {
        let next = self.next_holder(true);
        if next == SUPERVISOR {
            return false;
        }
        self.passes += 1;
        self.token.hand_to(next);
        true
    }

    /// For the supervisor: hands the token to the thread in `slot`, which waits for something outside, to
    /// look whether it has come.
    pub fn ask(&mut self, slot: u32) {
        self.asking = 1;
        self.token.hand_to(slot);
    }

    /// The supervisor asks no more.
    pub fn end_asking(&mut self) {
        self.asking = 0;
    }

    /// Whether the supervisor asks.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.asking != 0
    }

    /// The answer of the thread in `slot`: back to the supervisor, until it is asked again or its turn comes.
    pub fn answer(&mut self, slot: u32) {
        self.token.hand_to(SUPERVISOR);
        self.token.wait(slot);
    }

    fn next_holder(&mut self, is_supervisor: bool) -> u32 {
        let NextHolder::Thread(slot) = self.next(!is_supervisor) else { return SUPERVISOR };
        debug_assert!(slot != NONE && self.slots[slot as usize].state == State::Running);
        self.now = self.now.max(self.clocks[slot as usize]);
        slot
    }
}
