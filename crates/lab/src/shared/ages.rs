//! The age of a line in a cache: how much the cache has taken in since.
//!
//! A line has the age of the core that got it last. Another core that has it compares that with its own
//! count: then it may take the line for forgotten, or for new, when the two have taken in very different
//! numbers of lines.

use super::{LineIndex, SharedLab};

/// Whether what came at `age` is among the last `room` that were taken in. An age to come is another core's.
fn is_among_last(taken_in: u32, age: u32, room: u64) -> bool {
    i64::from(taken_in.wrapping_sub(age).cast_signed()) <= room as i64
}

impl SharedLab {
    /// Whether the caches of `core` still have what they have taken in at `age`.
    pub(super) fn is_in_core(&self, core: u32, age: u32) -> bool {
        is_among_last(self.cores[core as usize].fetched, age, self.costs.core_lines)
    }

    /// The same of the last-level cache of the cluster of `core`.
    pub(super) fn is_in_cluster(&self, core: u32, age: u32) -> bool {
        let cluster = self.layout.cluster_of(core) as usize;
        is_among_last(self.clusters[cluster], age, self.costs.cluster_lines)
    }

    /// The caches of `core` and of its cluster take in the line, if they have it no more.
    pub(super) fn take_in(&mut self, at: LineIndex, core: u32) {
        let line = self.line(at.number());
        let (has, mut others) = (line.has(core), line.others(core));
        let (core_age, cluster_age) = (line.core_age, line.cluster_age);
        let cluster = self.layout.cluster_of(core);
        if !has || !self.is_in_core(core, core_age) {
            let fetched = &mut self.cores[core as usize].fetched;
            *fetched = fetched.wrapping_add(1);
        }
        let is_there = has || others.any(|other| self.layout.cluster_of(other) == cluster);
        if !is_there || !self.is_in_cluster(core, cluster_age) {
            let fetched = &mut self.clusters[cluster as usize];
            *fetched = fetched.wrapping_add(1);
        }
        let (core_age, cluster_age) = (self.cores[core as usize].fetched, self.clusters[cluster as usize]);
        let line = self.line(at.number());
        line.core_age = core_age;
        line.cluster_age = cluster_age;
    }
    /// `core` writes the line: where it was in the caches of others there is room, which they fill before
    /// they forget another.
    pub(super) fn lose(&mut self, at: LineIndex, core: u32) {
        let line = self.line(at.number());
        let (others, core_age, cluster_age) = (line.others(core), line.core_age, line.cluster_age);
        let mut last = self.layout.cluster_of(core);
        for other in others {
            if self.is_in_core(other, core_age) {
                let fetched = &mut self.cores[other as usize].fetched;
                *fetched = fetched.wrapping_sub(1);
            }
            // The cores of a cluster stand in a row.
            let cluster = self.layout.cluster_of(other);
            if cluster != last
                && cluster != self.layout.cluster_of(core)
                && self.is_in_cluster(other, cluster_age)
            {
                let fetched = &mut self.clusters[cluster as usize];
                *fetched = fetched.wrapping_sub(1);
            }
            last = cluster;
        }
    }
}
