//! The cases of the benchmarks: every case is one launch of the C program, with its processes, threads and
//! message sizes.

use super::subject::Subject;
use Comms::{Hinted, PerThread, Shared};

/// The amount that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The cases of the targets, in short runs: a first impression.
    Quick,
    /// The cases of the targets.
    Targets,
    /// The cases of the README's picture (`overview.rs`).
    Overview,
    /// Everything.
    Full,
}

/// Lengths that go with a [`Scale`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Rounds over all libraries.
    pub(crate) rounds: u32,
    /// Repetitions in one launch.
    pub(crate) reps: u32,
    /// Seconds of one repetition.
    pub(crate) seconds: f64,
    /// Seconds of warm-up before each.
    pub(crate) warm: f64,
}

impl Scale {
    /// The lengths used if the command line does not say otherwise.
    pub(crate) fn effort(self) -> Effort {
        match self {
            Self::Quick => Effort { rounds: 2, reps: 2, seconds: 0.2, warm: 0.05 },
            Self::Targets => Effort { rounds: 5, reps: 3, seconds: 0.4, warm: 0.1 },
            Self::Overview | Self::Full => Effort { rounds: 5, reps: 2, seconds: 0.3, warm: 0.1 },
        }
    }
}

/// Which communicators the threads use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comms {
    /// One for all; each thread has different tags.
    Shared,
    /// One a thread.
    PerThread,
    /// One for all; the program promises the library that no receive is a wildcard.
    Hinted,
}

impl Comms {
    /// Its word, as the C program's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerThread => "per-thread",
            Self::Hinted => "hinted",
        }
    }
}

/// One launch of the C program.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The quantity that it measures.
    pub(crate) subject: Subject,
    /// Processes.
    pub(crate) ranks: u32,
    /// Threads in each.
    pub(crate) threads: u32,
    /// Its communicators.
    pub(crate) comms: Comms,
    /// `MPI_THREAD_MULTIPLE` instead of `MPI_THREAD_SINGLE`.
    pub(crate) multiple: bool,
    /// Which of the subject's forms.
    pub(crate) op: &'static str,
    /// Message sizes in bytes.
    pub(crate) sizes: Vec<u64>,
    /// Every process on a separate core.
    pub(crate) pin: bool,
}

impl Case {
    fn new(subject: Subject, ranks: u32, sizes: &[u64]) -> Self {
        Self {
            subject,
            ranks,
            threads: 1,
            comms: Shared,
            multiple: false,
            op: subject.op(),
            sizes: sizes.to_vec(),
            pin: false,
        }
    }

    fn pinned(self) -> Self {
        Self { pin: true, ..self }
    }

    fn multiple(self, multiple: bool) -> Self {
        Self { multiple, ..self }
    }

    fn threads(self, threads: u32, comms: Comms) -> Self {
        Self { threads, comms, multiple: true, ..self }
    }

    fn op(self, op: &'static str) -> Self {
        Self { op, ..self }
    }

    /// Seconds of a repetition in a run whose repetitions last `usual`.
    pub(crate) fn seconds(&self, usual: f64) -> f64 {
        self.subject.seconds().unwrap_or(usual)
    }

    /// A short name for progress and failures.
    pub(crate) fn label(&self) -> String {
        let mut label =
            format!("{} {}", self.subject.name(), if self.multiple { "multiple" } else { "single" });
        match self.subject {
            Subject::Pairs => label.push_str(&format!(" {} pairs", self.ranks / 2)),
            Subject::Startup
            | Subject::Idle
            | Subject::Fetchop
            | Subject::Winlock
            | Subject::Lockload
            | Subject::Locklatency => label.push_str(&format!(" {} ranks", self.ranks)),
            _ => label.push_str(&format!(" T={}", self.threads)),
        }
        if self.comms != Shared {
            label.push_str(&format!(" {}", self.comms.name()));
        }
        if self.op != self.subject.op() {
            label.push_str(&format!(" {}", self.op));
        }
        label
    }

    /// The C program's command line, without the lengths.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let sizes: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        let mut arguments = vec![
            self.subject.name().to_owned(),
            "--threads".to_owned(),
            self.threads.to_string(),
            "--comms".to_owned(),
            self.comms.name().to_owned(),
            "--level".to_owned(),
            if self.multiple { "multiple" } else { "single" }.to_owned(),
            "--op".to_owned(),
            self.op.to_owned(),
            "--sizes".to_owned(),
            sizes.join(","),
        ];
        if self.pin {
            arguments.push("--pin".to_owned());
        }
        arguments
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const THREADS: [u32; 4] = [2, 4, 8, 16];
const ONE_AND_THREADS: [u32; 5] = [1, 2, 4, 8, 16];
const RATE_SIZES: [u64; 5] = [0, 8, 64, 1024, 8192];

