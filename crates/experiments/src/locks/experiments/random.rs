//! Random numbers for the threads of an experiment.

/// Random numbers that cost a few instructions (xorshift64*).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A different sequence for each thread.
    pub(super) fn of_thread(number: usize) -> Self {
        Self((number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}
