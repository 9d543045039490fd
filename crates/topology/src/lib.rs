//! The machine as a tree: who is near whom.
//!
//! [`Topology::of_machine`] asks `hwloc`, the library that MPI implementations and resource managers share, which knows
//! about restricted CPU sets, clustered caches and the errors of firmware tables. It is loaded when it is asked for
//! and not linked, so nothing above fails to start where it is missing; the error then says what to install, and a
//! caller that can do without goes on with [`Topology::flat`]. A topology for tests and simulations is written down:
//!
//! ```
//! use heddle_topology::{Kind, Topology};
//!
//! let machine: Topology = "2 packages x 4 l3 x 8 cores x 2 threads".parse()?;
//! assert_eq!(machine.hardware_threads().count(), 128);
//! let leaf = machine.leaf(127).expect("it has that many");
//! let kinds: Vec<Kind> = leaf.ancestors().map(|node| node.kind()).collect();
//! assert_eq!(kinds, [Kind::Core, Kind::L3, Kind::Package, Kind::Machine]);
//! # Ok::<(), heddle_topology::Error>(())
//! ```
//!
//! Levels that say nothing are left out: a node with a single child takes over the child's children, so a machine of two
//! cores is a root with two leaves.

mod build;
mod describe;
mod error;
mod hwloc;

pub use error::Error;

use std::collections::BTreeMap;
use std::fmt;

/// What a node of the tree is. From far apart to near in the usual order; on some machines a NUMA node lies around
/// packages, or a cache around NUMA nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// All of it: the root.
    Machine,
    /// A processor package (socket).
    Package,
    /// The hardware threads next to the same memory.
    Numa,
    /// A shared level-3 cache.
    L3,
    /// A core.
    Core,
    /// A hardware thread, the system's CPU: a leaf.
    HardwareThread,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "machine",
            Self::Package => "package",
            Self::Numa => "NUMA node",
            Self::L3 => "L3",
            Self::Core => "core",
            Self::HardwareThread => "hardware thread",
        })
    }
}

/// The machine as a tree; see the [crate](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The root comes first, each node before its children.
    nodes: Vec<Entry>,
    /// The leaf of each hardware thread, by the system's number.
    leaves: BTreeMap<usize, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    parent: Option<usize>,
    children: Vec<usize>,
    hardware_thread: Option<usize>,
}

impl Topology {
    /// The machine that this process may use, from `hwloc`.
    ///
    /// # Errors
    ///
    /// [`Error::NoHwloc`] where the library is missing, [`Error::HwlocVersion`] and [`Error::Hwloc`] where it is of no use.
    pub fn of_machine() -> Result<Self, Error> {
        hwloc::of_machine()
    }

    /// A machine of so many hardware threads (at least one), numbered from 0, all equally near.
    #[must_use]
    pub fn flat(hardware_threads: usize) -> Self {
        build::tree((0..hardware_threads.max(1)).map(|number| (number, build::Groups::default())))
    }

    /// The whole machine.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        Node { topology: self, number: 0 }
    }

    /// The leaf of a hardware thread, by the system's number.
    #[must_use]
    pub fn leaf(&self, hardware_thread: usize) -> Option<Node<'_>> {
        let number = *self.leaves.get(&hardware_thread)?;
        Some(Node { topology: self, number })
    }

    /// The system's numbers of all hardware threads, ascending.
    pub fn hardware_threads(&self) -> impl Iterator<Item = usize> {
        self.leaves.keys().copied()
    }

    /// For each hardware thread its number and its way down: the numbers of the nodes below the root that it lies in, the
    /// outermost first, and none further in than `lowest`. For whoever keeps a tree of its own, such as a lock: all
    /// ways have the same length; where nodes were left out the last one is repeated.
    #[must_use]
    pub fn places(&self, lowest: Kind) -> Vec<(usize, Vec<usize>)> {
        let mut places: Vec<(usize, Vec<usize>)> = self
            .leaves
            .iter()
            .map(|(hardware_thread, leaf)| {
                let leaf = Node { topology: self, number: *leaf };
                let within = std::iter::once(leaf).chain(leaf.ancestors());
                let within = within.filter(|node| node.number != 0 && node.kind() <= lowest);
                let mut way: Vec<usize> = within.map(|node| node.number).collect();
                way.reverse();
                (*hardware_thread, way)
            })
            .collect();
        let length = places.iter().map(|(_, way)| way.len()).max().unwrap_or(0);
        for (hardware_thread, way) in &mut places {
            let last = way.last().copied().unwrap_or(self.leaves[hardware_thread]);
            way.resize(length, last);
        }
        places
    }
}

/// A node of a [`Topology`].
#[derive(Clone, Copy)]
pub struct Node<'a> {
    topology: &'a Topology,
    number: usize,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.topology, other.topology) && self.number == other.number
    }
}

impl Eq for Node<'_> {}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.number)
    }
}

impl<'a> Node<'a> {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.entry().kind
    }

    /// Its number in the topology: the root is 0, a parent's is less than its children's.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The system's number, if it is a hardware thread.
    #[must_use]
    pub fn hardware_thread(&self) -> Option<usize> {
        self.entry().hardware_thread
    }

    /// What it lies in.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.entry().parent.map(|number| Self { topology: self.topology, number })
    }

    /// All that it lies in, the nearest first, the machine last.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<'a> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// What lies in it, none or at least two.
    pub fn children(&self) -> impl Iterator<Item = Self> + use<'a> {
        let topology = self.topology;
        topology.nodes[self.number].children.iter().map(move |number| Self { topology, number: *number })
    }

    fn entry(&self) -> &'a Entry {
        &self.topology.nodes[self.number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_machine_is_a_root_with_leaves() {
        let flat = Topology::flat(3);
        assert_eq!(flat.root().kind(), Kind::Machine);
        assert_eq!(flat.root().children().filter_map(|leaf| leaf.hardware_thread()).count(), 3);
        assert_eq!(flat.places(Kind::Core), [(0, vec![]), (1, vec![]), (2, vec![])]);
        assert_eq!(flat.places(Kind::HardwareThread)[2], (2, vec![3]));
        assert!(flat.leaf(3).is_none());
        let one = Topology::flat(0);
        assert_eq!(one.hardware_threads().collect::<Vec<_>>(), [0]);
        assert_eq!(one.leaf(0).map(|leaf| leaf.kind()), Some(Kind::Machine));
    }

    #[test]
    fn places_have_one_length() {
        let uneven = build::tree([
            (0, build::Groups { package: Some(0), ..Default::default() }),
            (1, build::Groups { package: Some(1), core: Some(1), ..Default::default() }),
            (2, build::Groups { package: Some(1), core: Some(2), ..Default::default() }),
            (3, build::Groups { package: Some(1), core: Some(2), ..Default::default() }),
        ]);
        let places = uneven.places(Kind::Core);
        assert!(places.iter().all(|(_, way)| way.len() == 2));
        assert_eq!(places[2].1, places[3].1);
        assert_eq!(places[1].1[0], places[2].1[0]);
        assert_ne!(places[1].1[1], places[2].1[1]);
        assert_ne!(places[0].1[0], places[1].1[0]);
    }
}
