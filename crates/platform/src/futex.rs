//! Sleeping until a 32-bit word changes.
//!
//! The kernel compares and falls asleep in one step, so a waker that first changes the word and then calls
//! [`wake`] is never missed. Under `loom` the same contract is kept by a blocked thread: a wake-up that the
//! algorithm forgets shows as a deadlock.

use crate::Scope;
use crate::atomic::AtomicU32;
use std::time::Duration;

/// How many sleepers [`wake`] wakes: all of them.
pub const ALL: u32 = i32::MAX as u32;

/// Sleeps while `word` holds `expected`, until a [`wake`], the `timeout` or a signal. Spurious returns are
/// allowed, so the caller looks again. Returns false when the time ran out.
///
/// Without a timeout it returns once a second, so that a wake-up which the kernel has refused (a filter of
/// system calls that the program has set) is late, and not lost. Where the kernel refuses to wait, it looks
/// at the word again and again, and rests in between.
///
/// Under `loom` a wait with a timeout returns at once.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
    imp::wait(word, expected, timeout, scope)
}

/// Wakes up to `count` threads that sleep on `word`; returns how many there were (0 under `loom`, which does
/// not say).
pub fn wake(word: &AtomicU32, count: u32, scope: Scope) -> u32 {
    #[cfg(all(feature = "played-processes", not(loom)))]
    if losses::is_lost() {
        return 0;
    }
    imp::wake(word, count, scope)
}

#[cfg(all(feature = "played-processes", not(loom)))]
pub use losses::{lose_wakes, wakes_to_lose};

/// Wake-ups that tests lose.
#[cfg(all(feature = "played-processes", not(loom)))]
mod losses {
    use std::cell::Cell;

    thread_local! {
        static TO_LOSE: Cell<u32> = const { Cell::new(0) };
    }

    /// The next `number` calls of [`wake`](super::wake) by the calling thread reach nobody.
    pub fn lose_wakes(number: u32) {
        TO_LOSE.set(number);
    }

    /// How many of them are left.
    #[must_use]
    pub fn wakes_to_lose() -> u32 {
        TO_LOSE.get()
    }

    pub(super) fn is_lost() -> bool {
        let left = TO_LOSE.get();
        TO_LOSE.set(left.saturating_sub(1));
        left > 0
    }
}

#[cfg(not(loom))]
mod imp {
    use super::{AtomicU32, Duration, Scope};
    use crate::atomic::Ordering;
    use std::time::Instant;

    /// The longest sleep of a wait without a timeout.
    const UNTIMED: Duration = Duration::from_secs(1);
    /// The time from one look at the word to the next, where the kernel refuses to wait.
    const REST: Duration = Duration::from_micros(50);

    const fn flags(scope: Scope) -> i32 {
        match scope {
            Scope::Process => libc::FUTEX_PRIVATE_FLAG,
            Scope::Machine => 0,
        }
    }

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
        let longest = timeout.unwrap_or(UNTIMED);
        let time = libc::timespec {
            tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(longest.subsec_nanos().cast_signed()),
        };
        let (operation, time) = (libc::FUTEX_WAIT | flags(scope), &raw const time);
        // SAFETY: the word is alive (borrowed), and so is the time.
        if unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, time) } == 0 {
            return true;
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => true,
            Some(libc::ETIMEDOUT) => timeout.is_none(),
            _ => look_again_and_again(word, expected, longest) || timeout.is_none(),
        }
    }

    /// Does the same without the kernel's futex.
    #[cold]
    pub(super) fn look_again_and_again(word: &AtomicU32, expected: u32, longest: Duration) -> bool {
        let began = Instant::now();
        while word.load(Ordering::Relaxed) == expected {
            let left = longest.saturating_sub(began.elapsed());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(REST.min(left));
        }
        true
    }

    pub(super) fn wake(word: &AtomicU32, count: u32, scope: Scope) -> u32 {
        // SAFETY: the word is alive (borrowed); waking reads no memory of ours.
        let rc =
            unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | flags(scope), count) };
        u32::try_from(rc).unwrap_or(0)
    }
}

#[cfg(loom)]
mod imp {
    use super::{ALL, AtomicU32, Duration, Scope};
    use crate::atomic::Ordering;
    use loom::sync::{Condvar, Mutex};
    use std::collections::HashMap;
    use std::sync::Arc;

    // The kernel's table of sleepers, by address. Its lock orders a waiter's comparison and a waker's call as
    // the kernel's bucket lock does; a waker that never calls wake() does not touch it and so gains no
    // ordering from it.
    loom::lazy_static! {
        static ref SLEEPERS: Mutex<HashMap<usize, Arc<Condvar>>> = Mutex::new(HashMap::new());
    }

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, _: Scope) -> bool {
        if timeout.is_some() {
            loom::thread::yield_now();
            return false;
        }
        let mut table = SLEEPERS.lock().expect("loom's mutexes are not poisoned");
        if word.load(Ordering::Relaxed) != expected {
            return true;
        }
        let queue = Arc::clone(
            table.entry(std::ptr::from_ref(word).addr()).or_insert_with(|| Arc::new(Condvar::new())),
        );
        drop(queue.wait(table));
        true
    }

    pub(super) fn wake(word: &AtomicU32, count: u32, _: Scope) -> u32 {
        let table = SLEEPERS.lock().expect("loom's mutexes are not poisoned");
        if let Some(queue) = table.get(&std::ptr::from_ref(word).addr()) {
            if count == ALL {
                queue.notify_all();
            } else {
                for _ in 0..count {
                    queue.notify_one();
                }
            }
        }
        0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::atomic::Ordering;

    #[test]
    fn a_changed_word_is_not_slept_on() {
        let word = AtomicU32::new(1);
        assert!(wait(&word, 0, None, Scope::Process));
        assert!(wait(&word, 0, Some(Duration::from_secs(1000)), Scope::Machine));
    }

    #[test]
    fn looking_again_and_again_does_the_same() {
        let look = imp::look_again_and_again;
        let word = AtomicU32::new(0);
        assert!(look(&word, 1, Duration::from_secs(1000)));
        assert!(!look(&word, 0, Duration::from_millis(1)));
        std::thread::scope(|threads| {
            threads.spawn(|| word.store(1, Ordering::Release));
            assert!(look(&word, 0, Duration::from_secs(1000)));
        });
    }

    #[test]
    fn time_runs_out() {
        let word = AtomicU32::new(0);
        while wait(&word, 0, Some(Duration::from_millis(1)), Scope::Process) {}
        while wait(&word, 0, Some(Duration::from_millis(1)), Scope::Machine) {}
    }

    #[test]
    fn a_sleeper_is_woken() {
        for scope in [Scope::Process, Scope::Machine] {
            let word = AtomicU32::new(0);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    while word.load(Ordering::Acquire) == 0 {
                        wait(&word, 0, None, scope);
                    }
                });
                word.store(1, Ordering::Release);
                wake(&word, ALL, scope);
            });
        }
    }
}
