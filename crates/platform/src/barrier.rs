//! An asymmetric fence: free for the many, dear for the few.
//!
//! Two sides write one word each and then read the other's (Dekker's handshake). For at least one of them to
//! see the other, both need a full fence between their write and their read. When one side runs a million
//! times a second and the other once in a while, the frequent side calls [`light`] and the rare side
//! [`heavy`]: `heavy` makes every thread of the [`Scope`] that runs at that moment pass a full fence
//! (`membarrier`, an interrupt to the other cores, about 12 µs when they are busy), so `light` only has to
//! keep the compiler from reordering.
//!
//! **Guarantee.** If thread A does `x = 1; light(); read y` and thread B does `y = 1; heavy(scope); read x`,
//! with A within B's scope, then A reads 1 or B reads 1 (or both). Two `light` sides guarantee nothing.
//!
//! | state | `light` | `heavy` | left by |
//! |---|---|---|---|
//! | `UNKNOWN` | full fence | registers first | [`register`] |
//! | `FENCES`: the kernel has no membarrier | full fence | full fence | never |
//! | `ASYMMETRIC` | compiler fence | membarrier | [`force_fences`] |
//! | `FORCED` | full fence | membarrier | never |
//!
//! A thread may act on an outdated state: a `light` that still fences is only slower, and `heavy` stays a
//! membarrier once any `light` may have been a compiler fence.
//!
//! **Between processes** the kernel interrupts those that registered, so every process that shares memory
//! calls [`register`] before it touches it. If one of them finds [`is_asymmetric`] false (a container may
//! filter the system call), its `heavy` reaches no other process: then all of them call [`force_fences`].

//!
//! **A kernel that refuses later.** A filter of system calls that the program sets meanwhile may refuse
//! `membarrier`. Then `heavy` visits each core (`core_visits.rs`).

use crate::Scope;
use crate::atomic::{Ordering, fence};

