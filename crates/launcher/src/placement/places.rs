//! From a policy and the machine's tree to a set of hardware threads per rank.

use std::collections::BTreeSet;

use heddle_topology::{MachineNode, NodeKind, Topology};

use super::policy::{Bind, Policy};

/// Where each rank runs: hardware threads by the system's numbers, ascending.
pub(crate) type Places = Vec<Vec<usize>>;

/// The places of `ranks` ranks on the `usable` hardware threads of `machine`, of which the system grants the
/// time of `granted`; `None` if the kernel places the ranks.
///
/// # Errors
/// Why the policy has no effect, in words.
pub(super) fn places(
    machine: &Topology,
    usable: &[usize],
    granted: usize,
    policy: &Policy,
    ranks: usize,
) -> Result<Option<Places>, String> {
    let units = Units::new(machine, usable);
    let found = match &policy.bind {
        Bind::Nothing => return Ok(None),
        Bind::Listed(list) => {
            let is_usable = |thread: &usize| usable.contains(thread);
            if let Some(thread) = list.iter().flatten().find(|thread| !is_usable(thread)) {
                return Err(format!("the hardware thread {thread} is not one that mpiexec may use"));
            }
            list.iter().cycle().take(ranks).cloned().collect()
        }
        Bind::Spare if policy.map == Default::default() => match units.shares(granted, ranks) {
            Some(shares) if ranks > 1 && shares.0 > 1 => shares.1,
            _ if policy.allowed.is_some() => vec![units.threads.clone(); ranks],
            _ => return Ok(None),
        },
        Bind::Share => match units.shares(granted, ranks) {
            Some(shares) => shares.1,
            None => {
                return Err(more_ranks(ranks, units.of(NodeKind::Core).len().min(granted), NodeKind::Core));
            }
        },
        // A map says that places are wanted: cores, unless another unit is named.
        Bind::Spare => units.seats(policy, (NodeKind::Core, None), ranks)?,
        Bind::Units(kind, number) => units.seats(policy, (*kind, *number), ranks)?,
    };
    Ok(Some(units.numbered(found, policy.number_over)))
}

fn more_ranks(ranks: usize, places: usize, kind: NodeKind) -> String {
    format!("{ranks} ranks are more than the {places} places of {kind}s that may be used")
}

/// The usable hardware threads in the order of the tree.
struct Units<'a> {
    machine: &'a Topology,
    threads: Vec<usize>,
}

impl<'a> Units<'a> {
    fn new(machine: &'a Topology, usable: &[usize]) -> Self {
        let mut leaves: Vec<MachineNode<'_>> =
            usable.iter().filter_map(|&thread| machine.leaf(thread)).collect();
        leaves.sort_by_key(MachineNode::number);
        leaves.dedup();
        Self { machine, threads: leaves.iter().filter_map(MachineNode::hardware_thread).collect() }
    }

    /// The number of the unit of that kind in which a hardware thread lies. A cache or a NUMA node for each
    /// core means that the machine does not tell of any: then it is the package.
    fn unit_of(&self, thread: usize, kind: NodeKind) -> usize {
        let leaf = self.machine.leaf(thread).unwrap_or_else(|| self.machine.root());
        let unit = leaf.unit(kind);
        let is_untold = matches!(kind, NodeKind::L3 | NodeKind::Numa) && unit == leaf.unit(NodeKind::Core);
        if is_untold { leaf.unit(NodeKind::Package) } else { unit }.number()
    }

    /// The units of that kind, in the order of the tree, each with its hardware threads.
    fn of(&self, kind: NodeKind) -> Vec<Vec<usize>> {
        self.divided(&self.threads, kind)
    }

    fn divided(&self, threads: &[usize], kind: NodeKind) -> Vec<Vec<usize>> {
        let parts = threads.chunk_by(|one, other| self.unit_of(*one, kind) == self.unit_of(*other, kind));
        parts.map(<[usize]>::to_vec).collect()
    }

