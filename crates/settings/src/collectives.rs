//! How collective operations are carried out: an algorithm for each, and the points where one algorithm
//! takes over from another.
//!
//! All processes of a communicator must choose alike: a process cannot receive by one algorithm what another
//! sends by another one. They hold for communicators with one group, in the blocking, nonblocking and
//! persistent forms. Where the algorithm chosen cannot do what is asked, it is chosen as by `auto`: so for an
//! operator that does not commute, or if there is no blackboard.
//!
//! The variable of an operation names one algorithm for all its data. A file ([`CollectiveTable`]) has others
//! for other numbers of processes and bytes, where the variable does not name one.

use crate::algorithm::Algorithm::{self, Auto};
use crate::collective_operation::CollectiveOperation;
use crate::collective_table::CollectiveTable;
use crate::kinds::OFF;
use heddle_model::{Choice, Custom, Number, OneOf, Values};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// One of an operation's algorithms.
const fn algorithms_of(operation: CollectiveOperation) -> OneOf<Algorithm> {
    OneOf { values: operation.algorithms(), name: Algorithm::name }
}

/// The values of a switch point: a number in MPI_T has 32 bits.
const SWITCH_POINTS: Number<usize> = Number { least: 0, most: i32::MAX as usize };

/// Files with a table.
const TABLES: Custom<Option<Arc<CollectiveTable>>> = Custom {
    form: Values::Text,
    allowed: || format!("{OFF}, or the name of a file"),
    read: |text| match text {
        OFF => Ok(None),
        path => CollectiveTable::read(path).map(|table| Some(Arc::new(table))),
    },
    write: |table| table.as_ref().map_or(OFF, |table| table.path()).to_owned(),
    examples: || vec![OFF],
};

