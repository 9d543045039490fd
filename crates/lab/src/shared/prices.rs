//! The price of a line for a core: by where the line is, and how far away.

use super::{Access, LineIndex, SharedLab};

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

/// The price of an access.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// Where the line comes from.
    pub origin: LineOrigin,
    /// How long its way is.
    pub cost: u64,
    /// How long it cannot serve the next.
    pub occupied: u64,
}

impl SharedLab {
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
            let in_core = self.is_in_core(owner, core_age);
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
            let cost = if others.iter().any(|other| self.is_in_cluster(*other, cluster_age)) {
                cost
            } else {
                self.costs.memory
            };
            return Fetch { origin: LineOrigin::Cores, cost, occupied: self.costs.occupied };
        }
        let cost = distances.max().unwrap_or(0);
        Fetch { origin: LineOrigin::Cores, cost, occupied: cost }
    }

    fn price_of_own(&self, core: u32, core_age: u32, cluster_age: u32) -> Fetch {
        if self.is_in_core(core, core_age) {
            return Fetch { origin: LineOrigin::Own, cost: self.costs.own, occupied: 0 };
        }
        let cost = if self.is_in_cluster(core, cluster_age) { self.costs.clean } else { self.costs.memory };
        Fetch { origin: LineOrigin::Below, cost, occupied: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ByHand, COSTS};
    use Access::{Load, Locked, Store};

    /// Cores 0 and 1, 2 and 3, 4 and 5, 6 and 7 are clusters; 0 to 3 and 4 to 7 are sockets.
    fn lab() -> ByHand {
        ByHand::new(2, 2, 2)
    }

    /// `core` gets the line: its price.
    fn gets(lab: &mut ByHand, name: u64, core: u32, access: Access) -> u64 {
        let at = lab.find(name);
        let cost = lab.price(at, core, access).cost;
        lab.take(at, core, access, 100);
        cost
    }

    fn costs(lab: &mut ByHand, name: u64, core: u32, access: Access) -> u64 {
        let at = lab.find(name);
        lab.price(at, core, access).cost
    }

    #[test]
    fn a_line_comes_from_memory_once() {
        let mut lab = lab();
        let at = lab.find(1);
        for access in [Load, Store, Locked] {
            let fetch = lab.price(at, 0, access);
            assert_eq!(
                (fetch.origin, fetch.cost, fetch.occupied),
                (LineOrigin::Below, COSTS.memory, 0),
                "{access:?}"
            );
        }
        lab.take(at, 0, Load, 100);
        for access in [Load, Store, Locked] {
            let fetch = lab.price(at, 0, access);
            assert_eq!(
                (fetch.origin, fetch.cost, fetch.occupied),
                (LineOrigin::Own, COSTS.own, 0),
                "{access:?}"
            );
        }
    }

    #[test]
    fn a_written_line_costs_its_way_and_is_busy_for_as_long() {
        let mut lab = lab();
        gets(&mut lab, 1, 0, Store);
        let at = lab.find(1);
        for access in [Load, Store, Locked] {
            for (core, cost) in
                [(1, COSTS.cluster), (2, COSTS.socket), (3, COSTS.socket), (4, COSTS.far), (7, COSTS.far)]
            {
                let fetch = lab.price(at, core, access);
                assert_eq!(
                    (fetch.origin, fetch.cost, fetch.occupied),
                    (LineOrigin::Cores, cost, cost),
                    "core {core} {access:?}"
                );
            }
        }
    }

    #[test]
    fn the_first_reader_pays_the_way_the_next_read_from_the_nearest() {
        let mut lab = lab();
        gets(&mut lab, 1, 0, Store);
        assert_eq!(gets(&mut lab, 1, 2, Load), COSTS.socket, "from its writer");
        let at = lab.find(1);
        for (core, cost) in [(1, COSTS.clean), (3, COSTS.clean), (4, COSTS.far), (6, COSTS.far)] {
            let fetch = lab.price(at, core, Load);
            assert_eq!(
                (fetch.origin, fetch.cost, fetch.occupied),
                (LineOrigin::Cores, cost, COSTS.occupied),
                "core {core}"
            );
        }
        assert_eq!(gets(&mut lab, 1, 4, Load), COSTS.far);
        assert_eq!(gets(&mut lab, 1, 5, Load), COSTS.clean, "from its neighbour, not from its writer");
        assert_eq!(costs(&mut lab, 1, 6, Load), COSTS.socket, "the other cluster of its socket");
        for core in [0, 2, 4, 5] {
            assert_eq!(costs(&mut lab, 1, core, Load), COSTS.own, "core {core} has it");
        }
    }

    #[test]
    fn who_writes_waits_for_the_farthest_reader() {
        let mut lab = lab();
        for core in [0, 1, 2] {
            gets(&mut lab, 1, core, Load);
        }
        assert_eq!(costs(&mut lab, 1, 0, Store), COSTS.socket);
        assert_eq!(costs(&mut lab, 1, 3, Store), COSTS.socket, "who has not read it, too");
        gets(&mut lab, 1, 4, Load);
        let at = lab.find(1);
        for access in [Store, Locked] {
            let fetch = lab.price(at, 1, access);
            assert_eq!(
                (fetch.origin, fetch.cost, fetch.occupied),
                (LineOrigin::Cores, COSTS.far, COSTS.far),
                "{access:?}"
            );
        }
        gets(&mut lab, 1, 1, Store);
        assert_eq!(costs(&mut lab, 1, 1, Store), COSTS.own);
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.cluster, "the reader's line is gone");
        assert_eq!(costs(&mut lab, 1, 4, Load), COSTS.far, "the far reader's, too");
    }

    #[test]
    fn a_core_forgets_what_its_caches_have_no_room_for() {
        let mut lab = lab();
        gets(&mut lab, 1, 0, Store);
        for name in 2..2 + COSTS.core_lines {
            gets(&mut lab, name, 0, Load);
        }
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.own, "there is just room");
        gets(&mut lab, 100, 0, Load);
        let at = lab.find(1);
        for access in [Load, Store, Locked] {
            let fetch = lab.price(at, 0, access);
            assert_eq!((fetch.origin, fetch.cost), (LineOrigin::Below, COSTS.clean), "{access:?}");
        }
        assert_eq!(costs(&mut lab, 1, 1, Load), COSTS.clean, "the cluster has it for its other core");
        assert_eq!(costs(&mut lab, 1, 2, Load), COSTS.socket);
        assert_eq!(gets(&mut lab, 1, 0, Load), COSTS.clean);
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.own, "it is back");
    }

    #[test]
    fn a_cluster_forgets_what_its_cache_has_no_room_for() {
        let mut lab = lab();
        gets(&mut lab, 1, 0, Store);
        for name in 2..2 + COSTS.cluster_lines {
            gets(&mut lab, name, name as u32 % 2, Load);
        }
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.clean, "there is just room");
        gets(&mut lab, 100, 1, Load);
        for core in [0, 1, 2, 4] {
            assert_eq!(costs(&mut lab, 1, core, Load), COSTS.memory, "core {core} reads");
            assert_eq!(costs(&mut lab, 1, core, Store), COSTS.memory, "core {core} writes");
        }
        assert_eq!(gets(&mut lab, 1, 0, Store), COSTS.memory);
        assert_eq!(costs(&mut lab, 1, 0, Store), COSTS.own, "it is back");
    }

    #[test]
    fn a_set_of_lines_that_does_not_fit_costs_each_time() {
        let mut lab = lab();
        let names = 1..=2 * COSTS.core_lines;
        for name in names.clone() {
            assert_eq!(gets(&mut lab, name, 0, Load), COSTS.memory);
        }
        for round in 0..3 {
            for name in names.clone() {
                assert_eq!(gets(&mut lab, name, 0, Load), COSTS.clean, "round {round}, line {name}");
            }
        }
        let names = 1..=2 * COSTS.cluster_lines;
        for round in 0..3 {
            for name in names.clone().rev() {
                gets(&mut lab, name, 0, Store);
            }
            assert_eq!(costs(&mut lab, 2 * COSTS.cluster_lines, 0, Store), COSTS.memory, "round {round}");
        }
    }

    #[test]
    fn a_shared_line_is_not_older_for_one_reader_because_another_has_read_much() {
        let mut lab = lab();
        for name in 1000..1000 + 10 * COSTS.cluster_lines {
            gets(&mut lab, name, 4, Load);
        }
        gets(&mut lab, 1, 0, Store);
        assert_eq!(gets(&mut lab, 1, 4, Load), COSTS.far);
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.own, "core 0 has read nothing else");
        assert_eq!(costs(&mut lab, 1, 1, Load), COSTS.clean, "its cluster has it");
        assert_eq!(costs(&mut lab, 1, 5, Load), COSTS.clean, "core 4 has just read it");
    }

    #[test]
    fn a_shared_line_is_near_if_any_of_its_readers_has_it() {
        let mut lab = lab();
        for name in 1000..1000 + 10 * COSTS.cluster_lines {
            gets(&mut lab, name, 0, Load);
        }
        gets(&mut lab, 1, 0, Load);
        gets(&mut lab, 1, 4, Load);
        assert_eq!(costs(&mut lab, 1, 5, Load), COSTS.clean, "core 4 has just read it");
    }

    #[test]
    fn a_line_that_two_cores_of_a_cluster_read_needs_the_room_of_one() {
        let mut lab = lab();
        for name in 1..=1 + COSTS.cluster_lines {
            for core in [0, 1] {
                gets(&mut lab, name, core, Load);
            }
        }
        assert_eq!(costs(&mut lab, 1, 0, Load), COSTS.clean, "there is just room");
    }

    #[test]
    fn a_line_that_goes_to_and_fro_needs_the_room_of_one() {
        let mut lab = lab();
        gets(&mut lab, 1, 0, Store);
        for _ in 0..10 * COSTS.cluster_lines {
            for core in [0, 1, 4] {
                gets(&mut lab, 2, core, Store);
            }
        }
        assert_eq!(costs(&mut lab, 1, 0, Store), COSTS.own);
    }
}
