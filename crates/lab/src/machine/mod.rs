//! A machine: its sockets, clusters and cores, and what its parts cost.

mod costs;

pub use costs::Costs;

/// A machine of `sockets` x `clusters` x `cores` cores, numbered socket by socket, cluster by cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// What it is called: `haswell-88`, `2x44`.
    pub name: String,
    /// Sockets.
    pub sockets: usize,
    /// Clusters per socket: cores that share a last-level cache.
    pub clusters: usize,
    /// Cores per cluster.
    pub cores: usize,
    /// Picoseconds and sizes.
    pub costs: Costs,
}