    /// The cores divided by the ranks: how many each gets, and which.
    fn shares(&self, granted: usize, ranks: usize) -> Option<(usize, Places)> {
        let cores = self.of(NodeKind::Core);
        let each = cores.len().min(granted) / ranks;
        (each > 0).then(|| (each, cores.chunks_exact(each).take(ranks).map(<[_]>::concat).collect()))
    }

    /// Ranks on units of a kind, perhaps several for each.
    fn seats(
        &self,
        policy: &Policy,
        (kind, number): (NodeKind, Option<usize>),
        ranks: usize,
    ) -> Result<Places, String> {
        let map = policy.map;
        let over = map.over.unwrap_or(NodeKind::Machine);
        // The smaller of the two units is what a rank takes for itself.
        let (own, width) = match map.cores {
            Some(cores) => (NodeKind::Core, cores),
            None if over > kind => (over, 1),
            None => (kind, number.unwrap_or(1)),
        };
        let rows: Vec<Places> = self
            .of(over.min(own))
            .iter()
            .map(|row| {
                let seats = self.divided(row, own);
                let seats: Places = seats.chunks_exact(width).map(<[_]>::concat).collect();
                seats.into_iter().take(map.per_unit.unwrap_or(usize::MAX)).collect()
            })
            .collect();
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| rows.iter().filter_map(move |row| row.get(turn)));
        let seats: Vec<&Vec<usize>> = turns.collect();
        let is_shared = kind < NodeKind::Core && map.per_unit.is_none() && !seats.is_empty();
        if seats.len() < ranks && !is_shared {
            return Err(more_ranks(ranks, seats.len(), own));
        }
        let whole = |seat: &Vec<usize>| {
            if kind >= own || map.cores.is_some() {
                return seat.clone();
            }
            let units: BTreeSet<usize> = seat.iter().map(|&thread| self.unit_of(thread, kind)).collect();
            self.threads
                .iter()
                .copied()
                .filter(|&thread| units.contains(&self.unit_of(thread, kind)))
                .collect()
        };
        Ok(seats.into_iter().cycle().take(ranks).map(whole).collect())
    }

    /// The places in the order in which ranks are numbered, each ascending.
    fn numbered(&self, mut places: Places, over: Option<NodeKind>) -> Places {
        if let Some(over) = over {
            let position =
                |place: &Vec<usize>| self.threads.iter().position(|thread| place.first() == Some(thread));
            places.sort_by_key(position);
            if over != NodeKind::HardwareThread && over != NodeKind::Core {
                let rows =
                    places.chunk_by(|one, other| self.unit_of(one[0], over) == self.unit_of(other[0], over));
                let rows: Vec<&[Vec<usize>]> = rows.collect();
                let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
                places = (0..longest)
                    .flat_map(|turn| rows.iter().filter_map(move |row| row.get(turn)))
                    .cloned()
                    .collect();
            }
        }
        for place in &mut places {
            place.sort_unstable();
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the options give on a machine, as `0,1 2,3`.
    fn on(machine: &str, options: &[(&str, &str)], ranks: usize) -> String {
        let machine: Topology = machine.parse().expect("a machine");
        let mut policy = Policy::default();
        for (option, value) in options {
            match *option {
                "bind" => policy.bind_to(value).expect("a binding"),
                "map" => drop(policy.map_by(value).expect("a map")),
                "rank" => policy.rank_by(value).expect("an order"),
                _ => policy.cores_per_rank(value).expect("a number"),
            }
        }
        let usable: Vec<usize> = machine.hardware_threads().collect();
        match places(&machine, &usable, usable.len(), &policy, ranks) {
            Ok(None) => "free".to_owned(),
            Err(why) => why,
            Ok(Some(places)) => {
                let texts = places
                    .iter()
                    .map(|place| place.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
                texts.collect::<Vec<_>>().join(" ")
            }
        }
    }

    const TWO: &str = "2 packages x 4 cores";

    #[test]
    fn without_options_ranks_get_a_share_of_two_cores_or_more() {
        assert_eq!(on(TWO, &[], 1), "free");
        assert_eq!(on(TWO, &[], 2), "0,1,2,3 4,5,6,7");
        assert_eq!(on(TWO, &[], 3), "0,1 2,3 4,5");
        assert_eq!(on(TWO, &[], 5), "free");
        assert_eq!(on("2 cores x 2 threads", &[], 2), "free");
        assert_eq!(on("2 cores", &[], 2), "free");
        assert_eq!(on(TWO, &[("bind", "none")], 2), "free");
        assert_eq!(on(TWO, &[("bind", "share")], 1), "0,1,2,3,4,5,6,7");
        assert_eq!(on(TWO, &[("bind", "share")], 8), "0 1 2 3 4 5 6 7");
        assert!(on(TWO, &[("bind", "share")], 9).starts_with("9 ranks are more than the 8 places"));
    }

    #[test]
    fn units() {
        assert_eq!(on(TWO, &[("bind", "core")], 3), "0 1 2");
        assert_eq!(on("1 package x 2 cores x 2 threads", &[("bind", "core")], 2), "0,1 2,3");
        assert_eq!(on("2 cores x 2 threads", &[("bind", "hwthread")], 3), "0 1 2");
        assert_eq!(on(TWO, &[("bind", "core:3")], 2), "0,1,2 3,4,5");
        assert_eq!(on(TWO, &[("bind", "socket")], 3), "0,1,2,3 4,5,6,7 0,1,2,3");
        assert_eq!(on(TWO, &[("bind", "machine")], 2), "0,1,2,3,4,5,6,7 0,1,2,3,4,5,6,7");
        assert!(on(TWO, &[("bind", "core")], 9).contains("9 ranks are more than the 8 places of cores"));
        assert_eq!(on("1 packages x 4 cores", &[("bind", "numa")], 2), "0,1,2,3 0,1,2,3");
        assert_eq!(on(TWO, &[("bind", "user:7,0+1")], 3), "7 0,1 7");
        assert!(on(TWO, &[("bind", "user:8")], 1).contains("hardware thread 8"));
    }

    #[test]
    fn maps() {
        let by_socket = ("map", "socket");
        assert_eq!(on(TWO, &[by_socket, ("bind", "core")], 4), "0 4 1 5");
        assert_eq!(on(TWO, &[("map", "socket:PE=2"), ("bind", "core")], 3), "0,1 4,5 2,3");
        assert_eq!(on(TWO, &[("map", "slot:PE=2")], 3), "0,1 2,3 4,5");
        assert_eq!(on(TWO, &[("cores", "3")], 2), "0,1,2 3,4,5");
        assert_eq!(
            on(TWO, &[("map", "core"), ("bind", "socket")], 5),
            "0,1,2,3 0,1,2,3 0,1,2,3 0,1,2,3 4,5,6,7"
        );
        assert_eq!(on(TWO, &[by_socket, ("bind", "socket")], 3), "0,1,2,3 4,5,6,7 0,1,2,3");
        assert_eq!(on(TWO, &[("map", "ppr:1:socket"), ("bind", "core")], 2), "0 4");
        assert!(
            on(TWO, &[("map", "ppr:1:socket"), ("bind", "core")], 3).contains("3 ranks are more than the 2")
        );
        assert_eq!(on(TWO, &[by_socket], 2), "0 4");
    }

    #[test]
    fn numbers() {
        let placed = [("map", "socket"), ("bind", "core")];
        assert_eq!(on(TWO, &[&placed[..], &[("rank", "core")]].concat(), 4), "0 1 4 5");
        assert_eq!(on(TWO, &[("bind", "core"), ("rank", "socket")], 8), "0 4 1 5 2 6 3 7");
        assert_eq!(on(TWO, &[&placed[..], &[("rank", "slot")]].concat(), 4), "0 4 1 5");
    }
}
