//! Hints of a thread to the processor.

/// One turn of a spin loop: lets the sibling hardware thread run; under `loom`, another thread.
#[inline(always)]
pub fn spin_loop() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::hint::spin_loop();
}

/// Asks for the cache line at `address` to be written soon: takes it away from other cores. Any address will
/// do.
#[inline(always)]
pub fn prefetch_for_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, without effect on memory or flags; an address that is not mapped is ignored. (As an
    // instruction and not as the compiler's intrinsic, which makes a prefetch for reading of it unless told
    // of the processor.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a hint, without effect on memory or flags; an address that is not mapped is ignored.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}
