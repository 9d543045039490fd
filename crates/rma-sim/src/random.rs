//! Random numbers that a seed determines.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood: *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014). Good enough for jitter and for drawing a workload.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The generator number `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xA24B_AED4_963E_E407));
        random.bits();
        random
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from 0 up to, but not including, `end`.
    ///
    /// # Panics
    /// If `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        // 53 bits are what a double holds.
        ((self.bits() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}
