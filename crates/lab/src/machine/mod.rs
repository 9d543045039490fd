//! A machine: its sockets, clusters and cores, and what its parts cost.
//!
//! | module | what it has |
//! |---|---|
//! | `costs` | what the parts cost: fields, units, meanings |
//! | `cpu_set` | how Linux writes a set of cores |
//! | `error` | what is wrong with a description |
//! | `known` | the machines that have a name |
//! | `parse` | a machine from an argument: a size, a name, or a file |
//! | `synthetic` | the machine in words of hwloc |
//! | `text` | the text of a file: reading it, and writing it |
//! | [`tree`] | what Linux says of the machine, as files |

mod costs;
mod cpu_set;
mod error;
mod known;
mod parse;
mod synthetic;
mod text;
pub mod tree;

pub use costs::Costs;
pub use error::Error;

use std::ops::Range;

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
    /// The level of the cache that a cluster shares: 3, or 2 where there is no third.
    pub last_level: usize,
    /// Picoseconds and sizes.
    pub costs: Costs,
}

/// The most cores that a machine may have.
pub const MOST_CORES: usize = 192;

impl Machine {
    /// How many cores it has.
    #[must_use]
    pub fn cores_in_all(&self) -> usize {
        self.sockets * self.cores_per_socket()
    }

    /// How many cores a socket has.
    #[must_use]
    pub fn cores_per_socket(&self) -> usize {
        self.clusters * self.cores
    }

    /// The socket of a core.
    #[must_use]
    pub fn socket_of(&self, core: usize) -> usize {
        core / self.cores_per_socket()
    }

    /// The cluster of a core; they are numbered through all sockets.
    #[must_use]
    pub fn cluster_of(&self, core: usize) -> usize {
        core / self.cores
    }

    /// The cores of a socket.
    #[must_use]
    pub fn cores_of_socket(&self, socket: usize) -> Range<usize> {
        socket * self.cores_per_socket()..(socket + 1) * self.cores_per_socket()
    }

    /// The cores of a cluster.
    #[must_use]
    pub fn cores_of_cluster(&self, cluster: usize) -> Range<usize> {
        cluster * self.cores..(cluster + 1) * self.cores
    }

    /// Picoseconds until the core `to` has a line that the core `from` has written.
    #[must_use]
    pub fn transfer(&self, from: usize, to: usize) -> u64 {
        if from == to {
            self.costs.own
        } else if self.cluster_of(from) == self.cluster_of(to) {
            self.costs.cluster
        } else if self.socket_of(from) == self.socket_of(to) {
            self.costs.socket
        } else {
            self.costs.far
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_numbered_socket_by_socket() {
        let machine = Machine::parse("epyc-7742").expect("a name");
        assert_eq!(machine.cores_in_all(), 128);
        assert_eq!(machine.cores_per_socket(), 64);
        assert_eq!([0, 63, 64, 127].map(|core| machine.socket_of(core)), [0, 0, 1, 1]);
        assert_eq!([0, 3, 4, 63, 64, 127].map(|core| machine.cluster_of(core)), [0, 0, 1, 15, 16, 31]);
        for core in 0..machine.cores_in_all() {
            assert!(machine.cores_of_socket(machine.socket_of(core)).contains(&core));
            assert!(machine.cores_of_cluster(machine.cluster_of(core)).contains(&core));
        }
    }

    #[test]
    fn a_transfer_costs_by_distance() {
        let machine = Machine::parse("epyc-7742").expect("a name");
        let costs = machine.costs;
        assert_eq!(machine.transfer(5, 5), costs.own);
        assert_eq!(machine.transfer(4, 7), costs.cluster);
        assert_eq!(machine.transfer(7, 8), costs.socket);
        assert_eq!(machine.transfer(63, 64), costs.far);
        assert_eq!(machine.transfer(64, 63), costs.far);
    }
}