/// All cases of a scale, in the order in which each round runs them.
pub(crate) fn cases(scale: Scale) -> Vec<Case> {
    if scale == Scale::Overview {
        return overview();
    }
    let full = scale == Scale::Full;
    let mut cases = Vec::new();
    one_thread(full, &mut cases);
    thread_pairs(full, &mut cases);
    regimes(full, &mut cases);
    one_process(full, &mut cases);
    completion(full, &mut cases);
    liveness(full, &mut cases);
    partitions(full, &mut cases);
    one_sided(full, &mut cases);
    cases.push(Case::new(Subject::Startup, 16, &[0]).multiple(true));
    if full {
        cases.push(Case::new(Subject::Idle, 2, &[0]).multiple(true));
    }
    cases
}

/// The cases of the README's picture, all at `MPI_THREAD_MULTIPLE`.
fn overview() -> Vec<Case> {
    use Subject::{Bandwidth, Clients, Latency, Rate, SelfPairs};
    let pinned = |subject, sizes| Case::new(subject, 2, sizes).pinned().multiple(true);
    let mut cases = vec![
        pinned(Latency, &[8, 64, 512, 4 * KIB, 32 * KIB]),
        pinned(Bandwidth, &[8 * KIB, 64 * KIB, MIB, 4 * MIB]),
        pinned(Rate, &[8]),
    ];
    for threads in THREADS {
        for comms in [Shared, PerThread] {
            cases.push(Case::new(Rate, 2, &[8]).threads(threads, comms));
        }
    }
    for threads in ONE_AND_THREADS {
        cases.push(Case::new(SelfPairs, 1, &[8]).threads(threads, Shared));
        cases.push(Case::new(Clients, 2, &[8]).threads(threads, Shared));
    }
    cases
}

fn rate_sizes(full: bool) -> &'static [u64] {
    if full { &RATE_SIZES } else { &[8] }
}

fn one_thread(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Bandwidth, Latency, Rate};
    let pick = |targets: &'static [u64], all: &'static [u64]| if full { all } else { targets };
    let latency_sizes = pick(&[0, 8], &[0, 8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB]);
    let bandwidth_sizes = pick(&[8 * KIB, MIB, 4 * MIB], &[8 * KIB, 64 * KIB, MIB, 4 * MIB]);
    for multiple in [false, true] {
        cases.push(Case::new(Latency, 2, latency_sizes).pinned().multiple(multiple));
        cases.push(Case::new(Rate, 2, rate_sizes(full)).pinned().multiple(multiple));
        cases.push(Case::new(Bandwidth, 2, bandwidth_sizes).pinned().multiple(multiple));
    }
}

/// Threads of two processes in pairs, and beside them the same number of pairs of processes.
fn thread_pairs(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Bandwidth, Latency, Pairs, Rate};
    for threads in ONE_AND_THREADS {
        cases.push(Case::new(Pairs, 2 * threads, &[8]));
        for comms in [Shared, PerThread, Hinted] {
            if threads > 1 {
                cases.push(Case::new(Rate, 2, rate_sizes(full)).threads(threads, comms));
            }
            if full && threads > 1 && comms != Hinted {
                cases.push(Case::new(Latency, 2, &[8]).threads(threads, comms));
                cases.push(Case::new(Bandwidth, 2, &[64 * KIB, MIB]).threads(threads, comms));
            }
        }
    }
}

/// The latency regime; the throughput regime is the rate of thread pairs.
fn regimes(full: bool, cases: &mut Vec<Case>) {
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread] {
            if full || (threads > 1 && comms == Shared) {
                cases.push(Case::new(Subject::Clients, 2, &[8]).threads(threads, comms));
            }
        }
    }
}

/// The path inside the library, without waiting for another process, and the bookkeeping for objects.
fn one_process(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Neighbor, Procnull, SelfPairs};
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread, Hinted] {
            let case = Case::new(SelfPairs, 1, &[8]).threads(threads, comms);
            if full {
                cases.push(case.clone().op("sendrecv"));
            }
            if full || threads <= 2 {
                cases.push(case);
            }
        }
        let neighbors = Case::new(Neighbor, threads + 1, &[0]).threads(threads, Shared);
        let ops: &[&str] = match (full, threads <= 4) {
            (true, _) => &["predefined", "comm", "type", "derived"],
            (false, true) => &["predefined", "derived"],
            (false, false) => &[],
        };
        cases.extend(ops.iter().map(|op| neighbors.clone().op(op)));
        if full {
            for op in ["isend", "send"] {
                cases.push(Case::new(Procnull, 1, &[8]).threads(threads, Shared).op(op));
            }
        }
    }
}

