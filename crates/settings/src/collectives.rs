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
use crate::given::variable_or;
use crate::setting::Setting;
use heddle_model::{Choice, Class, Values};

/// The largest value of a switch point: a number in MPI_T has 32 bits.
const MOST: usize = i32::MAX as usize;

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 0..=MOST) => Ok(number),
        _ => Err(format!("a number from 0 to {MOST} is wanted")),
    }
}

/// Declares [`Collectives`], and a [`Setting`] for each of its fields.
macro_rules! collectives {
    (
        algorithms { $($algorithm:ident: $algorithm_variable:literal, $operations:literal, [$($option:ident),*];)* }
        switch_points { $($point:ident: $point_variable:literal, $default:literal, $meaning:literal;)* }
    ) => {
        /// The algorithms of collective operations, and where one takes over from another.
        #[derive(Debug, Clone)]
        pub struct Collectives {
            $(#[doc = concat!("`", $algorithm_variable, "`: the algorithm of ", $operations)]
            pub $algorithm: Algorithm,)*
            $(#[doc = concat!("`", $point_variable, "`: ", $meaning)]
            pub $point: usize,)*
        }

        /// A setting for each of them.
        pub(crate) const COLLECTIVES: &[Setting<Collectives>] = &[
            $(Setting {
                variable: $algorithm_variable,
                class: Class::Tuning,
                meaning: concat!("the algorithm of ", $operations),
                values: Values::Names,
                common: true,
                allowed: || Algorithm::names_of(&[$($option),*]),
                default: "auto",
                get: |collectives| collectives.$algorithm.name().to_owned(),
                check: |text| Algorithm::among(&[$($option),*], text).map(drop),
            },)*
            $(Setting {
                variable: $point_variable,
                class: Class::Tuning,
                meaning: $meaning,
                values: Values::Numbers,
                common: true,
                allowed: || format!("a number from 0 to {MOST}"),
                default: stringify!($default),
                get: |collectives| collectives.$point.to_string(),
                check: |text| number(text).map(drop),
            },)*
        ];

        impl Collectives {
            /// The values that hold unless the user chooses others.
            pub const DEFAULT: Collectives = Collectives { $($algorithm: Auto,)* $($point: $default,)* };

            /// Reads the values written to control variables, and the environment for all others.
            ///
            /// # Errors
            /// A message that names the variable, its value and the allowed ones.
            pub(crate) fn chosen() -> Result<Collectives, String> {
                Ok(Collectives {
                    $($algorithm: variable_or($algorithm_variable, Auto, |text| {
                        Algorithm::among(&[$($option),*], text)
                    })?,)*
                    $($point: variable_or($point_variable, $default, number)?,)*
                })
            }
        }
    };
}

