//! Giving up the processor, and a cheap name for the calling thread.

/// The low bits of every [`current_id`] are zero: identities are multiples of this.
pub const ID_STEP: u64 = 16;

/// Lets another runnable thread have this core (`sched_yield`).
#[inline]
pub fn yield_now() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// The hardware thread that the caller runs on now, by the kernel's number; it may be outdated when it arrives. Under
/// `loom`, the number of the calling thread.
#[inline]
#[must_use]
pub fn hardware_thread() -> usize {
    #[cfg(not(loom))]
    {
        // SAFETY: takes nothing and writes nothing of ours.
        let number = unsafe { libc::sched_getcpu() };
        // A kernel that does not tell (-1) leaves one place for all: slower, never wrong.
        usize::try_from(number).unwrap_or(0)
    }
    #[cfg(loom)]
    {
        // The one number of a model's thread that is the same in every execution; loom shows it only in text.
        let text = format!("{:?}", loom::thread::current().id());
        text.chars().filter(char::is_ascii_digit).fold(0, |n, digit| n * 10 + (digit as usize - '0' as usize))
    }
}

/// A token of the calling thread: never zero, a multiple of [`ID_STEP`], different for all threads of this process
/// that live at the same time. A thread that starts after another ended may get the ended one's token.
///
/// One instruction on x86-64 and aarch64 (the thread pointer of the ABI), the address of a thread-local elsewhere.
#[inline(always)]
pub fn current_id() -> u64 {
    imp::current_id()
}

// Under the thread sanitizer a token must not be reused: it cannot know that the old thread's end comes before the
// new one's start.
#[cfg(all(not(loom), not(tsan), not(miri), target_env = "gnu", target_arch = "x86_64"))]
mod imp {
    #[inline(always)]
    pub(super) fn current_id() -> u64 {
        let id: u64;
        // SAFETY: the x86-64 psABI stores the thread pointer (the address of the thread's control block, aligned to
        // 64 bytes by glibc) at %fs:0; this only reads it.
        unsafe {
            std::arch::asm!("mov {}, fs:0", out(reg) id, options(nostack, preserves_flags, pure, readonly))
        };
        id
    }
}

#[cfg(all(not(loom), not(tsan), not(miri), target_env = "gnu", target_arch = "aarch64"))]
mod imp {
    #[inline(always)]
    pub(super) fn current_id() -> u64 {
        let id: u64;
        // SAFETY: reads the thread pointer register, which glibc sets to an address aligned to 16 bytes or more.
        unsafe {
            std::arch::asm!("mrs {}, tpidr_el0", out(reg) id, options(nostack, preserves_flags, pure, nomem))
        };
        id
    }
}

#[cfg(all(
    not(loom),
    any(tsan, miri, not(target_env = "gnu"), not(any(target_arch = "x86_64", target_arch = "aarch64")))
))]
mod imp {
    use super::ID_STEP;
    use crate::atomic::{AtomicU64, Ordering};

    static NEXT: AtomicU64 = AtomicU64::new(ID_STEP);

    thread_local! {
        static ID: u64 = NEXT.fetch_add(ID_STEP, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn current_id() -> u64 {
        ID.with(|id| *id)
    }
}

#[cfg(loom)]
mod imp {
    use super::ID_STEP;
    use std::cell::Cell;

    // All of a model's threads run on one thread of the machine, so this counter is theirs together, and no step of
    // the model.
    std::thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(ID_STEP) };
    }

    loom::thread_local! {
        static ID: u64 = NEXT.with(|next| next.replace(next.get() + ID_STEP));
    }

    pub(super) fn current_id() -> u64 {
        ID.with(|id| *id)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;

    #[test]
    fn identities_of_live_threads_differ() {
        let all_alive = Barrier::new(32);
        let ids: HashSet<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..32)
                .map(|_| {
                    scope.spawn(|| {
                        let id = current_id();
                        all_alive.wait();
                        assert_eq!(id, current_id());
                        id
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("thread")).collect()
        });
        assert_eq!(ids.len(), 32);
        assert!(ids.iter().all(|id| *id != 0 && id % ID_STEP == 0));
    }
}
