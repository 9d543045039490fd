//! Steps that one process at a time takes at a target: accumulates in its accumulate lock,
//! requests to its window thread.

use crate::control::{BOUNCE, LONGEST_PARK, POLLS, wait};
use crate::service::{ASKED, DONE, IDLE};
use crate::window::Window;
use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::hint::spin_loop;
use heddle_platform::{Scope, futex};

impl Window {
    /// Lets the thread of a process copy `len` bytes between `address` in its memory and `here`.
    ///
    /// # Safety
    /// The bytes at `address` belong to the target's part of the window; those at `here` are
    /// valid, for reads if `writes`.
    pub(crate) unsafe fn copy_by_thread(
        &self,
        rank: usize,
        writes: bool,
        address: u64,
        here: *mut u8,
        len: usize,
    ) {
        let desk = self.control(rank).desk();
        for at in (0..len).step_by(BOUNCE) {
            let part = BOUNCE.min(len - at);
            self.in_lock(rank, desk.lock, || {
                if writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has room.
                    unsafe { desk.bounce.copy_from(here.wrapping_add(at), part) };
                }
                desk.writes.store(u64::from(writes), Ordering::Relaxed);
                desk.address.store(address.wrapping_add(at as u64), Ordering::Relaxed);
                desk.len.store(part as u64, Ordering::Relaxed);
                desk.state.store(ASKED, Ordering::SeqCst);
                futex::wake(desk.state, futex::ALL, Scope::Machine);
                wait_until_done(self.domain(), desk.state);
                if !writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has the data.
                    unsafe { here.wrapping_add(at).copy_from(desk.bounce, part) };
                }
                desk.state.store(IDLE, Ordering::SeqCst);
            });
        }
    }

    /// Runs `change` while no other thread and no other process holds a lock word of a process.
    pub(crate) fn in_lock<R>(&self, rank: usize, lock: &AtomicU64, change: impl FnOnce() -> R) -> R {
        let control = self.control(rank);
        wait(self.domain(), control.event(), || {
            // Sequentially consistent: the check of a thread that is about to sleep.
            lock.load(Ordering::SeqCst) == 0
                && lock.compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        });
        let result = change();
        lock.store(0, Ordering::SeqCst);
        control.event().wake(Scope::Machine);
        result
    }
}

fn wait_until_done(domain: &Domain, state: &AtomicU32) {
    loop {
        for _ in 0..POLLS {
            if state.load(Ordering::SeqCst) == DONE {
                return;
            }
            spin_loop();
        }
        let woken = domain.calls().outside(|| futex::wait(state, ASKED, Some(LONGEST_PARK), Scope::Machine));
        if !woken && !domain.is_offloaded() {
            domain.poll_everywhere();
        }
    }
}
