//! Whose turn it is, and how the turn goes from thread to thread.
//!
//! All threads of a machine stand on one core of the host. A hand-over is a wake-up and a wait: the system
//! then changes to the woken thread, since no other can run.

use super::limits::SLOTS;
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
