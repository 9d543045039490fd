//! Claims that are interrupted, revoked, inherited and refused.

use super::*;
use crate::atomic::{AtomicU64, Ordering};
use crate::background;
use std::sync::Arc;

/// On the core where the thread is bound to be. `None` where no claim is possible.
fn on_core(core: usize, body: impl FnOnce() + Send + 'static) -> Option<()> {
    is_supported().then(|| {
        background::start("claims", Some(core), body).expect("a thread").join().expect("it ends");
    })
}

/// Interruptions make a claim fail, but not for ever.
fn claims_in_the_end(core: &AtomicU32, flag: &AtomicU32) {
    while !claim(core, flag) {}
}

#[test]
fn only_the_core_that_is_named_claims_a_flag_that_is_down() {
    for core in background::allowed_cores() {
        on_core(core, move || {
            let here = u32::try_from(core).expect("a core");
            let flag = AtomicU32::new(0);
            for other in [here + 1, here | 1 << 30, 1 << 31] {
                assert!(!(0..100).any(|_| claim(&AtomicU32::new(other), &flag)));
            }
            claims_in_the_end(&AtomicU32::new(here), &flag);
            assert_eq!(flag.load(Ordering::Relaxed), 1);
            assert!(!(0..100).any(|_| claim(&AtomicU32::new(here), &flag)), "the flag is up");
        });
    }
}

/// The words that the handler below shares with the thread that it interrupts.
struct Interrupted {
    core: AtomicU32,
    flag: AtomicU32,
    /// 1 while the handler, in place of another thread of the core, has raised the flag.
    by_handler: AtomicU32,
    signals: AtomicU32,
}

static INTERRUPTED: Interrupted = Interrupted {
    core: AtomicU32::new(0),
    flag: AtomicU32::new(0),
    by_handler: AtomicU32::new(0),
    signals: AtomicU32::new(0),
};

extern "C" fn raise_the_flag(_: libc::c_int) {
    let words = &INTERRUPTED;
    if words.flag.load(Ordering::Relaxed) == 0 {
        words.flag.store(1, Ordering::Relaxed);
        words.by_handler.store(1, Ordering::Relaxed);
    }
    words.signals.fetch_add(1, Ordering::Release);
}

/// A thread is interrupted at any instruction, and the flag is raised meanwhile: its claim has to fail.
#[test]
fn an_interrupted_claim_fails() {
    // Where both threads have one core, each takes a time slice.
    const SIGNALS: u32 = 500;
    if !is_supported() {
        return;
    }
    // SAFETY: zeros are a valid sigaction: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = raise_the_flag as *const () as libc::sighandler_t;
    // SAFETY: the handler only touches atomics; no other test uses this signal.
    assert_eq!(unsafe { libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()) }, 0);
    let words = &INTERRUPTED;
    let (pthread, misses) = (AtomicU64::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: asks for the caller's own name.
            pthread.store(unsafe { libc::pthread_self() }, Ordering::Release);
            while words.signals.load(Ordering::Relaxed) < SIGNALS {
                words.core.store(crate::thread::hardware_thread() as u32, Ordering::Relaxed);
                for _ in 0..100 {
                    // The handler raises the flag only while it is down, so not after a claim.
                    let has_claimed = claim(&words.core, &words.flag);
                    if has_claimed && words.by_handler.load(Ordering::Relaxed) == 1 {
                        misses.fetch_add(1, Ordering::Relaxed);
                    }
                    // In this order: a handler between the two leaves the flag up.
                    words.flag.store(0, Ordering::Relaxed);
                    words.by_handler.store(0, Ordering::Release);
                }
            }
        });
        while pthread.load(Ordering::Acquire) == 0 {
            crate::thread::yield_now();
        }
        for sent in 0..SIGNALS {
            // SAFETY: the thread lives until it has had all signals.
            let rc = unsafe { libc::pthread_kill(pthread.load(Ordering::Relaxed), libc::SIGUSR2) };
            assert_eq!(rc, 0);
            while words.signals.load(Ordering::Acquire) == sent {
                crate::thread::yield_now();
            }
        }
    });
    assert_eq!(misses.into_inner(), 0, "claims that did not notice an interruption");
}

