//! The collective operations that have a choice of algorithms.

use crate::algorithm::Algorithm::{
    self, Auto, Batch, Binomial, Blackboard, Bruck, Dissemination, Leaders, Linear, Pairwise, Rabenseifner,
    RecursiveDoubling, RecursiveHalving, Ring, ScatterRing,
};

/// A collective operation that has a choice of algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectiveOperation {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Bcast`.
    Bcast,
    /// `MPI_Gather` and `MPI_Gatherv`, which has no tree.
    Gather,
    /// `MPI_Scatter` and `MPI_Scatterv`, which has no tree.
    Scatter,
    /// `MPI_Allgather` and `MPI_Allgatherv`.
    Allgather,
    /// `MPI_Alltoall`, and the v- and w-forms, which have messages of their own to each process.
    Alltoall,
    /// `MPI_Reduce`.
    Reduce,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`.
    ReduceScatter,
    /// `MPI_Scan` and `MPI_Exscan`.
    Scan,
}

impl CollectiveOperation {
    /// All of them.
    pub const ALL: [CollectiveOperation; 10] = [
        CollectiveOperation::Barrier,
        CollectiveOperation::Bcast,
        CollectiveOperation::Gather,
        CollectiveOperation::Scatter,
        CollectiveOperation::Allgather,
        CollectiveOperation::Alltoall,
        CollectiveOperation::Reduce,
        CollectiveOperation::Allreduce,
        CollectiveOperation::ReduceScatter,
        CollectiveOperation::Scan,
    ];

    /// Its name in a [table](crate::CollectiveTable).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CollectiveOperation::Barrier => "barrier",
            CollectiveOperation::Bcast => "bcast",
            CollectiveOperation::Gather => "gather",
            CollectiveOperation::Scatter => "scatter",
            CollectiveOperation::Allgather => "allgather",
            CollectiveOperation::Alltoall => "alltoall",
            CollectiveOperation::Reduce => "reduce",
            CollectiveOperation::Allreduce => "allreduce",
            CollectiveOperation::ReduceScatter => "reduce_scatter",
            CollectiveOperation::Scan => "scan",
        }
    }

    /// Its algorithms.
    #[must_use]
    pub const fn algorithms(self) -> &'static [Algorithm] {
        match self {
            CollectiveOperation::Barrier => &[Auto, Blackboard, Leaders, Dissemination],
            CollectiveOperation::Bcast => &[Auto, Blackboard, Leaders, Binomial, ScatterRing],
            CollectiveOperation::Gather | CollectiveOperation::Scatter => {
                &[Auto, Blackboard, Linear, Binomial]
            }
            CollectiveOperation::Allgather => &[Auto, Blackboard, Leaders, Bruck, Ring],
            CollectiveOperation::Alltoall => &[Auto, Blackboard, Bruck, Batch, Pairwise],
            CollectiveOperation::Reduce => &[Auto, Blackboard, Leaders, Binomial, Rabenseifner],
            CollectiveOperation::Allreduce => &[Auto, Blackboard, Leaders, RecursiveDoubling, Rabenseifner],
            CollectiveOperation::ReduceScatter => {
                &[Auto, Blackboard, RecursiveDoubling, RecursiveHalving, Pairwise]
            }
            CollectiveOperation::Scan => &[Auto, Blackboard, RecursiveDoubling],
        }
    }
}
