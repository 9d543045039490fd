//! A claim that only threads of one core can make, with plain instructions.
//!
//! Threads that run on one core take turns. If the system restarts a thread that was interrupted between two
//! instructions, these two are one step for all threads of the core, and no locked instruction is needed.
//! Linux calls that a *restartable sequence* (`rseq`): the thread names the sequence in memory that it shares
//! with the kernel, and whenever the kernel has preempted or moved the thread, or delivers a signal to it,
//! inside of the sequence, it lets the thread go on at the sequence's abort address. The last instruction,
//! which commits, has then not run.
//!
//! [`claim`] is one such sequence: *if `core` holds the number of the core I run on, and `flag` holds 0,
//! store 1 in `flag`*. [`barrier`] is for a thread of any core that has changed `core` and wants no claim by
//! the old value any more: `membarrier` interrupts the core, which aborts the sequence that runs there.
//!
//! **Guarantee.** Claims on one core happen one after the other. Of a claim on core `c` and a `barrier(c)`,
//! one comes first: either the claim's store is visible to the caller when `barrier` returns, or the claim
//! sees everything that the caller wrote before `barrier`. A claim reads both words with Acquire; its store
//! is Relaxed. A claim may fail although nobody else claims, as its thread may be interrupted each time.
//!
//! **Where it works.** x86-64 with glibc 2.35 or later, and a kernel with membarrier's rseq command
//! (Linux 5.10) that the process may call. Elsewhere [`is_supported`] is false and every claim fails.
//! (On aarch64 the sequence would need two load-acquires and its own signature; it is not written, since
//! it could not be tested.)
//!
//! **When the registration changes.** A thread that takes its registration back, or for which it failed, has
//! a negative number in its area, which is no core's. A child made by `fork` inherits the registration of its
//! only thread and that of the address space; should a kernel not do the latter, [`barrier`] registers once
//! more. A signal handler never sees a half-done claim: the kernel aborts the sequence first. A debugger that
//! goes step by step aborts every claim, so a caller must have another way to what it wants.

use crate::atomic::AtomicU32;

/// Returns true if claims can succeed here. The first call asks the kernel and registers this process.
#[must_use]
pub fn is_supported() -> bool {
    imp::is_supported()
}

/// If `core` holds the number of the core that the caller runs on and `flag` holds 0, stores 1 in `flag`, in
/// one step for all threads of that core. Numbers from 2^30 to 2^31 are no core's and may be stored for none;
/// larger ones may not. See the [module](self).
#[inline(always)]
pub fn claim(core: &AtomicU32, flag: &AtomicU32) -> bool {
    imp::claim(core, flag)
}

/// Puts an order between the caller and every claim on core number `core`; see the [module](self).
#[cold]
pub fn barrier(core: u32) {
    imp::barrier(core);
}

#[cfg(loom)]
#[path = "modelled.rs"]
mod imp;
#[cfg(all(not(loom), not(all(not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64"))))]
#[path = "none.rs"]
mod imp;
#[cfg(all(not(loom), not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[path = "sequence.rs"]
mod imp;

#[cfg(all(test, not(loom)))]
mod tests;
