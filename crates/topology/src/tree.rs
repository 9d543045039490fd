//! The tree, and how it is walked.

use std::collections::BTreeMap;
use std::fmt;

/// The kind of a node of the tree. From far apart to near in the usual order; on some machines a NUMA node
/// lies around packages, or a cache around NUMA nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
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

impl fmt::Display for NodeKind {
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

/// The machine as a tree; see the [crate].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The root comes first, each node before its children.
    pub(crate) nodes: Vec<Entry>,
    /// The leaf of each hardware thread, by the system's number.
    pub(crate) leaves: BTreeMap<usize, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) kind: NodeKind,
    /// The smallest unit that contains the same hardware threads.
    pub(crate) smallest: NodeKind,
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
    pub(crate) hardware_thread: Option<usize>,
}

/// A description does not name the units that were left out, so they make no difference.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let seen = |it: &Self| (it.kind, it.parent, it.hardware_thread);
        seen(self) == seen(other) && self.children == other.children
    }
}

impl Eq for Entry {}

impl Topology {
    /// The whole machine.
    #[must_use]
    pub fn root(&self) -> MachineNode<'_> {
        MachineNode { topology: self, number: 0 }
    }

    /// The leaf of a hardware thread, by the system's number.
    #[must_use]
    pub fn leaf(&self, hardware_thread: usize) -> Option<MachineNode<'_>> {
        let number = *self.leaves.get(&hardware_thread)?;
        Some(MachineNode { topology: self, number })
    }

    /// The system's numbers of all hardware threads, ascending.
    pub fn hardware_threads(&self) -> impl Iterator<Item = usize> {
        self.leaves.keys().copied()
    }

    /// For each hardware thread its number and its path from the root: the numbers of the nodes below
    /// the root that it lies in, the outermost first, and none further in than `lowest`. For a caller
    /// that builds another tree from them, such as a lock: all paths have the same length; a shorter
    /// one repeats its last node.
    #[must_use]
    pub fn places(&self, lowest: NodeKind) -> Vec<(usize, Vec<usize>)> {
        let mut places: Vec<(usize, Vec<usize>)> = self
            .leaves
            .iter()
            .map(|(hardware_thread, leaf)| {
                let leaf = MachineNode { topology: self, number: *leaf };
                let within = std::iter::once(leaf).chain(leaf.ancestors());
                let within = within.filter(|node| node.number != 0 && node.kind() <= lowest);
                let mut path: Vec<usize> = within.map(|node| node.number).collect();
                path.reverse();
                (*hardware_thread, path)
            })
            .collect();
        let length = places.iter().map(|(_, path)| path.len()).max().unwrap_or(0);
        for (hardware_thread, path) in &mut places {
            let last = path.last().copied().unwrap_or(self.leaves[hardware_thread]);
            path.resize(length, last);
        }
        places
    }
}

/// A node of a [`Topology`].
#[derive(Clone, Copy)]
pub struct MachineNode<'a> {
    topology: &'a Topology,
    number: usize,
}

impl PartialEq for MachineNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.topology, other.topology) && self.number == other.number
    }
}

impl Eq for MachineNode<'_> {}

impl fmt::Debug for MachineNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.number)
    }
}

impl<'a> MachineNode<'a> {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
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

    /// The node that contains it.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.entry().parent.map(|number| Self { topology: self.topology, number })
    }

    /// The nodes that it lies in, the nearest first, the machine last.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<'a> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// The nodes directly below it: none, or at least two.
    pub fn children(&self) -> impl Iterator<Item = Self> + use<'a> {
        let topology = self.topology;
        topology.nodes[self.number].children.iter().map(move |number| Self { topology, number: *number })
    }

    /// The kind of the smallest unit that contains the same hardware threads. It is another one than
    /// [`kind`](Self::kind) if nodes with a single child were left out.
    pub(crate) fn smallest_kind(&self) -> NodeKind {
        self.entry().smallest
    }

    fn entry(&self) -> &'a Entry {
        &self.topology.nodes[self.number]
    }
}