/// A core claims without end, and another takes the right to it away, many times: then nobody claims.
#[test]
fn after_a_barrier_nobody_claims() {
    const ROUNDS: u32 = 20_000;
    const NOBODY: u32 = 1 << 31;
    let cores = background::allowed_cores();
    if !is_supported() || cores.len() < 2 {
        return;
    }
    let owner = u32::try_from(cores[1]).expect("a core");
    /// On lines of their own, so that a look at the flag does not wait for the core's number to be written.
    #[repr(align(128))]
    struct Line(AtomicU32);
    let words = Arc::new([owner, 0, 0].map(|value| Line(AtomicU32::new(value))));
    let late = Arc::new(AtomicU32::new(0));
    let claimer = {
        let words = Arc::clone(&words);
        let body = move || {
            let [Line(core), Line(flag), Line(is_over)] = &*words;
            while is_over.load(Ordering::Relaxed) == 0 {
                if claim(core, flag) {
                    flag.store(0, Ordering::Release);
                }
            }
        };
        background::start("claims", Some(cores[1]), body).expect("a thread")
    };
    let revoker = {
        let late = Arc::clone(&late);
        let body = move || {
            let [Line(core), Line(flag), Line(is_over)] = &*words;
            for _ in 0..ROUNDS {
                core.store(NOBODY, Ordering::Relaxed);
                barrier(owner);
                while flag.load(Ordering::Acquire) != 0 {
                    crate::thread::yield_now();
                }
                let seen: u32 = (0..100).map(|_| flag.load(Ordering::Relaxed)).sum();
                late.fetch_add(seen, Ordering::Relaxed);
                core.store(owner, Ordering::Relaxed);
                (0..50).for_each(|_| crate::hint::spin_loop());
            }
            is_over.store(1, Ordering::Relaxed);
        };
        background::start("revokes", Some(cores[0]), body).expect("a thread")
    };
    revoker.join().expect("it ends");
    claimer.join().expect("it ends");
    assert_eq!(late.load(Ordering::Relaxed), 0, "claims that came after a barrier");
}

#[test]
fn a_forked_child_claims_and_passes_the_barrier() {
    if !is_supported() {
        return;
    }
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let (core, flag) = (AtomicU32::new(0), AtomicU32::new(0));
        while !claim(&core, &flag) {
            core.store(crate::thread::hardware_thread() as u32, Ordering::Relaxed);
        }
        barrier(0);
        // SAFETY: ends the child without running anything of the test's.
        unsafe { libc::_exit(42) };
    }
    let mut status = 0;
    // SAFETY: the child of this test, and a number of ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 42));
}

// Under ThreadSanitizer an identity is not the thread pointer.
#[cfg(not(tsan))]
#[test]
fn a_thread_without_registration_claims_nothing() {
    let Some(offset) = crate::rseq::offset().filter(|_| is_supported()) else { return };
    std::thread::spawn(move || {
        let area = (crate::thread::current_id().cast_signed() + offset) as *mut libc::c_void;
        /// RSEQ_FLAG_UNREGISTER, and glibc's signature.
        const UNREGISTER: (libc::c_int, libc::c_int) = (1, 0x5305_3053);
        // glibc registers 32 bytes, or as many as the kernel has features for.
        let is_gone = [32, 28, 20, 24, 33].into_iter().any(|size: libc::c_int| {
            // SAFETY: takes back this thread's own registration; the thread ends soon.
            unsafe { libc::syscall(libc::SYS_rseq, area, size, UNREGISTER.0, UNREGISTER.1) == 0 }
        });
        if is_gone {
            let flag = AtomicU32::new(0);
            let cores = 0..4096;
            assert!(!cores.map(AtomicU32::new).any(|core| claim(&core, &flag)));
        }
    })
    .join()
    .expect("it ends");
}