/// A message whose parts threads compute, in partitions, as a whole and as messages.
fn partitions(full: bool, cases: &mut Vec<Case>) {
    for threads in ONE_AND_THREADS {
        for op in ["partitions", "whole", "messages", "compute"] {
            if full || threads == 4 && op != "compute" {
                cases.push(
                    Case::new(Subject::Partitioned, 2, &[8, 64 * KIB, MIB]).threads(threads, Shared).op(op),
                );
            }
        }
    }
}

/// `MPI_Test` and similar functions.
fn completion(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Testcost, Testing};
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread] {
            if full || threads == 2 || threads == 16 {
                cases.push(Case::new(Testing, 2, &[8]).threads(threads, comms));
            }
        }
        if full {
            for op in ["testany", "testsome", "testall"] {
                cases.push(Case::new(Testing, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
        if full || matches!(threads, 1 | 2 | 16) {
            for op in ["done", "pending"] {
                cases.push(Case::new(Testcost, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
    }
}

/// Threads that compute without polling, that duplicate communicators, that start and end; and a
/// program that does all of it.
fn liveness(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Churn, Dup, Stall};
    for threads in THREADS {
        if full || threads == 4 || threads == 16 {
            for op in ["stall", "own"] {
                cases.push(Case::new(Stall, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
    }
    for threads in ONE_AND_THREADS {
        if full || threads == 2 || threads == 16 {
            cases.push(Case::new(Subject::Graph500, 2, &[0]).threads(threads, PerThread));
        }
        if full || threads == 1 || threads == 16 {
            cases.push(Case::new(Dup, 2, &[0]).threads(threads, PerThread));
        }
        if full || threads == 4 {
            cases.push(Case::new(Churn, 2, &[8]).threads(threads, PerThread));
        }
    }
}

/// The workloads of the RMA locks' paper with its shares of writers in per cent; all write without one.
const LOCK_WORKLOADS: [&str; 15] = [
    "ecsb-5", "ecsb-2", "ecsb-0.2", "sob", "sob-5", "sob-2", "sob-0.2", "wcsb", "wcsb-5", "wcsb-2",
    "wcsb-0.2", "warb", "warb-5", "warb-2", "warb-0.2",
];

/// Windows: threads that put and get, processes that meet at one number or at one lock.
fn one_sided(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Fetchop, Locklatency, Lockload, Put, Putlatency, Winlock};
    let sizes: &[u64] = if full { &[8, 64, KIB, 64 * KIB] } else { &[8] };
    for threads in ONE_AND_THREADS.into_iter().filter(|threads| full || *threads != 8) {
        for op in ["put", "get", "accumulate", "one-flush"] {
            if full || matches!(op, "put" | "get") || threads == 4 {
                cases.push(Case::new(Put, 2, sizes).threads(threads, Shared).op(op));
            }
        }
        for op in ["put", "get", "accumulate"] {
            if full || (op == "put" && matches!(threads, 1 | 4)) {
                cases.push(Case::new(Putlatency, 2, sizes).threads(threads, Shared).op(op));
            }
        }
    }
    for ranks in [1, 2, 4, 8, 16] {
        if full || matches!(ranks, 2 | 4) {
            cases.push(Case::new(Fetchop, ranks, &[8]));
        }
        for op in ["exclusive", "shared", "mixed"] {
            if full || (ranks > 1 && op != "mixed") {
                cases.push(Case::new(Winlock, ranks, &[8]).op(op));
            }
        }
        for op in LOCK_WORKLOADS {
            if full || (ranks == 4 && matches!(op, "sob" | "wcsb-2" | "warb-0.2")) {
                cases.push(Case::new(Lockload, ranks, &[8]).op(op));
            }
        }
        for op in ["lb", "lb-5", "lb-2", "lb-0.2"] {
            if full || (ranks == 4 && op == "lb") {
                cases.push(Case::new(Locklatency, ranks, &[8]).op(op));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueEnum;

    use super::{Case, Scale, Subject, cases};

    #[test]
    fn labels_tell_cases_apart() {
        for scale in [Scale::Quick, Scale::Targets, Scale::Overview, Scale::Full] {
            let cases = cases(scale);
            let labels: BTreeSet<String> = cases.iter().map(Case::label).collect();
            assert_eq!(labels.len(), cases.len(), "{scale:?}");
        }
    }

    #[test]
    fn everything_is_measured_in_full() {
        let cases = cases(Scale::Full);
        for subject in Subject::value_variants() {
            assert!(cases.iter().any(|case| case.subject == *subject), "{subject:?}");
        }
    }
}
