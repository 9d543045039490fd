//! How collective operations are carried out: an algorithm for each, and the points where one algorithm
//! takes over from another.
//!
//! All processes of a communicator must choose alike: a process cannot receive by one algorithm what another
//! sends by another one. They hold for communicators with one group, in the blocking, nonblocking and
//! persistent forms. Where the algorithm chosen cannot do what is asked, it is chosen as by `auto`: so for an
//! operator that does not commute, or if there is no blackboard.

use crate::algorithm::Algorithm::{
    self, Auto, Batch, Binomial, Blackboard, Bruck, Dissemination, Leaders, Linear, Pairwise, Rabenseifner,
    RecursiveDoubling, RecursiveHalving, Ring, ScatterRing,
};
use heddle_model::{Choice, Number, OneOf};

/// One of these algorithms.
const fn among(algorithms: &'static [Algorithm]) -> OneOf<Algorithm> {
    OneOf { values: algorithms, name: Algorithm::name }
}

/// The values of a switch point: a number in MPI_T has 32 bits.
const SWITCH_POINTS: Number<usize> = Number { least: 0, most: i32::MAX as usize };

heddle_model::settings! {
    /// The algorithms of collective operations, and where one takes over from another.
    #[derive(Debug, Clone)]
    pub struct Collectives {
        barrier: Algorithm {
            variable: "HEDDLE_BARRIER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Barrier",
            values: among(&[Auto, Blackboard, Leaders, Dissemination]),
            default: Auto,
            common: true,
        }
        bcast: Algorithm {
            variable: "HEDDLE_BCAST_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Bcast",
            values: among(&[Auto, Blackboard, Leaders, Binomial, ScatterRing]),
            default: Auto,
            common: true,
        }
        gather: Algorithm {
            variable: "HEDDLE_GATHER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Gather and MPI_Gatherv (which has no tree)",
            values: among(&[Auto, Blackboard, Linear, Binomial]),
            default: Auto,
            common: true,
        }
        scatter: Algorithm {
            variable: "HEDDLE_SCATTER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Scatter and MPI_Scatterv (which has no tree)",
            values: among(&[Auto, Blackboard, Linear, Binomial]),
            default: Auto,
            common: true,
        }
        allgather: Algorithm {
            variable: "HEDDLE_ALLGATHER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Allgather and MPI_Allgatherv",
            values: among(&[Auto, Blackboard, Leaders, Bruck, Ring]),
            default: Auto,
            common: true,
        }
        alltoall: Algorithm {
            variable: "HEDDLE_ALLTOALL_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Alltoall, and of the v- and w-forms, which have messages of their own to each process, batch or pairwise",
            values: among(&[Auto, Blackboard, Bruck, Batch, Pairwise]),
            default: Auto,
            common: true,
        }
        reduce: Algorithm {
            variable: "HEDDLE_REDUCE_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Reduce",
            values: among(&[Auto, Blackboard, Leaders, Binomial, Rabenseifner]),
            default: Auto,
            common: true,
        }
        allreduce: Algorithm {
            variable: "HEDDLE_ALLREDUCE_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Allreduce",
            values: among(&[Auto, Blackboard, Leaders, RecursiveDoubling, Rabenseifner]),
            default: Auto,
            common: true,
        }
        reduce_scatter: Algorithm {
            variable: "HEDDLE_REDUCE_SCATTER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block",
            values: among(&[Auto, Blackboard, RecursiveDoubling, RecursiveHalving, Pairwise]),
            default: Auto,
            common: true,
        }
        scan: Algorithm {
            variable: "HEDDLE_SCAN_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Scan and MPI_Exscan",
            values: among(&[Auto, Blackboard, RecursiveDoubling]),
            default: Auto,
            common: true,
        }
        bcast_leaders_bytes: usize {
            variable: "HEDDLE_BCAST_LEADERS_BYTES",
            class: Tuning,
            meaning: "MPI_Bcast on several machines: data of up to this many bytes go by leaders, longer data by messages among all processes",
            values: SWITCH_POINTS,
            default: 2147483647,
            common: true,
        }
        bcast_parts_bytes: usize {
            variable: "HEDDLE_BCAST_PARTS_BYTES",
            class: Tuning,
            meaning: "MPI_Bcast of two processes on the blackboard: data of up to this many bytes are published in parts, longer ones go in a message",
            values: SWITCH_POINTS,
            default: 4194304,
            common: true,
        }
        bcast_scatter_bytes: usize {
            variable: "HEDDLE_BCAST_SCATTER_BYTES",
            class: Tuning,
            meaning: "MPI_Bcast by messages: from this many bytes on, scatter-ring; a tree would send all the data ⌈log₂ n⌉ times one after the other",
            values: SWITCH_POINTS,
            default: 65536,
            common: true,
        }
        bcast_scatter_ranks: usize {
            variable: "HEDDLE_BCAST_SCATTER_RANKS",
            class: Tuning,
            meaning: "MPI_Bcast by messages: from this many processes on, scatter-ring",
            values: SWITCH_POINTS,
            default: 4,
            common: true,
        }
        gather_linear_bytes: usize {
            variable: "HEDDLE_GATHER_LINEAR_BYTES",
            class: Tuning,
            meaning: "MPI_Gather by messages: blocks from this many bytes on go straight to the root, so that no process copies another one's block",
            values: SWITCH_POINTS,
            default: 2048,
            common: true,
        }
        scatter_linear_bytes: usize {
            variable: "HEDDLE_SCATTER_LINEAR_BYTES",
            class: Tuning,
            meaning: "MPI_Scatter by messages: blocks from this many bytes on come straight from the root",
            values: SWITCH_POINTS,
            default: 2048,
            common: true,
        }
        scatter_exposed_bytes: usize {
            variable: "HEDDLE_SCATTER_EXPOSED_BYTES",
            class: Tuning,
            meaning: "MPI_Scatter of three processes and more on the blackboard: blocks from this many bytes on are copied from where they are, by the kernel, if all of them do not fit there; shorter ones go by messages",
            values: SWITCH_POINTS,
            default: 32768,
            common: true,
        }
        allgather_leaders_bytes: usize {
            variable: "HEDDLE_ALLGATHER_LEADERS_BYTES",
            class: Tuning,
            meaning: "MPI_Allgather on several machines: results of up to this many bytes go by leaders, longer ones by messages among all processes",
            values: SWITCH_POINTS,
            default: 2147483647,
            common: true,
        }
        allgather_exposed_bytes: usize {
            variable: "HEDDLE_ALLGATHER_EXPOSED_BYTES",
            class: Tuning,
            meaning: "MPI_Allgather on the blackboard: blocks from this many bytes on are copied from where they are, by the kernel; shorter ones are published in parts",
            values: SWITCH_POINTS,
            default: 4194304,
            common: true,
        }
        allgather_ring_bytes: usize {
            variable: "HEDDLE_ALLGATHER_RING_BYTES",
            class: Tuning,
            meaning: "MPI_Allgather by messages: results from this many bytes on go round a ring, which copies nothing twice",
            values: SWITCH_POINTS,
            default: 16384,
            common: true,
        }
        alltoall_parts_bytes: usize {
            variable: "HEDDLE_ALLTOALL_PARTS_BYTES",
            class: Tuning,
            meaning: "MPI_Alltoall of two processes on the blackboard: blocks of up to this many bytes are published in parts, longer ones go by messages",
            values: SWITCH_POINTS,
            default: 1048576,
            common: true,
        }
        alltoall_bruck_bytes: usize {
            variable: "HEDDLE_ALLTOALL_BRUCK_BYTES",
            class: Tuning,
            meaning: "MPI_Alltoall by messages: blocks up to this many bytes travel together",
            values: SWITCH_POINTS,
            default: 256,
            common: true,
        }
        alltoall_bruck_ranks: usize {
            variable: "HEDDLE_ALLTOALL_BRUCK_RANKS",
            class: Tuning,
            meaning: "MPI_Alltoall by messages: from this many processes on, small blocks travel together",
            values: SWITCH_POINTS,
            default: 8,
            common: true,
        }
        alltoall_batch_bytes: usize {
            variable: "HEDDLE_ALLTOALL_BATCH_BYTES",
            class: Tuning,
            meaning: "MPI_Alltoall by messages: blocks up to this many bytes are sent all at once, larger ones pair by pair, so that only one message at a time crosses memory",
            values: SWITCH_POINTS,
            default: 32768,
            common: true,
        }
        reduce_leaders_bytes: usize {
            variable: "HEDDLE_REDUCE_LEADERS_BYTES",
            class: Tuning,
            meaning: "MPI_Reduce on several machines: vectors of up to this many bytes go by leaders, longer ones by messages among all processes",
            values: SWITCH_POINTS,
            default: 2147483647,
            common: true,
        }
        reduce_rabenseifner_bytes: usize {
            variable: "HEDDLE_REDUCE_RABENSEIFNER_BYTES",
            class: Tuning,
            meaning: "MPI_Reduce by messages: vectors from this many bytes on are reduced in pieces by all processes at once",
            values: SWITCH_POINTS,
            default: 16384,
            common: true,
        }
        allreduce_leaders_bytes: usize {
            variable: "HEDDLE_ALLREDUCE_LEADERS_BYTES",
            class: Tuning,
            meaning: "MPI_Allreduce on several machines: vectors of up to this many bytes go by leaders, longer ones by messages among all processes",
            values: SWITCH_POINTS,
            default: 2147483647,
            common: true,
        }
        allreduce_rabenseifner_bytes: usize {
            variable: "HEDDLE_ALLREDUCE_RABENSEIFNER_BYTES",
            class: Tuning,
            meaning: "MPI_Allreduce by messages: vectors from this many bytes on are reduced in pieces by all processes at once",
            values: SWITCH_POINTS,
            default: 16384,
            common: true,
        }
        reduce_scatter_pairwise_bytes: usize {
            variable: "HEDDLE_REDUCE_SCATTER_PAIRWISE_BYTES",
            class: Tuning,
            meaning: "MPI_Reduce_scatter by messages: vectors from this many bytes on are exchanged pair by pair, each block straight to its process",
            values: SWITCH_POINTS,
            default: 262144,
            common: true,
        }
        reduce_pieces_bytes: usize {
            variable: "HEDDLE_REDUCE_PIECES_BYTES",
            class: Tuning,
            meaning: "MPI_Reduce on the blackboard: if the vectors of all processes have more than this many bytes together, each process computes a piece",
            values: SWITCH_POINTS,
            default: 65536,
            common: true,
        }
        allreduce_pieces_bytes: usize {
            variable: "HEDDLE_ALLREDUCE_PIECES_BYTES",
            class: Tuning,
            meaning: "MPI_Allreduce on the blackboard: if the vectors of all processes have more than this many bytes together, each process computes a piece",
            values: SWITCH_POINTS,
            default: 16384,
            common: true,
        }
    }
    /// A setting for each of them.
    table: [pub(crate) const COLLECTIVES];
    /// The values that hold unless the user chooses others.
    defaults: [const fn with_defaults];
}

impl Collectives {
    /// The values that hold unless the user chooses others.
    pub const DEFAULT: Collectives = Collectives::with_defaults();
}

impl Default for Collectives {
    fn default() -> Collectives {
        Collectives::DEFAULT
    }
}
