//! The subjects of the benchmark, and the topics by which the command line asks for them.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Subjects of the benchmark, as the C program names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Ping-pong between two processes, time one way.
    Latency,
    /// Messages a second between two processes.
    Rate,
    /// Bytes a second between two processes.
    Bandwidth,
    /// Messages a second between pairs of single-threaded processes.
    Pairs,
    /// Messages a second of threads that send to themselves.
    #[value(name = "self")]
    SelfPairs,
    /// Messages a second of threads, each of which exchanges with a different process.
    Neighbor,
    /// Messages a second of senders, threads or processes, each to a process of its own.
    Senders,
    /// Messages a second completed by tests.
    Testing,
    /// The cost of a test of a complete and of a pending request.
    Testcost,
    /// Requests a second of client threads to a server process.
    Clients,
    /// Requests of client threads while another thread computes.
    Stall,
    /// Duplicates of communicators by many threads.
    Dup,
    /// Threads that come and go.
    Churn,
    /// Edges a second of a breadth-first search by many threads (`examples/graph500`).
    Graph500,
    /// Sends a second to `MPI_PROC_NULL`.
    Procnull,
    /// Time of a transport sweep in Fortran, by a cell, angle and energy group (`examples/sweep`).
    Sweep,
    /// Time of a message whose parts threads compute.
    Partitioned,
    /// Time of a collective operation of all processes.
    Collective,
    /// Part of a nonblocking collective operation that hides behind a computation.
    Overlap,
    /// Puts, gets or accumulates a second of threads of one process.
    Put,
    /// Time of a put, get, accumulate or fetch-and-add and its flush.
    Putlatency,
    /// Additions a second of all processes to one number.
    Fetchop,
    /// Window locks a second of all processes at one target.
    Winlock,
    /// Window locks a second with the workloads of the RMA locks' paper.
    Lockload,
    /// Time of a window lock and its unlock, while all processes lock one target.
    Locklatency,
    /// Start-up time and memory of 16 processes.
    Startup,
    /// Processor time of a waiting process.
    Idle,
}

impl Subject {
    /// The name on the C program's command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Rate => "rate",
            Self::Bandwidth => "bandwidth",
            Self::Pairs => "pairs",
            Self::SelfPairs => "self",
            Self::Neighbor => "neighbor",
            Self::Senders => "senders",
            Self::Testing => "testing",
            Self::Testcost => "testcost",
            Self::Clients => "clients",
            Self::Stall => "stall",
            Self::Dup => "dup",
            Self::Churn => "churn",
            Self::Graph500 => "graph500",
            Self::Procnull => "procnull",
            Self::Sweep => "sweep",
            Self::Partitioned => "partitioned",
            Self::Collective => "collective",
            Self::Overlap => "overlap",
            Self::Put => "put",
            Self::Putlatency => "putlatency",
            Self::Fetchop => "fetchop",
            Self::Winlock => "winlock",
            Self::Lockload => "lockload",
            Self::Locklatency => "locklatency",
            Self::Startup => "startup",
            Self::Idle => "idle",
        }
    }

    /// The first of its forms, as the C program names it.
    pub(crate) fn op(self) -> &'static str {
        match self {
            Self::Neighbor => "predefined",
            Self::Testing => "test",
            Self::Testcost => "done",
            Self::Stall => "stall",
            Self::Dup => "dup",
            Self::Churn => "sendrecv",
            Self::Sweep => "coarse",
            Self::Graph500 => "bfs",
            Self::Partitioned => "partitions",
            Self::Collective => "allreduce",
            Self::Overlap => "iallreduce",
            Self::Put | Self::Putlatency => "put",
            Self::Fetchop => "add",
            Self::Winlock => "exclusive",
            Self::Lockload => "ecsb",
            Self::Locklatency => "lb",
            _ => "isend",
        }
    }

    /// Seconds of a repetition, for a subject that needs a fixed length.
    pub(crate) fn seconds(self) -> Option<f64> {
        match self {
            Self::Stall => Some(1.0),
            _ => None,
        }
    }
}

/// A name on the command line: a subject, or several subjects.
#[derive(Debug, Clone)]
pub(crate) struct Topic(Vec<Subject>);

/// Topics of several subjects: name, meaning, subjects.
const GROUPS: [(&str, &str, &[Subject]); 4] = [
    (
        "collectives",
        "Collective operations, and how much of them hides behind a computation",
        &[Subject::Collective, Subject::Overlap],
    ),
    (
        "rma",
        "One-sided communication",
        &[
            Subject::Put,
            Subject::Putlatency,
            Subject::Fetchop,
            Subject::Winlock,
            Subject::Lockload,
            Subject::Locklatency,
        ],
    ),
    ("regimes", "Latency regime (clients) and throughput regime (rate)", &[Subject::Clients, Subject::Rate]),
    (
        "threads",
        "All that concerns many threads",
        &[
            Subject::Rate,
            Subject::Pairs,
            Subject::SelfPairs,
            Subject::Neighbor,
            Subject::Senders,
            Subject::Testing,
            Subject::Testcost,
            Subject::Clients,
            Subject::Stall,
            Subject::Dup,
            Subject::Churn,
            Subject::Graph500,
            Subject::Procnull,
            Subject::Sweep,
            Subject::Partitioned,
        ],
    ),
];

impl Topic {
    /// Returns true if the topic contains the subject.
    pub(crate) fn holds(&self, subject: Subject) -> bool {
        self.0.contains(&subject)
    }

    fn named(name: &str) -> Result<Self, String> {
        let group = GROUPS.iter().find(|group| group.0 == name).map(|group| group.2.to_vec());
        group.map_or_else(|| Subject::from_str(name, false).map(|subject| vec![subject]), Ok).map(Self)
    }
}

/// Reads topics from the command line.
pub(crate) fn topics() -> impl TypedValueParser<Value = Topic> {
    let subjects = Subject::value_variants().iter().filter_map(Subject::to_possible_value);
    let groups = GROUPS.iter().map(|group| PossibleValue::new(group.0).help(group.1));
    PossibleValuesParser::new(subjects.chain(groups)).try_map(|name| Topic::named(&name))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::{GROUPS, Subject, Topic};

    #[test]
    fn topics_are_subjects_or_groups() {
        assert!(Topic::named("self").is_ok_and(|topic| topic.holds(Subject::SelfPairs)));
        assert!(Topic::named("regimes").is_ok_and(|topic| topic.holds(Subject::Clients)));
        assert!(Topic::named("loom").is_err());
        assert!(GROUPS.iter().all(|group| Subject::from_str(group.0, false).is_err()));
    }
}
