//! The tree from a table: for each hardware thread the package, NUMA node, cache and core that it belongs to.

use crate::tree::{Entry, NodeKind, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// The groups of each kind that a hardware thread belongs to, by numbers that are unique within the kind;
/// `None` where the group is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) package: Option<usize>,
    pub(crate) numa: Option<usize>,
    pub(crate) l3: Option<usize>,
    pub(crate) core: Option<usize>,
}

impl Groups {
    pub(crate) const KINDS: [NodeKind; 4] = [NodeKind::Package, NodeKind::Numa, NodeKind::L3, NodeKind::Core];

    pub(crate) fn get(&self, kind: NodeKind) -> Option<usize> {
        match kind {
            NodeKind::Package => self.package,
            NodeKind::Numa => self.numa,
            NodeKind::L3 => self.l3,
            NodeKind::Core => self.core,
            NodeKind::Machine | NodeKind::HardwareThread => None,
        }
    }

    pub(crate) fn set(&mut self, kind: NodeKind, number: usize) {
        match kind {
            NodeKind::Package => self.package = Some(number),
            NodeKind::Numa => self.numa = Some(number),
            NodeKind::L3 => self.l3 = Some(number),
            NodeKind::Core => self.core = Some(number),
            NodeKind::Machine | NodeKind::HardwareThread => {}
        }
    }
}

impl Topology {
    /// A machine of `hardware_threads` hardware threads (at least one), numbered from 0, all equally near.
    #[must_use]
    pub fn flat(hardware_threads: usize) -> Self {
        tree((0..hardware_threads.max(1)).map(|number| (number, Groups::default())))
    }
}

/// The tree of these hardware threads, of which there is at least one.
///
/// The kinds are ordered by how many groups each has: the outermost kind has the fewest. If two
/// kinds cross (a cache shared by parts of two NUMA nodes), the inner one is split.
pub(crate) fn tree(threads: impl IntoIterator<Item = (usize, Groups)>) -> Topology {
    let threads: Vec<(usize, Groups)> = threads.into_iter().collect();
    let mut kinds = Groups::KINDS;
    let count =
        |kind| threads.iter().filter_map(|(_, groups)| groups.get(kind)).collect::<BTreeSet<_>>().len();
    kinds.sort_by_key(|kind| (count(*kind), *kind));

    let mut nodes = vec![entry(NodeKind::Machine, None)];
    let mut node_of: BTreeMap<(usize, NodeKind, usize), usize> = BTreeMap::new();
    let mut add = |nodes: &mut Vec<Entry>, parent, kind, group| {
        *node_of.entry((parent, kind, group)).or_insert_with(|| {
            nodes.push(entry(kind, Some(parent)));
            let number = nodes.len() - 1;
            nodes[parent].children.push(number);
            number
        })
    };
    for (hardware_thread, groups) in &threads {
        let mut at = 0;
        for kind in kinds {
            if let Some(group) = groups.get(kind) {
                at = add(&mut nodes, at, kind, group);
            }
        }
        let leaf = add(&mut nodes, at, NodeKind::HardwareThread, *hardware_thread);
        nodes[leaf].hardware_thread = Some(*hardware_thread);
    }
    collapse(&nodes)
}

fn entry(kind: NodeKind, parent: Option<usize>) -> Entry {
    Entry { kind, smallest: kind, parent, children: Vec::new(), hardware_thread: None }
}

/// A node with a single child gets the child's children, or is replaced by the child if that is a hardware
/// thread; the root stays the root.
fn collapse(nodes: &[Entry]) -> Topology {
    let mut topology = Topology { nodes: Vec::new(), leaves: BTreeMap::new() };
    let mut rest = vec![(0, None)];
    while let Some((outer, parent)) = rest.pop() {
        let mut old: usize = outer;
        while let [only] = nodes[old].children[..] {
            old = only;
        }
        let number = topology.nodes.len();
        let is_leaf = parent.is_some() && nodes[old].children.is_empty();
        let kind = nodes[if is_leaf { old } else { outer }].kind;
        let Entry { kind: smallest, hardware_thread, .. } = nodes[old];
        topology.nodes.push(Entry { smallest, hardware_thread, ..entry(kind, parent) });
        if let Some(parent) = parent {
            topology.nodes[parent].children.push(number);
        }
        if let Some(hardware_thread) = nodes[old].hardware_thread {
            topology.leaves.insert(hardware_thread, number);
        }
        rest.extend(nodes[old].children.iter().rev().map(|child| (*child, Some(number))));
    }
    topology
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds_above(topology: &Topology, hardware_thread: usize) -> Vec<NodeKind> {
        let leaf = topology.leaf(hardware_thread).expect("known");
        leaf.ancestors().map(|node| node.kind()).collect()
    }

    #[test]
    fn a_cache_around_numa_nodes_comes_above_them() {
        let tree = tree((0..8).map(|number| {
            (
                number,
                Groups {
                    numa: Some(number / 2),
                    l3: Some(number / 4),
                    core: Some(number),
                    ..Default::default()
                },
            )
        }));
        assert_eq!(kinds_above(&tree, 5), [NodeKind::Numa, NodeKind::L3, NodeKind::Machine]);
    }

    #[test]
    fn crossing_groups_split_the_inner_ones() {
        let tree = tree((0..6).map(|number| {
            (number, Groups { package: Some(number / 3), numa: Some(number / 2), ..Default::default() })
        }));
        let numa = |number| tree.leaf(number).and_then(|leaf| leaf.parent());
        assert_eq!(numa(0), numa(1));
        assert_ne!(numa(2), numa(3), "in one NUMA node, but on two packages");
    }

    #[test]
    fn single_children_are_left_out() {
        let tree = tree((0..2).map(|number| {
            let groups = Groups { package: Some(0), numa: Some(0), l3: Some(0), core: Some(number) };
            (number, groups)
        }));
        assert_eq!(kinds_above(&tree, 1), [NodeKind::Machine]);
        assert_eq!(tree.nodes.len(), 3);
    }

    #[test]
    fn a_flat_machine_is_a_root_with_leaves() {
        let flat = Topology::flat(3);
        assert_eq!(flat.root().kind(), NodeKind::Machine);
        assert_eq!(flat.root().children().filter_map(|leaf| leaf.hardware_thread()).count(), 3);
        assert_eq!(flat.places(NodeKind::Core), [(0, vec![]), (1, vec![]), (2, vec![])]);
        assert_eq!(flat.places(NodeKind::HardwareThread)[2], (2, vec![3]));
        assert!(flat.leaf(3).is_none());
        let one = Topology::flat(0);
        assert_eq!(one.hardware_threads().collect::<Vec<_>>(), [0]);
        assert_eq!(one.leaf(0).map(|leaf| leaf.kind()), Some(NodeKind::Machine));
    }

    #[test]
    fn places_have_one_length() {
        let uneven = tree([
            (0, Groups { package: Some(0), ..Default::default() }),
            (1, Groups { package: Some(1), core: Some(1), ..Default::default() }),
            (2, Groups { package: Some(1), core: Some(2), ..Default::default() }),
            (3, Groups { package: Some(1), core: Some(2), ..Default::default() }),
        ]);
        let places = uneven.places(NodeKind::Core);
        assert!(places.iter().all(|(_, path)| path.len() == 2));
        assert_eq!(places[2].1, places[3].1);
        assert_eq!(places[1].1[0], places[2].1[0]);
        assert_ne!(places[1].1[1], places[2].1[1]);
        assert_ne!(places[0].1[0], places[1].1[0]);
    }
}
