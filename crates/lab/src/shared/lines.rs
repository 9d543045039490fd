//! The directory of cache lines: who has each, and until when it is on its way.

use super::{CORES, SharedLab};

/// Lines per set.
pub(super) const WAYS: usize = 8;
/// The most objects that processes share.
pub(super) const OBJECTS: usize = 4096;
/// No core.
const NOBODY: i16 = -1;

/// A line of 64 bytes.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Line {
    /// Its name, 0 if the place is free.
    name: u64,
    /// Until when it serves those that have asked for it.
    busy: u64,
    /// When it was written last.
    written: u64,
    /// The cores that have it.
    sharers: [u64; CORES / 64],
    /// Grows when a core loses it, or loses the right to write it.
    version: u32,
    /// The core that alone has it.
    owner: i16,
    /// The core that will have it when it is no longer busy.
    last: i16,
    /// How much the last core's caches and its cluster's had taken in when it came there.
    core_age: u32,
    cluster_age: u32,
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

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// The core had it.
    Own,
    /// Another core had it, or has it too.
    Cores,
    /// A last-level cache or memory.
    Below,
}

/// What an access will cost.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// Where the line comes from.
    pub origin: LineOrigin,
    /// How long its way is.
    pub cost: u64,
    /// How long it cannot serve the next.
    pub occupied: u64,
}

/// A line that a store or locked instruction will get: its place in the line's queue is taken.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    /// The line.
    pub line: LineIndex,
    /// When it comes.
    pub at: u64,
    /// How long that takes.
    pub cost: u64,
}

impl LineIndex {
    /// No line: the directory has fewer.
    pub const NONE: Self = Self(u32::MAX);

    pub(super) fn number(self) -> usize {
        self.0 as usize
    }
}

impl Line {
    fn has(&self, core: u32) -> bool {
        self.sharers[core as usize / 64] >> (core % 64) & 1 != 0
    }

    fn is_owned_by(&self, core: u32) -> bool {
        i32::from(self.owner) == core as i32
    }

