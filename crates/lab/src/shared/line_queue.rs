//! A line serves one core after the other, in the order in which they asked.

use super::{Access, Fetch, LineIndex, LineOrigin, SharedLab};

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

impl SharedLab {
    /// Takes a place in the line's queue for a store or locked instruction of `core` at `clock`, if other
    /// cores have it.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ByHand, COSTS, START};
    use Access::{Load, Locked, Store};

    const AT: u64 = START;

    fn written_by(lab: &mut ByHand, core: u32) -> LineIndex {
        let at = lab.find(1);
        lab.take(at, core, Store, 100);
        at
    }

    fn reads(lab: &mut ByHand, at: LineIndex, core: u32, clock: u64) -> u64 {
        let fetch = lab.price(at, core, Load);
        let comes = lab.serve(at, core, clock, fetch);
        lab.take(at, core, Load, comes);
        comes
    }

    #[test]
    fn a_line_goes_from_core_to_core() {
        let mut lab = ByHand::new(1, 1, 16);
        let at = written_by(&mut lab, 0);
        for number in 1..16 {
            let foreseen = lab.foresee(at, number, Locked, AT).expect("another core has it");
            let number = u64::from(number);
            assert_eq!(foreseen.at, AT + number * COSTS.cluster + (number - 1) * COSTS.held);
            assert_eq!((foreseen.cost, foreseen.line), (COSTS.cluster, at));
        }
    }

    #[test]
    fn the_way_begins_at_the_core_that_is_before() {
        let mut lab = ByHand::new(2, 2, 2);
        let at = written_by(&mut lab, 0);
        let mut comes = AT;
        for (core, cost) in
            [(4, COSTS.far), (5, COSTS.cluster), (6, COSTS.socket), (1, COSTS.far), (0, COSTS.cluster)]
        {
            let foreseen = lab.foresee(at, core, Store, AT).expect("another core has it");
            comes += cost;
            assert_eq!((foreseen.at, foreseen.cost), (comes, cost), "core {core}");
        }
    }

    #[test]
    fn who_asks_later_waits_only_for_what_is_left() {
        let mut lab = ByHand::new(1, 1, 4);
        let at = written_by(&mut lab, 0);
        let first = lab.foresee(at, 1, Locked, AT).expect("another core has it").at;
        let second = lab.foresee(at, 2, Locked, AT + 1_000).expect("another core has it").at;
        assert_eq!(second, first + COSTS.held + COSTS.cluster);
        lab.take(at, 2, Locked, second);
        let third = lab.foresee(at, 3, Locked, second + COSTS.held).expect("another core has it").at;
        assert_eq!(third, second + COSTS.held + COSTS.cluster, "the line is not busy any more");
    }

    #[test]
    fn what_nobody_else_has_is_not_waited_for() {
        let mut lab = ByHand::new(1, 1, 2);
        let at = lab.find(1);
        assert!(lab.foresee(at, 0, Locked, AT).is_none(), "it comes from memory");
        lab.take(at, 0, Locked, AT);
        assert!(lab.foresee(at, 0, Store, AT).is_none(), "the core has it");
        assert_eq!(lab.foresee(at, 1, Store, AT).expect("core 0 has it").at, AT + COSTS.cluster);
    }

    #[test]
    fn a_line_that_is_about_to_go_is_waited_for_again() {
        let mut lab = ByHand::new(1, 1, 2);
        let at = written_by(&mut lab, 0);
        let goes = lab.foresee(at, 1, Locked, AT).expect("another core has it").at;
        let back = lab.foresee(at, 0, Locked, AT).expect("it is about to go").at;
        assert_eq!(back, goes + COSTS.held + COSTS.cluster);
    }

    #[test]
    fn readers_of_a_written_line_wait_for_the_first_who_pays_the_way() {
        let mut lab = ByHand::new(1, 1, 8);
        let at = written_by(&mut lab, 0);
        assert_eq!(reads(&mut lab, at, 1, AT), AT + COSTS.cluster);
        for number in 0..6 {
            let begins = AT + COSTS.cluster + number * COSTS.occupied;
            assert_eq!(reads(&mut lab, at, 2 + number as u32, AT), begins + COSTS.clean);
        }
        let late = AT + 1_000_000;
        assert_eq!(reads(&mut lab, at, 1, late), late + COSTS.own, "its own copy is not busy");
    }

    #[test]
    fn a_reader_waits_for_the_writer_before() {
        for (access, held) in [(Store, 0), (Locked, COSTS.held)] {
            let mut lab = ByHand::new(1, 1, 4);
            let at = written_by(&mut lab, 0);
            let written = lab.foresee(at, 1, access, AT).expect("another core has it").at;
            lab.take(at, 1, access, written);
            assert_eq!(reads(&mut lab, at, 2, AT), written + held + COSTS.cluster, "{access:?}");
        }
    }

    #[test]
    fn memory_serves_all_at_a_time() {
        let mut lab = ByHand::new(1, 1, 4);
        for (core, name) in [(0, 1), (1, 2), (2, 3)] {
            let at = lab.find(name);
            assert_eq!(reads(&mut lab, at, core, AT), AT + COSTS.memory);
        }
    }
}