/// The frequent side: orders the caller's earlier writes before its later reads as seen by a thread that
/// calls [`heavy`] between its own write and read.
#[inline(always)]
pub fn light() {
    #[cfg(not(loom))]
    hardware::light();
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// The frequent side of a handshake that takes place only if [`is_asymmetric`] has been true in this
/// process, and between processes in each that takes part: then `heavy` is a membarrier for good, and a
/// compiler fence suffices here, also in the state `FORCED`.
#[inline(always)]
pub fn light_if_asymmetric() {
    #[cfg(not(loom))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// Orders a sequentially consistent read-modify-write before the caller's later sequentially consistent
/// loads. On the machine the two are in order already; the model checker, which takes such accesses for
/// weaker ones, needs a fence.
#[inline(always)]
pub fn after_locked() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// The rare side: see the [module](self). Costs up to tens of microseconds.
#[cold]
pub fn heavy(scope: Scope) {
    #[cfg(not(loom))]
    hardware::heavy(scope);
    #[cfg(loom)]
    let _ = scope;
    fence(Ordering::SeqCst);
}

/// Finds out once what the kernel offers and registers this process for it; later calls cost a load. Until
/// then [`light`] is a full fence.
pub fn register() {
    #[cfg(not(loom))]
    hardware::register();
}

/// Returns true if [`light`] is (nearly) free here. Registers if no thread has.
#[must_use]
pub fn is_asymmetric() -> bool {
    #[cfg(not(loom))]
    return hardware::is_asymmetric();
    #[cfg(loom)]
    true
}

/// Makes [`light`] a full fence in this process from now on, for the case that another process that shares
/// memory with it has no membarrier.
pub fn force_fences() {
    #[cfg(not(loom))]
    hardware::force_fences();
}

#[cfg(not(loom))]
mod hardware {
    use super::{Ordering, Scope, fence};
    use crate::atomic::AtomicU8;
    use crate::core_visits;
    use std::io;

    /// No thread has asked the kernel yet.
    const UNKNOWN: u8 = 0;
    /// The kernel has no expedited membarrier.
    const FENCES: u8 = 1;
    /// Registered: `light` is a compiler fence.
    const ASYMMETRIC: u8 = 2;
    /// Registered, but some other process is not.
    const FORCED: u8 = 3;

    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline(always)]
    pub(super) fn light() {
        if STATE.load(Ordering::Relaxed) == ASYMMETRIC {
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            std::hint::cold_path();
            fence(Ordering::SeqCst);
        }
    }

    pub(super) fn heavy(scope: Scope) {
        if STATE.load(Ordering::Acquire) == UNKNOWN {
            register();
        }
        if STATE.load(Ordering::Acquire) == FENCES {
            return;
        }
        let command = match scope {
            Scope::Process => libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED,
            Scope::Machine => libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED,
        };
        // The registration belongs to the address space. A child made by fork inherits it; should a kernel
        // not do that, asking again mends it.
        if membarrier(command).is_err()
            && (!ask_kernel() || membarrier(command).is_err())
            && let Err(error) = core_visits::visit_all()
        {
            // Going on would break mutual exclusion without a trace, and no caller could handle the error.
            eprintln!(
                "heddle: membarrier was available when this process started and now fails: {}. \
                 Stopping, since memory order can no longer be guaranteed.",
                error
            );
            std::process::abort();
        }
    }

    pub(super) fn register() {
        if STATE.load(Ordering::Acquire) == UNKNOWN {
            let found = if ask_kernel() { ASYMMETRIC } else { FENCES };
            // A thread that lost the race found the same, and FORCED must not be undone.
            let _ = STATE.compare_exchange(UNKNOWN, found, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    pub(super) fn is_asymmetric() -> bool {
        register();
        STATE.load(Ordering::Relaxed) == ASYMMETRIC
    }

    pub(super) fn force_fences() {
        register();
        let _ = STATE.compare_exchange(ASYMMETRIC, FORCED, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Registers for both scopes; false if the kernel lacks one of them.
    fn ask_kernel() -> bool {
        let wanted = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED | libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED;
        // Miri has no such call.
        !cfg!(miri)
            && membarrier(libc::MEMBARRIER_CMD_QUERY).is_ok_and(|offered| offered & wanted == wanted)
            && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED).is_ok()
            && membarrier(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED).is_ok()
    }

    fn membarrier(command: libc::c_int) -> io::Result<libc::c_int> {
        // SAFETY: membarrier takes a command and flags and touches no memory of the caller.
        let rc = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
        match libc::c_int::try_from(rc) {
            Ok(value) if value >= 0 => Ok(value),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::atomic::AtomicU64;

    #[test]
    fn one_side_always_sees_the_other() {
        sees_the_other(2_000, heavy);
    }

    #[test]
    fn visits_of_all_cores_serve_as_well() {
        let visit = |_| crate::core_visits::visit_all().expect("the kernel lets threads be bound");
        sees_the_other(200, visit);
    }

    /// Dekker's handshake, many rounds: never may both sides miss each other.
    fn sees_the_other(rounds: u64, heavy: impl Fn(Scope)) {
        /// No answer yet in this round.
        const OPEN: u64 = u64::MAX;
        register();
        for scope in [Scope::Process, Scope::Machine] {
            let (x, y, round_begun, answer) =
                (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(OPEN));
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    for round in 1..=rounds {
                        while round_begun.load(Ordering::Acquire) != round {
                            crate::thread::yield_now();
                        }
                        x.store(round, Ordering::Relaxed);
                        light();
                        answer.store(y.load(Ordering::Relaxed), Ordering::Release);
                    }
                });
                for round in 1..=rounds {
                    answer.store(OPEN, Ordering::Relaxed);
                    round_begun.store(round, Ordering::Release);
                    y.store(round, Ordering::Relaxed);
                    heavy(scope);
                    let seen_x = x.load(Ordering::Relaxed);
                    let mut seen_y = answer.load(Ordering::Acquire);
                    while seen_y == OPEN {
                        crate::thread::yield_now();
                        seen_y = answer.load(Ordering::Acquire);
                    }
                    assert!(seen_x == round || seen_y == round, "round {round}, {scope:?}: both missed");
                }
            });
        }
    }
}
