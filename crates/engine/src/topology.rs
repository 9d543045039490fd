//! Virtual topologies (MPI 5.0, chapter 8).

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
}

/// A grid of processes, ranks in row-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cartesian {
    /// Processes in each dimension.
    pub dims: Vec<usize>,
    /// Whether each dimension is a ring.
    pub periods: Vec<bool>,
}
