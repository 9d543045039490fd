//! Time: nanoseconds that mean something, and ticks that cost little.
//!
//! [`now_ns`] is `CLOCK_MONOTONIC`, the same in all processes of the machine; [`unix_ns`] is for processes of
//! several machines. [`ticks`] is the cycle counter,
//! for budgets of a spin or a forced yield; the two are compared once, for about 50 µs, when a conversion is
//! first asked for. Differences of ticks are taken with `wrapping_sub`: should counters of two cores
//! disagree, a budget ends early instead of never. Under `loom` both stand still and every budget is spent at
//! once.

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[must_use]
pub fn now_ns() -> u64 {
    #[cfg(not(loom))]
    return hardware::now_ns();
    #[cfg(loom)]
    0
}

/// Nanoseconds since 1970 by the wall clock, which is about the same on all machines. It may jump, so it is
/// for comparisons that may be wrong at times.
#[must_use]
pub fn unix_ns() -> u64 {
    #[cfg(not(loom))]
    return hardware::unix_ns();
    #[cfg(loom)]
    0
}

/// The cycle counter; where there is none, [`now_ns`].
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    #[cfg(not(loom))]
    return hardware::ticks();
    #[cfg(loom)]
    0
}

/// The cycle counter, read after all loads before: where the cores agree on it, a thread that has heard of
/// another's reading reads no lower number.
#[inline(always)]
#[must_use]
pub fn ticks_in_order() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    {
        hardware::ticks_in_order()
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    {
        now_ns()
    }
}

/// How many [`ticks`] go into that many nanoseconds. A load, a multiplication and a shift after the first
/// call.
#[inline]
#[must_use]
pub fn ns_to_ticks(ns: u64) -> u64 {
    #[cfg(not(loom))]
    return hardware::scale(ns, hardware::ticks_per_ns_q20());
    #[cfg(loom)]
    {
        let _ = ns;
        0
    }
}

/// How many nanoseconds that many [`ticks`] last.
#[must_use]
pub fn ticks_to_ns(ticks: u64) -> u64 {
    #[cfg(not(loom))]
    return u64::try_from((u128::from(ticks) << 20) / u128::from(hardware::ticks_per_ns_q20()))
        .unwrap_or(u64::MAX);
    #[cfg(loom)]
    {
        let _ = ticks;
        0
    }
}

#[cfg(not(loom))]
mod hardware {
    use crate::atomic::{AtomicU64, Ordering};

    /// Ticks in a nanosecond, times 2^20; 0 until a thread has measured it.
    static TICKS_PER_NS_Q20: AtomicU64 = AtomicU64::new(0);
    const CALIBRATION_NS: u64 = 50_000;

    pub(super) fn now_ns() -> u64 {
        of_clock(libc::CLOCK_MONOTONIC)
    }

    pub(super) fn unix_ns() -> u64 {
        of_clock(libc::CLOCK_REALTIME)
    }

    fn of_clock(clock: libc::clockid_t) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes one timespec, which lives here.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the time-stamp counter, and Linux lets user code read it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn ticks_in_order() -> u64 {
        // SAFETY: every x86-64 processor has the fence. What comes behind it begins only when all loads
        // before have their values.
        unsafe { std::arch::x86_64::_mm_lfence() };
        ticks()
    }

    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        let count: u64;
        // SAFETY: reads the virtual counter, which Linux lets user code read.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags, nomem))
        };
        count
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        now_ns()
    }

    #[inline(always)]
    pub(super) fn scale(ns: u64, q20: u64) -> u64 {
        u64::try_from((u128::from(ns) * u128::from(q20)) >> 20).unwrap_or(u64::MAX)
    }

    #[inline(always)]
    pub(super) fn ticks_per_ns_q20() -> u64 {
        match TICKS_PER_NS_Q20.load(Ordering::Relaxed) {
            0 => calibrate(),
            known => known,
        }
    }

    #[cold]
    fn calibrate() -> u64 {
        let (start_ns, start) = (now_ns(), ticks());
        let mut end_ns = now_ns();
        while end_ns - start_ns < CALIBRATION_NS {
            crate::hint::spin_loop();
            end_ns = now_ns();
        }
        let passed = ticks().wrapping_sub(start);
        let q20 = (u128::from(passed) << 20) / u128::from(end_ns - start_ns);
        // At least 1, so that 0 keeps meaning "not measured"; racing threads store nearly the same.
        let q20 = u64::try_from(q20).unwrap_or(1 << 20).max(1);
        TICKS_PER_NS_Q20.store(q20, Ordering::Relaxed);
        q20
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn conversions_agree() {
        for ns in [1_000, 1_000_000, 3_600_000_000_000] {
            let back = ticks_to_ns(ns_to_ticks(ns));
            assert!(back.abs_diff(ns) <= 2, "{ns} came back as {back}");
        }
    }

    #[test]
    fn time_goes_forward() {
        let (a, b) = (now_ns(), now_ns());
        assert!(a > 0 && b >= a);
    }
}
