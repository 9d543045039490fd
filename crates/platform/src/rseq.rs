//! The calling thread's `struct rseq`: the memory that the kernel's restartable
//! sequences share with a thread.
//!
//! glibc registers one for each thread since 2.35 and says in two symbols where it lies. Older versions lack
//! the symbols, so they are looked up at run time.

use crate::atomic::{AtomicI64, Ordering};

/// The distance from the thread pointer to `struct rseq`, which is the same for every thread; or one of the
/// two values below, which no area has, since it is aligned to 32 bytes.
static OFFSET: AtomicI64 = AtomicI64::new(UNKNOWN);
const UNKNOWN: i64 = 1;
const NONE: i64 = 2;

/// The distance from a thread's pointer to its `struct rseq`, if it has one.
#[inline(always)]
pub(crate) fn offset() -> Option<i64> {
    let offset = match OFFSET.load(Ordering::Relaxed) {
        UNKNOWN => look_up(),
        known => known,
    };
    (offset != NONE).then_some(offset)
}

#[cold]
fn look_up() -> i64 {
    let offset = imp::offset().unwrap_or(NONE);
    OFFSET.store(offset, Ordering::Relaxed);
    offset
}

/// The number of the processor that the caller runs on, by its area at `offset`. `None` if the kernel has not
/// set it, as in a thread that took its registration back.
#[inline(always)]
pub(crate) fn cpu_id(offset: i64) -> Option<usize> {
    usize::try_from(imp::cpu_id(offset)).ok()
}

#[cfg(all(target_env = "gnu", target_arch = "x86_64", not(miri)))]
mod imp {
    /// Of `cpu_id` in `struct rseq`.
    const CPU_ID: i64 = 4;

    pub(super) fn offset() -> Option<i64> {
        let symbol = |name: &std::ffi::CStr| {
            // SAFETY: a look-up by name, which is a string.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        let size = symbol(c"__rseq_size")?.cast::<u32>();
        let offset = symbol(c"__rseq_offset")?.cast::<i64>();
        // SAFETY: glibc's constant of that name and type, initialised before any of our code runs.
        let registered = unsafe { size.read() } != 0;
        // SAFETY: glibc's constant, a ptrdiff_t, initialised before any of our code runs.
        registered.then(|| unsafe { offset.read() })
    }

    #[inline(always)]
    pub(super) fn cpu_id(offset: i64) -> i32 {
        let number: i32;
        // SAFETY: glibc's own area lies at that offset from each thread's pointer; this only reads it.
        unsafe {
            std::arch::asm!(
                "mov {:e}, dword ptr fs:[{}]",
                out(reg) number,
                in(reg) offset + CPU_ID,
                options(nostack, preserves_flags, readonly)
            );
        }
        number
    }
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64", not(miri))))]
mod imp {
    pub(super) fn offset() -> Option<i64> {
        None
    }

    pub(super) fn cpu_id(_: i64) -> i32 {
        -1
    }
}
