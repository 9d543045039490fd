//! The directory of cache lines: who has each.

use super::line::{NOBODY, WAYS};
use super::stats::LineMovers;
use super::{Access, CORES, LineIndex, SharedLab};

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
        if access != Access::Load {
            self.lose(at, core);
        }
        self.take_in(at, core);
        let line = self.line(at.number());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::LineOrigin;
    use crate::testing::ByHand;

    /// Names of lines in the set of the line 1.
    fn names_of_a_set(lab: &mut ByHand, most: usize) -> Vec<u64> {
        let set = lab.find(1).number() / WAYS;
        let mut found = vec![1];
        let mut scratch = ByHand::new(1, 1, 1);
        for name in 2.. {
            // The place depends on the name alone while the directory is all but empty.
            if found.len() == most {
                break;
            }
            if scratch.find(name).number() / WAYS == set {
                found.push(name);
            }
        }
        found
    }

    #[test]
    fn a_name_has_one_place() {
        let mut lab = ByHand::new(1, 1, 1);
        let places: Vec<LineIndex> = (1..1000).map(|name| lab.find(name)).collect();
        let again: Vec<LineIndex> = (1..1000).map(|name| lab.find(name)).collect();
        assert_eq!(places, again);
        let mut different: Vec<u32> = places.iter().map(|place| place.0).collect();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), places.len());
        assert_eq!(lab.evictions, 0);
    }

    #[test]
    fn a_full_set_forgets_the_line_that_was_written_longest_ago() {
        let mut lab = ByHand::new(1, 1, 2);
        let names = names_of_a_set(&mut lab, WAYS + 2);
        for (number, name) in names[..WAYS].iter().enumerate() {
            let at = lab.find(*name);
            // The third has waited longest, then the second, which is still on its way.
            let written = if number == 2 { 50 } else { 1000 + number as u64 };
            lab.take(at, 0, Access::Store, written);
        }
        let second = lab.find(names[1]);
        lab.line(second.number()).written = 40;
        lab.line(second.number()).busy = 70;
        let third = lab.find(names[2]);
        let right = lab.right(third, 0);
        assert_eq!(lab.evictions, 0);

        assert_eq!(lab.find(names[WAYS]), third);
        assert_eq!(lab.evictions, 1);
        assert_ne!(lab.right(third, 0) | 1, right, "the core's right to what was there is over");
        assert_eq!(lab.price(third, 0, Access::Load).origin, LineOrigin::Below, "it is in no cache");
        lab.take(third, 0, Access::Store, 2000);

        assert_eq!(lab.find(names[WAYS + 1]), second);
        assert_eq!(lab.evictions, 2);
        for (number, name) in names[..WAYS].iter().enumerate().filter(|(number, _)| !(1..3).contains(number))
        {
            let at = lab.find(*name);
            assert_eq!(
                lab.price(at, 0, Access::Store).origin,
                LineOrigin::Own,
                "line {number} is still there"
            );
        }
        assert_eq!(lab.evictions, 2);
    }

    #[test]
    fn a_forgotten_line_leaves_nothing_in_the_report() {
        let mut lab = ByHand::new(1, 1, 2);
        lab.counting = 1;
        let names = names_of_a_set(&mut lab, WAYS + 1);
        for name in &names[..WAYS] {
            let at = lab.find(*name);
            lab.take(at, 0, Access::Store, *name);
            lab.note_move(at, 0x1000, 0, *name << 6, 10);
        }
        assert_eq!(lab.hottest(100).len(), WAYS);
        lab.find(names[WAYS]);
        let left: Vec<u64> = lab.hottest(100).iter().map(|line| line.address >> 6).collect();
        assert_eq!(left.len(), WAYS - 1);
        assert!(!left.contains(&names[0]), "{left:?}");
    }

    #[test]
    fn a_core_that_is_alone_may_write() {
        let mut lab = ByHand::new(1, 1, 2);
        let at = lab.find(1);
        lab.take(at, 0, Access::Load, 100);
        let right = lab.right(at, 0);
        assert_eq!(right & 1, 1);
        lab.take(at, 0, Access::Store, 200);
        assert_eq!(lab.right(at, 0), right, "nothing was taken from it");
    }

    #[test]
    fn a_reader_takes_the_right_to_write_and_a_writer_all_rights() {
        let mut lab = ByHand::new(1, 1, 4);
        let at = lab.find(1);
        lab.take(at, 0, Access::Store, 100);
        let alone = lab.right(at, 0);

        lab.take(at, 1, Access::Load, 200);
        let shared = lab.right(at, 0);
        assert_eq!(shared & 1, 0);
        assert_ne!(shared | 1, alone);
        lab.take(at, 2, Access::Load, 300);
        assert_eq!(
            [0, 1, 2].map(|core| lab.right(at, core)),
            [shared; 3],
            "readers do not disturb each other"
        );

        lab.take(at, 1, Access::Locked, 400);
        for core in [0, 2] {
            assert_ne!(lab.right(at, core), shared, "core {core} has lost it");
            assert_eq!(lab.right(at, core) & 1, 0);
        }
        assert_eq!(lab.right(at, 1) & 1, 1);
    }

    #[test]
    fn cores_of_all_words_are_told_apart() {
        let mut lab = ByHand::new(1, 1, 192);
        let at = lab.find(1);
        for core in [0, 63, 64, 127, 128, 191] {
            lab.take(at, core, Access::Load, 100);
        }
        let others: Vec<u32> = lab.line(at.number()).others(64).collect();
        assert_eq!(others, [0, 63, 127, 128, 191]);
        lab.take(at, 191, Access::Store, 200);
        let line = lab.line(at.number());
        assert!(line.has(191) && line.is_owned_by(191));
        assert_eq!(line.others(191).count(), 0);
    }
}