collectives! {
    algorithms {
        barrier: "HEDDLE_BARRIER_ALGORITHM", "MPI_Barrier", [Blackboard, Leaders, Dissemination];
        bcast: "HEDDLE_BCAST_ALGORITHM", "MPI_Bcast", [Blackboard, Leaders, Binomial, ScatterRing];
        gather: "HEDDLE_GATHER_ALGORITHM", "MPI_Gather and MPI_Gatherv (which has no tree)",
            [Blackboard, Linear, Binomial];
        scatter: "HEDDLE_SCATTER_ALGORITHM", "MPI_Scatter (MPI_Scatterv is always linear)",
            [Blackboard, Linear, Binomial];
        allgather: "HEDDLE_ALLGATHER_ALGORITHM", "MPI_Allgather and MPI_Allgatherv",
            [Blackboard, Leaders, Bruck, Ring];
        alltoall: "HEDDLE_ALLTOALL_ALGORITHM",
            "MPI_Alltoall, and of the v- and w-forms, which have messages of their own to each process, batch or pairwise",
            [Blackboard, Bruck, Batch, Pairwise];
        reduce: "HEDDLE_REDUCE_ALGORITHM", "MPI_Reduce", [Blackboard, Leaders, Binomial, Rabenseifner];
        allreduce: "HEDDLE_ALLREDUCE_ALGORITHM", "MPI_Allreduce",
            [Blackboard, Leaders, RecursiveDoubling, Rabenseifner];
        reduce_scatter: "HEDDLE_REDUCE_SCATTER_ALGORITHM", "MPI_Reduce_scatter and MPI_Reduce_scatter_block",
            [Blackboard, RecursiveDoubling, RecursiveHalving, Pairwise];
        scan: "HEDDLE_SCAN_ALGORITHM", "MPI_Scan and MPI_Exscan", [Blackboard, RecursiveDoubling];
    }
    switch_points {
        bcast_leaders_bytes: "HEDDLE_BCAST_LEADERS_BYTES", 2147483647,
            "MPI_Bcast on several machines: data of up to this many bytes go by leaders, longer data by messages among all processes";
        bcast_scatter_bytes: "HEDDLE_BCAST_SCATTER_BYTES", 65536,
            "MPI_Bcast by messages: from this many bytes on, scatter-ring; a tree would send all the data ⌈log₂ n⌉ times one after the other";
        bcast_scatter_ranks: "HEDDLE_BCAST_SCATTER_RANKS", 4,
            "MPI_Bcast by messages: from this many processes on, scatter-ring";
        gather_linear_bytes: "HEDDLE_GATHER_LINEAR_BYTES", 2048,
            "MPI_Gather by messages: blocks from this many bytes on go straight to the root, so that no process copies another one's block";
        scatter_linear_bytes: "HEDDLE_SCATTER_LINEAR_BYTES", 2048,
            "MPI_Scatter by messages: blocks from this many bytes on come straight from the root";
        allgather_leaders_bytes: "HEDDLE_ALLGATHER_LEADERS_BYTES", 2147483647,
            "MPI_Allgather on several machines: results of up to this many bytes go by leaders, longer ones by messages among all processes";
        allgather_ring_bytes: "HEDDLE_ALLGATHER_RING_BYTES", 16384,
            "MPI_Allgather by messages: results from this many bytes on go round a ring, which copies nothing twice";
        alltoall_bruck_bytes: "HEDDLE_ALLTOALL_BRUCK_BYTES", 256,
            "MPI_Alltoall by messages: blocks up to this many bytes travel together";
        alltoall_bruck_ranks: "HEDDLE_ALLTOALL_BRUCK_RANKS", 8,
            "MPI_Alltoall by messages: from this many processes on, small blocks travel together";
        alltoall_batch_bytes: "HEDDLE_ALLTOALL_BATCH_BYTES", 32768,
            "MPI_Alltoall by messages: blocks up to this many bytes are sent all at once, larger ones pair by pair, so that only one message at a time crosses memory";
        reduce_leaders_bytes: "HEDDLE_REDUCE_LEADERS_BYTES", 2147483647,
            "MPI_Reduce on several machines: vectors of up to this many bytes go by leaders, longer ones by messages among all processes";
        reduce_rabenseifner_bytes: "HEDDLE_REDUCE_RABENSEIFNER_BYTES", 16384,
            "MPI_Reduce by messages: vectors from this many bytes on are reduced in pieces by all processes at once";
        allreduce_leaders_bytes: "HEDDLE_ALLREDUCE_LEADERS_BYTES", 2147483647,
            "MPI_Allreduce on several machines: vectors of up to this many bytes go by leaders, longer ones by messages among all processes";
        allreduce_rabenseifner_bytes: "HEDDLE_ALLREDUCE_RABENSEIFNER_BYTES", 16384,
            "MPI_Allreduce by messages: vectors from this many bytes on are reduced in pieces by all processes at once";
        reduce_scatter_pairwise_bytes: "HEDDLE_REDUCE_SCATTER_PAIRWISE_BYTES", 262144,
            "MPI_Reduce_scatter by messages: vectors from this many bytes on are exchanged pair by pair, each block straight to its process";
        reduce_pieces_bytes: "HEDDLE_REDUCE_PIECES_BYTES", 65536,
            "MPI_Reduce on the blackboard: if the vectors of all processes have more than this many bytes together, each process computes a piece";
        allreduce_pieces_bytes: "HEDDLE_ALLREDUCE_PIECES_BYTES", 16384,
            "MPI_Allreduce on the blackboard: if the vectors of all processes have more than this many bytes together, each process computes a piece";
        reduce_exposed_bytes: "HEDDLE_REDUCE_EXPOSED_BYTES", 131072,
            "persistent MPI_Reduce of more than two processes: vectors from this many bytes on are read where they are, and do not go by messages";
        allreduce_exposed_bytes: "HEDDLE_ALLREDUCE_EXPOSED_BYTES", 65536,
            "persistent MPI_Allreduce: vectors from this many bytes on are read where they are, and do not go by messages";
        reduce_scatter_exposed_bytes: "HEDDLE_REDUCE_SCATTER_EXPOSED_BYTES", 65536,
            "persistent MPI_Reduce_scatter, and any of two processes: vectors from this many bytes on are read where they are, and neither copied to the blackboard nor sent";
    }
}
