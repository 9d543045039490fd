//! The directory of cache lines: who has each.

use super::stats::LineMovers;
use super::{CORES, SharedLab};

/// Lines per set.
pub(super) const WAYS: usize = 8;
/// No core.
const NOBODY: i16 = -1;

/// A line of 64 bytes.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Line {
    /// Its name, 0 if the place is free.
    pub(super) name: u64,
    /// Until when it serves those that have asked for it.
    pub(super) busy: u64,
    /// When it was written last.
    written: u64,
    /// The cores that have it.
    pub(super) sharers: [u64; CORES / 64],
    /// Grows when a core loses it, or loses the right to write it.
    version: u32,
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
pub struct LineIndex(u32);

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
        let words = self.sharers;
        let bits = move |word: usize| {
            (0..64).filter(move |bit| words[word] >> bit & 1 != 0).map(move |bit| word as u32 * 64 + bit)
        };
        (0..words.len())
            .filter(move |word| words[*word] != 0)
            .flat_map(bits)
            .filter(move |other| *other != core)
    }
}

impl SharedLab {
    /// The place of the line with the name `name`.
    pub fn find(&mut self, name: u64) -> LineIndex {
        let hash = name.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> 40) as u32 & self.set_mask;
        let first = first as usize * WAYS;
        let mut victim = first;
        let mut oldest = u64::MAX;
        for index in first..first + WAYS {
            let line = self.line(index);
            if line.name == name {
                return LineIndex(index as u32);
            }
            if line.name == 0 {
                victim = index;
                break;
            }
            if line.busy.max(line.written) < oldest {
                oldest = line.busy.max(line.written);
                victim = index;
            }
        }
        let line = self.line(victim);
        let forgotten = line.name != 0;
        line.name = name;
        line.busy = 0;
        line.written = 0;
        line.sharers = [0; CORES / 64];
        line.version = line.version.wrapping_add(1);
        line.owner = NOBODY;
        line.last = NOBODY;
        self.evictions += u64::from(forgotten);
        // Elsewhere they are zeros, and take no memory.
        if self.counting != 0 {
            *self.movers(victim) = LineMovers::default();
        }
        LineIndex(victim as u32)
    }

    /// What changes when a core's right to the line does; the lowest bit says that `core` may write.
    #[must_use]
    pub fn right(&mut self, at: LineIndex, core: u32) -> u32 {
        let line = self.line(at.number());
        line.version << 1 | u32::from(line.is_owned_by(core))
    }

    /// The version alone: as [`right`](Self::right) without the bit.
    #[inline]
    pub fn version(&mut self, at: LineIndex) -> u32 {
        self.line(at.number()).version << 1
    }

    /// Its owner has written the line.
    #[inline]
    pub fn note_write(&mut self, at: LineIndex, clock: u64) {
        self.line(at.number()).written = clock;
    }

    /// `core` has the line now, alone if it writes.
    pub fn take(&mut self, at: LineIndex, core: u32, access: Access, clock: u64) {
        let is_new = !self.line(at.number()).has(core);
        let cluster = self.layout.cluster_of(core) as usize;
        if is_new {
            self.cores[core as usize].fetched = self.cores[core as usize].fetched.wrapping_add(1);
            self.clusters[cluster] = self.clusters[cluster].wrapping_add(1);
        }
        let (core_age, cluster_age) = (self.cores[core as usize].fetched, self.clusters[cluster]);
        let line = self.line(at.number());
        line.core_age = core_age;
        line.cluster_age = cluster_age;
        let mine = 1 << (core % 64);
        if access == Access::Load {
            let is_alone = line.owner == NOBODY && line.sharers == [0; CORES / 64];
            if is_alone {
                line.owner = core as i16;
            } else if !line.is_owned_by(core) && line.owner != NOBODY {
                line.owner = NOBODY;
                line.version = line.version.wrapping_add(1);
            }
            line.sharers[core as usize / 64] |= mine;
        } else {
            let others = line.others(core);
            if !line.is_owned_by(core) {
                line.version = line.version.wrapping_add(1);
            }
            line.sharers = [0; CORES / 64];
            line.sharers[core as usize / 64] = mine;
            line.owner = core as i16;
            line.written = clock;
            self.end_polls(at, others, clock);
        }
    }
}
