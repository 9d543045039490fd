//! Random arguments from a seed.

/// A generator of numbers (Steele, Lea and Flood's SplitMix). Both ranks draw the same from the same seed.
#[derive(Debug)]
pub(super) struct Draw {
    state: u64,
    has_wildcards: bool,
}

impl Draw {
    pub(super) fn new(seed: u64, has_wildcards: bool) -> Self {
        Self { state: seed, has_wildcards }
    }

    pub(super) fn has_wildcards(&self) -> bool {
        self.has_wildcards
    }

    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Mostly a usual value, since a call with one wrong argument tells more than a call with several.
    pub(super) fn mostly<T: Copy>(&mut self, usual: &[T], others: &[T]) -> T {
        if self.once_in(16) { self.one_of(others) } else { self.one_of(usual) }
    }
}
