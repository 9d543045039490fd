//! What a spinning thread tells the processor.

/// One turn of a spin loop: lets the sibling hardware thread run; under `loom`, another thread.
#[inline(always)]
pub fn spin_loop() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::hint::spin_loop();
}
