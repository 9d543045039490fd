//! The core and the package of each hardware thread, in whatever tree.

use crate::tree::{MachineNode, NodeKind, Topology};

/// The core and the package of a hardware thread, by numbers: two hardware threads with the same number share
/// the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Its core.
    pub core: usize,
    /// Its package.
    pub package: usize,
}

impl Topology {
    /// The units of each hardware thread, by the system's number. In a [flat](Self::flat) topology each
    /// hardware thread is a package.
    pub fn units(&self) -> impl Iterator<Item = (usize, Units)> {
        self.leaves.keys().filter_map(|number| Some((*number, units_of(self.leaf(*number)?))))
    }
}

impl MachineNode<'_> {
    /// The unit of that kind in which the node lies, perhaps itself. A node stands for several kinds where
    /// units of these kinds hold the same hardware threads. A kind of which the machine does not tell counts
    /// as the smallest unit that it can be.
    #[must_use]
    pub fn unit(self, kind: NodeKind) -> Self {
        let mut unit = self;
        while let Some(outer) = unit.parent().filter(|outer| outer.smallest_kind() >= kind) {
            unit = outer;
        }
        unit
    }
}

fn units_of(leaf: MachineNode<'_>) -> Units {
    let mut units = Units { core: leaf.number(), package: leaf.number() };
    let mut below = leaf;
    for node in leaf.ancestors() {
        // A NUMA node or a cache may lie around packages.
        if node.smallest_kind() == NodeKind::Machine || below.kind() == NodeKind::Package {
            break;
        }
        units.package = node.number();
        if node.smallest_kind() == NodeKind::Core {
            units.core = node.number();
        }
        below = node;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says of two hardware threads whether they share a core, and whether they share a package.
    fn shared(machine: &Topology, one: usize, other: usize) -> (bool, bool) {
        let of = |thread| machine.units().find(|(number, _)| *number == thread).expect("known").1;
        (of(one).core == of(other).core, of(one).package == of(other).package)
    }

    #[test]
    fn threads_share_a_core_or_a_package_or_neither() {
        let machine: Topology = "2 packages x 2 l3 x 2 cores x 2 threads".parse().expect("a topology");
        assert_eq!(shared(&machine, 0, 0), (true, true));
        assert_eq!(shared(&machine, 0, 1), (true, true));
        assert_eq!(shared(&machine, 0, 2), (false, true));
        assert_eq!(shared(&machine, 0, 7), (false, true));
        assert_eq!(shared(&machine, 0, 8), (false, false));
    }

    #[test]
    fn units_of_any_kind() {
        let numbers = |text: &str, thread| {
            let machine: Topology = text.parse().expect("a topology");
            let kinds = [
                NodeKind::HardwareThread,
                NodeKind::Core,
                NodeKind::L3,
                NodeKind::Package,
                NodeKind::Machine,
            ];
            let leaf = machine.leaf(thread).expect("known");
            kinds.map(|kind| {
                let unit = leaf.unit(kind).number();
                machine
                    .hardware_threads()
                    .filter(|&other| {
                        machine.leaf(other).is_some_and(|other| other.unit(kind).number() == unit)
                    })
                    .count()
            })
        };
        assert_eq!(numbers("2 packages x 2 l3 x 2 cores x 2 threads", 5), [1, 2, 4, 8, 16]);
        assert_eq!(numbers("2 packages x 1 l3 x 2 cores x 1 threads", 1), [1, 1, 2, 2, 4]);
        assert_eq!(numbers("1 packages x 2 cores", 1), [1, 1, 1, 2, 2]);
        assert_eq!(numbers("2 packages x 1 cores x 2 threads", 1), [1, 2, 2, 2, 4]);
    }

    #[test]
    fn units_are_known_where_the_tree_leaves_them_out() {
        let of = |text: &str| shared(&text.parse().expect("a topology"), 0, 1);
        assert_eq!(of("1 packages x 1 cores x 2 threads"), (true, true));
        assert_eq!(of("1 packages x 2 cores x 1 threads"), (false, true));
        assert_eq!(of("2 packages x 1 cores x 1 threads"), (false, false));
        assert_eq!(shared(&Topology::flat(2), 0, 1), (false, false));
    }
}
