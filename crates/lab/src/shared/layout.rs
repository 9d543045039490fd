//! The places of cores.

use crate::machine::Machine;

/// The numbers of a [`Machine`], for what the holder of the token asks often.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CoreLayout {
    /// Cores in all.
    pub cores: u32,
    /// Cores per socket.
    pub per_socket: u32,
    /// Cores per cluster.
    pub per_cluster: u32,
}

impl CoreLayout {
    /// The layout of `machine`.
    ///
    /// # Panics
    ///
    /// With more than 2^32 cores.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let number = |cores: usize| u32::try_from(cores).expect("a machine has fewer cores");
        let per_socket = machine.clusters * machine.cores;
        Self {
            cores: number(machine.sockets * per_socket),
            per_socket: number(per_socket),
            per_cluster: number(machine.cores),
        }
    }

    /// The socket of `core`.
    #[must_use]
    pub fn socket_of(&self, core: u32) -> u32 {
        core / self.per_socket
    }

    /// The cluster of `core`, counted through all sockets.
    #[must_use]
    pub fn cluster_of(&self, core: u32) -> u32 {
        core / self.per_cluster
    }
}
