//! The window thread: it copies for other processes from and to private memory of its own process, where the
//! kernel forbids single copies between processes. It exists only for windows in which a process needs it,
//! and sleeps while nobody asks.
//!
//! A process that asks is alone: it holds the service lock of the target. It copies its data to the bounce
//! buffer in the target's control block, or lets the thread copy data there:
//!
//! | state | written by | then |
//! |---|---|---|
//! | `IDLE` | the process that asked, when it has its answer | the next one may ask |
//! | `ASKED` | a process, after the request | the thread copies |
//! | `DONE` | the thread, after the copy | the process goes on |
//! | `ENDED` | the thread's process, when the window is freed | the thread ends |

use crate::control::{Control, LONGEST_PARK, POLLS};
use crate::window::Window;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::hint::spin_loop;
use heddle_platform::{Scope, background, futex};
use heddle_spec::constants as mpi;
use std::thread::JoinHandle;

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const DONE: u32 = 2;
const ENDED: u32 = 3;

/// The words of the service in a control block.
pub(crate) struct Desk<'a> {
    pub(crate) lock: &'a AtomicU64,
    pub(crate) state: &'a AtomicU32,
    pub(crate) writes: &'a AtomicU64,
    pub(crate) address: &'a AtomicU64,
    pub(crate) len: &'a AtomicU64,
    pub(crate) bounce: *mut u8,
}

/// Bytes of the bounce buffer.
pub(crate) const BOUNCE: usize = 16 << 10;

/// The thread of a process for one window.
#[derive(Debug)]
pub(crate) struct WindowThread {
    /// A mapping of the process's control block.
    thread: Option<JoinHandle<()>>,
}

impl WindowThread {
    /// Starts it, with a control block of this process mapped for it.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if there is no thread to be had.
    pub(crate) fn start(control: Control) -> Result<WindowThread> {
        let thread = background::start("heddle-window", None, move || serve(&control.desk()));
        let thread = thread.map_err(|error| {
            let message =
                format!("the thread that serves a window over private memory cannot be started: {error}");
            Error::new(mpi::MPI_ERR_OTHER, message)
        })?;
        Ok(WindowThread { thread: Some(thread) })
    }

    /// Ends it. Nobody asks any more.
    pub(crate) fn end(&mut self, own: &Control) {
        if let Some(thread) = self.thread.take() {
            let desk = own.desk();
            desk.state.store(ENDED, Ordering::SeqCst);
            futex::wake(desk.state, futex::ALL, Scope::Machine);
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

fn serve(desk: &Desk<'_>) {
    loop {
        match desk.state.load(Ordering::SeqCst) {
            ENDED => return,
            ASKED => {
                let len = desk.len.load(Ordering::Relaxed) as usize;
                let there = std::ptr::with_exposed_provenance_mut::<u8>(
                    desk.address.load(Ordering::Relaxed) as usize
                );
                let (from, to) = match desk.writes.load(Ordering::Relaxed) {
                    0 => (there, desk.bounce),
                    _ => (desk.bounce, there),
                };
                // SAFETY: the process that asked has checked that the data lies in this process's part of the
                // window, and the bounce buffer is as long as a request may be.
                unsafe { to.copy_from(from, len.min(BOUNCE)) };
                desk.state.store(DONE, Ordering::SeqCst);
                futex::wake(desk.state, futex::ALL, Scope::Machine);
            }
            state => {
                futex::wait(desk.state, state, None, Scope::Machine);
            }
        }
    }
}

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
        control.wait(self.domain(), self.own(), || {
            lock.load(Ordering::Relaxed) == 0
                && lock.compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        });
        let result = change();
        lock.store(0, Ordering::SeqCst);
        control.changed(self.controls());
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
