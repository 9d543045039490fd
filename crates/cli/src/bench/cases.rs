//! What is measured: every case is one launch of the C program, with its processes, threads and message sizes.

use clap::ValueEnum;

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
    /// Requests a second of client threads to a server process.
    Clients,
    /// Sends a second to `MPI_PROC_NULL`.
    Procnull,
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
            Self::Clients => "clients",
            Self::Procnull => "procnull",
            Self::Startup => "startup",
            Self::Idle => "idle",
        }
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// What the targets need, short: a first impression.
    Quick,
    /// What the targets need.
    Targets,
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
            Self::Full => Effort { rounds: 5, reps: 2, seconds: 0.3, warm: 0.1 },
        }
    }
}

/// One launch of the C program.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// What it measures.
    pub(crate) subject: Subject,
    /// Processes.
    pub(crate) ranks: u32,
    /// Threads in each.
    pub(crate) threads: u32,
    /// A communicator a thread instead of one for all.
    pub(crate) comm_a_thread: bool,
    /// `MPI_THREAD_MULTIPLE` instead of `MPI_THREAD_SINGLE`.
    pub(crate) multiple: bool,
    /// `MPI_Send` instead of `MPI_Isend`.
    pub(crate) blocking: bool,
    /// Message sizes in bytes.
    pub(crate) sizes: Vec<u64>,
    /// Every process on its own core.
    pub(crate) pin: bool,
}

impl Case {
    fn new(subject: Subject, ranks: u32, sizes: &[u64]) -> Self {
        Self {
            subject,
            ranks,
            threads: 1,
            comm_a_thread: false,
            multiple: false,
            blocking: false,
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

    fn threads(self, threads: u32, comm_a_thread: bool) -> Self {
        Self { threads, comm_a_thread, multiple: true, ..self }
    }

    fn blocking(self, blocking: bool) -> Self {
        Self { blocking, ..self }
    }

    /// A short name for progress and failures.
    pub(crate) fn label(&self) -> String {
        let mut label =
            format!("{} {}", self.subject.name(), if self.multiple { "multiple" } else { "single" });
        match self.subject {
            Subject::Pairs => label.push_str(&format!(" {} pairs", self.ranks / 2)),
            Subject::Startup | Subject::Idle => label.push_str(&format!(" {} ranks", self.ranks)),
            _ => label.push_str(&format!(" T={}", self.threads)),
        }
        if self.comm_a_thread {
            label.push_str(" per-thread");
        }
        if self.blocking {
            label.push_str(" send");
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
            if self.comm_a_thread { "per-thread" } else { "shared" }.to_owned(),
            "--level".to_owned(),
            if self.multiple { "multiple" } else { "single" }.to_owned(),
            "--op".to_owned(),
            if self.blocking { "send" } else { "isend" }.to_owned(),
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
const RATE_SIZES: [u64; 5] = [0, 8, 64, 1024, 8192];

/// All cases of a scale, in the order in which each round runs them.
pub(crate) fn cases(scale: Scale) -> Vec<Case> {
    use Subject::{Bandwidth, Clients, Idle, Latency, Pairs, Procnull, Rate, SelfPairs, Startup};
    let full = scale == Scale::Full;
    let pick = |targets: &'static [u64], all: &'static [u64]| if full { all } else { targets };
    let latency_sizes = pick(&[0, 8], &[0, 8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB]);
    let rate_sizes = pick(&[8], &RATE_SIZES);
    let bandwidth_sizes = pick(&[8 * KIB, MIB, 4 * MIB], &[8 * KIB, 64 * KIB, MIB, 4 * MIB]);
    let mut cases = Vec::new();
    for multiple in [false, true] {
        cases.push(Case::new(Latency, 2, latency_sizes).pinned().multiple(multiple));
        cases.push(Case::new(Rate, 2, rate_sizes).pinned().multiple(multiple));
        cases.push(Case::new(Bandwidth, 2, bandwidth_sizes).pinned().multiple(multiple));
    }
    for threads in THREADS {
        for comm_a_thread in [false, true] {
            if full || threads == 2 || threads == 16 {
                cases.push(Case::new(Rate, 2, rate_sizes).threads(threads, comm_a_thread));
            }
            if full {
                cases.push(Case::new(Latency, 2, &[8]).threads(threads, comm_a_thread));
                cases.push(Case::new(Bandwidth, 2, &[64 * KIB, MIB]).threads(threads, comm_a_thread));
            }
        }
    }
    for threads in [1].into_iter().chain(THREADS) {
        for comm_a_thread in [false, true] {
            if full || (threads == 16 && !comm_a_thread) {
                cases.push(Case::new(Clients, 2, &[8]).threads(threads, comm_a_thread));
            }
            if full {
                cases.push(Case::new(SelfPairs, 1, &[8]).threads(threads, comm_a_thread));
            }
        }
        if full {
            cases.push(Case::new(Pairs, 2 * threads, &[8]));
            for blocking in [false, true] {
                cases.push(Case::new(Procnull, 1, &[8]).threads(threads, false).blocking(blocking));
            }
        }
    }
    cases.push(Case::new(Startup, 16, &[0]).multiple(true));
    if full {
        cases.push(Case::new(Idle, 2, &[0]).multiple(true));
    }
    cases
}