heddle_model::settings! {
    /// The algorithms of collective operations, and where one takes over from another.
    #[derive(Debug, Clone)]
    pub struct Collectives {
        table: Option<Arc<CollectiveTable>> {
            variable: "HEDDLE_COLLECTIVES",
            class: Tuning,
            meaning: "a file with the algorithms of collective operations by the number of processes and bytes, as heddle bench collective --tune writes it for a machine; it holds where the operation's variable says auto",
            values: TABLES,
            default: None,
            common: true,
        }
        barrier: Algorithm {
            variable: "HEDDLE_BARRIER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Barrier",
            values: algorithms_of(CollectiveOperation::Barrier),
            default: Auto,
            common: true,
        }
        bcast: Algorithm {
            variable: "HEDDLE_BCAST_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Bcast",
            values: algorithms_of(CollectiveOperation::Bcast),
            default: Auto,
            common: true,
        }
        gather: Algorithm {
            variable: "HEDDLE_GATHER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Gather and MPI_Gatherv (which has no tree)",
            values: algorithms_of(CollectiveOperation::Gather),
            default: Auto,
            common: true,
        }
        scatter: Algorithm {
            variable: "HEDDLE_SCATTER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Scatter and MPI_Scatterv (which has no tree)",
            values: algorithms_of(CollectiveOperation::Scatter),
            default: Auto,
            common: true,
        }
        allgather: Algorithm {
            variable: "HEDDLE_ALLGATHER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Allgather and MPI_Allgatherv",
            values: algorithms_of(CollectiveOperation::Allgather),
            default: Auto,
            common: true,
        }
        alltoall: Algorithm {
            variable: "HEDDLE_ALLTOALL_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Alltoall, and of the v- and w-forms, which have messages of their own to each process, batch or pairwise",
            values: algorithms_of(CollectiveOperation::Alltoall),
            default: Auto,
            common: true,
        }
        reduce: Algorithm {
            variable: "HEDDLE_REDUCE_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Reduce",
            values: algorithms_of(CollectiveOperation::Reduce),
            default: Auto,
            common: true,
        }
        allreduce: Algorithm {
            variable: "HEDDLE_ALLREDUCE_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Allreduce",
            values: algorithms_of(CollectiveOperation::Allreduce),
            default: Auto,
            common: true,
        }
        reduce_scatter: Algorithm {
            variable: "HEDDLE_REDUCE_SCATTER_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block",
            values: algorithms_of(CollectiveOperation::ReduceScatter),
            default: Auto,
            common: true,
        }
        scan: Algorithm {
            variable: "HEDDLE_SCAN_ALGORITHM",
            class: Tuning,
            meaning: "the algorithm of MPI_Scan and MPI_Exscan",
            values: algorithms_of(CollectiveOperation::Scan),
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
        gather_parts_bytes: usize {
            variable: "HEDDLE_GATHER_PARTS_BYTES",
            class: Tuning,
            meaning: "MPI_Gather and MPI_Gatherv of two processes on the blackboard: a block of up to this many bytes is published in parts, a longer one goes in a message",
            values: SWITCH_POINTS,
            default: 2097152,
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
        scatter_parts_bytes: usize {
            variable: "HEDDLE_SCATTER_PARTS_BYTES",
            class: Tuning,
            meaning: "MPI_Scatter and MPI_Scatterv of two processes on the blackboard: a block of up to this many bytes is published in parts, a longer one goes in a message",
            values: SWITCH_POINTS,
            default: 2097152,
            common: true,
        }
        scatter_exposed_bytes: usize {
            variable: "HEDDLE_SCATTER_EXPOSED_BYTES",
            class: Tuning,
            meaning: "MPI_Scatter of three processes and more on the blackboard: blocks from this many bytes on are copied from where they are, by the kernel, if all of them do not fit there; shorter ones go by messages, unless there are more than four processes with a core each",
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
            meaning: "MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw of two processes on the blackboard: blocks of up to this many bytes are published in parts, longer ones go by messages",
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

    /// The algorithm that an operation's variable names, whatever its data.
    #[inline(always)]
    #[must_use]
    pub fn named(&self, operation: CollectiveOperation) -> Algorithm {
        match operation {
            CollectiveOperation::Barrier => self.barrier,
            CollectiveOperation::Bcast => self.bcast,
            CollectiveOperation::Gather => self.gather,
            CollectiveOperation::Scatter => self.scatter,
            CollectiveOperation::Allgather => self.allgather,
            CollectiveOperation::Alltoall => self.alltoall,
            CollectiveOperation::Reduce => self.reduce,
            CollectiveOperation::Allreduce => self.allreduce,
            CollectiveOperation::ReduceScatter => self.reduce_scatter,
            CollectiveOperation::Scan => self.scan,
        }
    }

    /// The algorithm of an operation of so many processes and bytes, as a [table](CollectiveTable) counts
    /// them: the one that its variable names, or else the table's.
    #[inline(always)]
    #[must_use]
    pub fn algorithm(
        &self,
        operation: CollectiveOperation,
        ranks: usize,
        bytes: impl FnOnce() -> usize,
    ) -> Algorithm {
        match (self.named(operation), &self.table) {
            (Auto, Some(table)) => table.algorithm(operation, ranks, bytes()),
            (named, _) => named,
        }
    }

    /// A number that differs for most other choices, whatever the name of the table's file.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for setting in COLLECTIVES.iter().filter(|setting| setting.about.variable != TABLE) {
            (setting.get)(self).hash(&mut hasher);
        }
        for rule in self.table.iter().flat_map(|table| table.rules()) {
            rule.to_string().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The variable that names the table's file.
const TABLE: &str = "HEDDLE_COLLECTIVES";

impl Default for Collectives {
    fn default() -> Collectives {
        Collectives::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Algorithm::{Binomial, Blackboard, ScatterRing};

    #[test]
    fn each_operation_has_a_variable_of_its_name() {
        for operation in CollectiveOperation::ALL {
            let variable = format!("HEDDLE_{}_ALGORITHM", operation.name().to_uppercase());
            let setting = COLLECTIVES.iter().find(|setting| setting.about.variable == variable);
            let setting = setting.unwrap_or_else(|| panic!("no {variable}"));
            for algorithm in operation.algorithms() {
                let mut all = Collectives::DEFAULT;
                (setting.set)(&mut all, algorithm.name()).expect("one of its algorithms");
                assert_eq!(all.named(operation), *algorithm, "{operation:?}");
            }
        }
    }

    fn with_table(text: &str) -> Collectives {
        let table = CollectiveTable::parse("a.table", text).expect("a table");
        Collectives { table: Some(Arc::new(table)), ..Collectives::DEFAULT }
    }

    #[test]
    fn a_table_speaks_where_the_variable_names_no_algorithm() {
        let all = with_table("bcast 2 .. binomial\n");
        assert_eq!(all.algorithm(CollectiveOperation::Bcast, 2, || 8), Binomial);
        assert_eq!(all.algorithm(CollectiveOperation::Bcast, 3, || 8), Auto);
        let named = Collectives { bcast: ScatterRing, ..all };
        assert_eq!(named.algorithm(CollectiveOperation::Bcast, 2, || 8), ScatterRing);
    }

    #[test]
    fn other_choices_have_another_fingerprint_and_the_name_of_a_file_does_not_count() {
        let rules = "bcast 2 .. binomial\nscan 2 .. blackboard\n";
        let table = with_table(rules).fingerprint();
        let elsewhere = CollectiveTable::parse("b.table", &format!("# the same\n{rules}")).expect("a table");
        let elsewhere = Collectives { table: Some(Arc::new(elsewhere)), ..Collectives::DEFAULT };
        assert_eq!(table, elsewhere.fingerprint());
        let others = [
            Collectives::DEFAULT,
            with_table("bcast 2 .. binomial\n"),
            Collectives { scan: Blackboard, ..Collectives::DEFAULT },
            Collectives { reduce_pieces_bytes: 1, ..Collectives::DEFAULT },
        ];
        let mut fingerprints: Vec<u64> = others.iter().map(Collectives::fingerprint).chain([table]).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), others.len() + 1);
    }
}
