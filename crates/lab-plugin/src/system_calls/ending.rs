//! Threads that end.
//!
//! qemu clears the word by which others wait for the thread's end after the last callback, and uses the
//! thread's memory until then. Whoever waits may unmap that memory, or begin a thread there. So a thread of
//! the plugin keeps the token until the host's thread is gone, and only then wakes those that wait.

use super::futex;
use super::program::write;
use crate::guest::{self, Running};
use std::io;
use std::mem::MaybeUninit;
use std::thread;
use std::time::{Duration, Instant};

/// How long the host may take to end a thread.
const PATIENCE: Duration = Duration::from_secs(60);

/// The running thread ends.
pub(super) fn end_thread(running: &mut Running<'_>) {
    let pid = running.process.pid;
    // SAFETY: it cannot fail.
    let tid = unsafe { libc::gettid() };
    // The first thread's number stays until the process ends.
    if pid == tid || without_signals(|| thread::Builder::new().spawn(move || bury(pid, tid))).is_err() {
        let word = running.guest.tid_address;
        if word != 0 {
            // SAFETY: the program has named it for this.
            unsafe { write(word, 0_u32) };
        }
        wake_and_end(running);
    }
}

/// Waits until the host's thread is gone; the machine stands still meanwhile.
fn bury(pid: libc::pid_t, tid: libc::pid_t) {
    let began = Instant::now();
    // SAFETY: the signal 0 only asks whether there is such a thread.
    while unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, 0) } == 0 {
        if began.elapsed() > PATIENCE {
            eprintln!("heddle lab: qemu does not end a thread");
            std::process::abort();
        }
        thread::sleep(Duration::from_micros(20));
    }
    // SAFETY: the thread that has ended held the token, and has left it to this one.
    wake_and_end(&mut unsafe { guest::running() });
}

fn wake_and_end(running: &mut Running<'_>) {
    let word = running.guest.tid_address;
    if word != 0 {
        futex::wake(running, word, u32::MAX, u32::MAX);
    }
    running.guest.thread.end(running.lab);
}

/// Starts a thread that gets no signals of the program: qemu's handlers want a thread of the program.
fn without_signals<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: it fills the set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: a set that was filled, and a place for the old one.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let started = start();
    // SAFETY: the call before has stored it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    started
}
