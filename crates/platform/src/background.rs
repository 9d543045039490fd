//! Threads that the library starts in a program that does not know of them: the program's signals are not
//! delivered to them, and they may be put on a core.

use crate::per_process::in_this_process;
use std::io;
use std::mem::MaybeUninit;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

/// How many hardware threads a set of the kernel's can name.
pub const MOST_CORES: usize = libc::CPU_SETSIZE as usize;

/// Starts a thread of the caller's process of that name, on which no signal is handled; if `core` is given,
/// on the hardware thread of that number of the kernel's.
///
/// # Errors
///
/// If the system has no thread to give, or the thread may not run there.
pub fn start(
    name: &str,
    core: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let body = in_this_process(body);
    let (tell, told) = mpsc::channel();
    let thread = without_signals(|| {
        Builder::new().name(name.to_owned()).spawn(move || {
            let bound = core.map_or(Ok(()), bind);
            let runs = bound.is_ok();
            if tell.send(bound).is_ok() && runs {
                body();
            }
        })
    })?;
    // A thread that cannot tell has not come so far.
    let bound = told.recv().unwrap_or_else(|_| Err(io::Error::other("the thread has ended")));
    bound.map(|()| thread)
}

/// The signals of what a thread itself does. They stay open: a thread of the library may be the first to
/// touch memory whose pages the program opens in a handler, and the kernel would end a process that blocks
/// them.
const OF_THE_THREAD: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

/// Blocks all signals but those [of the thread](OF_THE_THREAD) meanwhile: a new thread begins with its
/// creator's mask.
fn without_signals<R>(start: impl FnOnce() -> R) -> R {
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: writes one set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    for signal in OF_THE_THREAD {
        // SAFETY: a set that was written.
        unsafe { libc::sigdelset(all.as_mut_ptr(), signal) };
    }
    // SAFETY: a set that was written, and room for one. It fails only for a wrong first argument.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let result = start();
    // SAFETY: the set that was in force.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

/// From now on the calling thread runs on the hardware thread of that number of the kernel's.
///
/// # Errors
///
/// If the number is no hardware thread's on which it may run.
pub fn bind(core: usize) -> io::Result<()> {
    if core >= MOST_CORES {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: below the set's size.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: a set of that size; 0 is the calling thread.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The kernel's numbers of the hardware threads on which the calling thread may run.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: room for a set of that size. If it fails, the set stays empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    // SAFETY: below the set's size.
    (0..MOST_CORES).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// How many hardware threads the system has online, whether or not the process may run on them.
#[must_use]
pub fn online_cores() -> usize {
    // SAFETY: reads a number of the system's.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(online).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::hardware_thread;

    #[test]
    fn a_thread_runs_where_it_is_told() {
        for core in allowed_cores() {
            let (tell, told) = mpsc::channel();
            let body = move || tell.send((hardware_thread(), allowed_cores())).expect("the test listens");
            start("placed", Some(core), body).expect("a thread").join().expect("it ends");
            assert_eq!(told.recv(), Ok((core, vec![core])));
        }
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error_and_nothing_runs() {
        let error = start("nowhere", Some(MOST_CORES - 1), || panic!("it runs")).expect_err("no such core");
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        assert!(start("nowhere", Some(usize::MAX), || panic!("it runs")).is_err());
    }

    #[test]
    fn signals_stay_with_the_program() {
        let blocks = |signal| {
            let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
            // SAFETY: room for one set; nothing is changed.
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr()) };
            // SAFETY: written just now.
            unsafe { libc::sigismember(set.as_ptr(), signal) == 1 }
        };
        let before = blocks(libc::SIGALRM);
        start("deaf", None, move || {
            assert!(blocks(libc::SIGALRM));
            assert!(!OF_THE_THREAD.into_iter().any(blocks));
        })
        .expect("a thread")
        .join()
        .expect("the program's signals are blocked, and no others");
        assert_eq!(blocks(libc::SIGALRM), before);
    }
}