    fn others(&self, core: u32) -> impl Iterator<Item = u32> + use<> {
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
    /// The number of the object that the system calls `device` and `inode`: the same in all processes. `None` when there are too many.
    pub fn object(&mut self, device: u64, inode: u64) -> Option<u64> {
        let used = self.objects_used as usize;
        let found = self.objects[..used].iter().position(|object| *object == (device, inode));
        if found.is_none() && used == OBJECTS {
            return None;
        }
        let index = found.unwrap_or(used);
        if index == used {
            self.objects[used] = (device, inode);
            self.objects_used += 1;
        }
        Some(index as u64)
    }

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
            *self.movers(victim) = super::stats::LineMovers::default();
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

    /// How long a line takes from core to core.
    #[must_use]
    pub fn transfer(&self, from: u32, to: u32) -> u64 {
        let layout = &self.layout;
        if layout.cluster_of(from) == layout.cluster_of(to) {
            self.costs.cluster
        } else if layout.socket_of(from) == layout.socket_of(to) {
            self.costs.socket
        } else {
            self.costs.far
        }
    }

    /// What it costs `core` to do `access` to the line, without its waiting for others.
    pub fn price(&mut self, at: LineIndex, core: u32, access: Access) -> Fetch {
        let line = self.line(at.number());
        let has = line.has(core);
        let (core_age, cluster_age, owner) = (line.core_age, line.cluster_age, line.owner);
        if line.is_owned_by(core) || (has && access == Access::Load) {
            return self.price_of_own(core, core_age, cluster_age);
        }
        if let Ok(owner) = u32::try_from(owner) {
            let in_core =
                self.cores[owner as usize].fetched.wrapping_sub(core_age) <= self.costs.core_lines as u32;
            let in_cluster = self.is_in_cluster(owner, cluster_age);
            let cost = match (in_core, in_cluster) {
                (_, false) => self.costs.memory,
                (false, true) if self.layout.cluster_of(owner) == self.layout.cluster_of(core) => {
                    self.costs.clean
                }
                _ => self.transfer(owner, core),
            };
            return Fetch { origin: LineOrigin::Cores, cost, occupied: cost };
        }
        let line = self.line(at.number());
        let others: Vec<u32> = line.others(core).collect();
        if others.is_empty() {
            let cost = if has { self.costs.own } else { self.costs.memory };
            return Fetch { origin: LineOrigin::Below, cost, occupied: 0 };
        }
        let distances = others.iter().map(|other| self.transfer(*other, core));
        if access == Access::Load {
            let nearest = distances.min().unwrap_or(0);
            let cost = if nearest == self.costs.cluster { self.costs.clean } else { nearest };
            let cost = if self.is_in_cluster(others[0], cluster_age) { cost } else { self.costs.memory };
            return Fetch { origin: LineOrigin::Cores, cost, occupied: self.costs.occupied };
        }
        let cost = distances.max().unwrap_or(0);
        Fetch { origin: LineOrigin::Cores, cost, occupied: cost }
    }

    fn price_of_own(&self, core: u32, core_age: u32, cluster_age: u32) -> Fetch {
        if self.cores[core as usize].fetched.wrapping_sub(core_age) <= self.costs.core_lines as u32 {
            return Fetch { origin: LineOrigin::Own, cost: self.costs.own, occupied: 0 };
        }
        let cost = if self.is_in_cluster(core, cluster_age) { self.costs.clean } else { self.costs.memory };
        Fetch { origin: LineOrigin::Below, cost, occupied: 0 }
    }

    fn is_in_cluster(&self, core: u32, cluster_age: u32) -> bool {
        let cluster = self.layout.cluster_of(core) as usize;
        self.clusters[cluster].wrapping_sub(cluster_age) <= self.costs.cluster_lines as u32
    }

    /// Takes a place in the line's queue for a store or locked instruction of `core` at `clock`, if other cores have it.
    pub fn foresee(&mut self, at: LineIndex, core: u32, access: Access, clock: u64) -> Option<Foreseen> {
        let mut fetch = self.price(at, core, access);
        let line = self.line(at.number());
        let busy = line.busy;
        // The one that waits before this one will have it.
        let before = u32::try_from(line.last).ok().filter(|before| busy > clock && *before != core);
        if let Some(before) = before {
            fetch = Fetch { origin: LineOrigin::Cores, cost: self.transfer(before, core), occupied: 0 };
        }
        if fetch.origin != LineOrigin::Cores {
            return None;
        }
        let comes = clock.max(busy) + fetch.cost;
        let held = if access == Access::Locked { self.costs.held } else { 0 };
        let line = self.line(at.number());
        line.busy = comes + held;
        line.last = core as i16;
        Some(Foreseen { line: at, at: comes, cost: fetch.cost })
    }

    /// The line is busy for a load of `core` that begins at `clock`: when it comes.
    pub fn serve(&mut self, at: LineIndex, core: u32, clock: u64, fetch: Fetch) -> u64 {
        let line = self.line(at.number());
        if fetch.origin != LineOrigin::Cores {
            return clock + fetch.cost;
        }
        let begins = clock.max(line.busy);
        line.busy = begins + fetch.occupied;
        line.last = core as i16;
        begins + fetch.cost
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

    /// The instruction at `instruction` of `process` waited `cost` for the line at `address`.
    pub fn note_move(&mut self, at: LineIndex, instruction: u64, process: u32, address: u64, cost: u64) {
        self.movers(at.number()).note(instruction, process, address, cost);
    }

    /// Lines that moved, those that cost most first: an address, transfers, their cost, and the instructions.
    pub fn hottest(&mut self, most: usize) -> Vec<HotLine> {
        let mut found: Vec<HotLine> = (0..self.directory_size())
            .filter_map(|index| {
                let movers = self.movers(index);
                let by = movers.by.iter().filter(|mover| mover.times > 0).copied().collect();
                (movers.transfers > 0).then_some(HotLine {
                    address: movers.address,
                    transfers: movers.transfers,
                    cost: movers.cost,
                    by,
                })
            })
            .collect();
        found.sort_by_key(|line| std::cmp::Reverse(line.cost));
        found.truncate(most);
        found
    }
}

/// A line that moved.
#[derive(Clone, Debug)]
pub struct HotLine {
    /// An address of it, in the process of the first of `by`.
    pub address: u64,
    /// How often it went from core to core.
    pub transfers: u64,
    /// How long threads waited for it.
    pub cost: u64,
    /// Who moved it.
    pub by: Vec<super::LineMover>,
}
