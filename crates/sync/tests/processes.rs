//! The doorbell between two processes that share memory.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::barrier;
use heddle_sync::{Doorbell, Scope};

const ROUNDS: u64 = 2_000;

/// One direction: the number of events so far, and the doorbell of the process that waits for the next.
#[repr(C)]
struct Line {
    doorbell: Doorbell,
    count: AtomicU64,
}

impl Line {
    fn announce(&self, round: u64) {
        self.count.store(round, Ordering::Release);
        self.doorbell.ring(Scope::Machine);
    }

    fn await_round(&self, round: u64) {
        if self.count.load(Ordering::Acquire) < round {
            self.doorbell.sleep_until(Scope::Machine, || self.count.load(Ordering::Acquire) >= round);
        }
    }
}

#[test]
fn no_wake_up_is_lost_between_processes() {
    barrier::register();
    // SAFETY: an anonymous mapping at an address of the kernel's choice.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            2 * size_of::<Line>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: the mapping is page-aligned, large enough, never unmapped, and zeros are valid lines.
    let lines = unsafe { &*memory.cast::<[Line; 2]>() };
    let [ping, pong] = lines;
    // SAFETY: the child touches only the mapping and makes system calls, then leaves by _exit.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        for round in 1..=ROUNDS {
            ping.await_round(round);
            pong.announce(round);
        }
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    for round in 1..=ROUNDS {
        ping.announce(round);
        pong.await_round(round);
    }
    let mut status = -1;
    // SAFETY: waits for the child made above; `status` lives here.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0));
}
