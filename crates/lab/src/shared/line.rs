//! A line of memory, as the directory knows it.

use super::limits::CORES;

/// Lines per set.
pub(super) const WAYS: usize = 8;
/// No core.
pub(super) const NOBODY: i16 = -1;

/// A line of 64 bytes.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Line {
    /// Its name, 0 if the place is free.
    pub(super) name: u64,
    /// Until when it serves those that have asked for it.
    pub(super) busy: u64,
    /// When it was written last.
    pub(super) written: u64,
    /// The cores that have it.
    pub(super) sharers: [u64; CORES / 64],
    /// Grows when a core loses it, or loses the right to write it.
    pub(super) version: u32,
    /// The core that alone has it.
    pub(super) owner: i16,
    /// The core that will have it when it is no longer busy.
    pub(super) last: i16,
    /// How much the last core's caches and its cluster's had taken in when it came there.
    pub(super) core_age: u32,
    pub(super) cluster_age: u32,
}

/// Where a line is in the directory.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineIndex(pub(super) u32);

/// What an instruction does with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Load,
    /// Writes it, and does not wait until it is there.
    Store,
    /// Reads and writes it, and waits.
    Locked,
}

impl LineIndex {
    /// No line: the directory has fewer.
    pub const NONE: Self = Self(u32::MAX);

    pub(super) fn number(self) -> usize {
        self.0 as usize
    }
}

impl Line {
    pub(super) fn has(&self, core: u32) -> bool {
        self.sharers[core as usize / 64] >> (core % 64) & 1 != 0
    }

    pub(super) fn is_owned_by(&self, core: u32) -> bool {
        i32::from(self.owner) == core as i32
    }

    pub(super) fn others(&self, core: u32) -> impl Iterator<Item = u32> + use<> {
        let mut words = self.sharers;
        words[core as usize / 64] &= !(1 << (core % 64));
        let bits = |(index, word): (usize, u64)| {
            let left = std::iter::successors(Some(word), |left| Some(left & left.wrapping_sub(1)));
            left.take_while(|left| *left != 0).map(move |left| index as u32 * 64 + left.trailing_zeros())
        };
        words.into_iter().enumerate().flat_map(bits)
    }
}
