//! A case of the benchmarks: one launch of the C program, with its processes, threads and message sizes.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::subject::Subject;
use Comms::Shared;

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

/// Runs with repetitions of fewer seconds only try everything.
pub(crate) const SHORT: f64 = 0.1;

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
    /// One per thread.
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

/// The computation beside the processes: one process or thread for each core that the job may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Beside {
    #[default]
    Nothing,
    Processes,
    Threads,
}

impl Beside {
    /// Its word, as the C program's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Processes => "processes",
            Self::Threads => "threads",
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
    /// The computation beside them.
    pub(crate) beside: Beside,
}

impl Case {
    pub(crate) fn new(subject: Subject, ranks: u32, sizes: &[u64]) -> Self {
        Self {
            subject,
            ranks,
            threads: 1,
            comms: Shared,
            multiple: false,
            op: subject.op(),
            sizes: sizes.to_vec(),
            pin: false,
            beside: Beside::Nothing,
        }
    }

    pub(crate) fn pinned(self) -> Self {
        Self { pin: true, ..self }
    }

    pub(crate) fn beside(self, beside: Beside) -> Self {
        Self { beside, ..self }
    }

    pub(crate) fn multiple(self, multiple: bool) -> Self {
        Self { multiple, ..self }
    }

    pub(crate) fn threads(self, threads: u32, comms: Comms) -> Self {
        Self { threads, comms, multiple: true, ..self }
    }

    pub(crate) fn op(self, op: &'static str) -> Self {
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
            Subject::Collective => label.push_str(&format!(" {} ranks T={}", self.ranks, self.threads)),
            Subject::Pairs => label.push_str(&format!(" {} pairs", self.ranks / 2)),
            Subject::Startup
            | Subject::Idle
            | Subject::Fetchop
            | Subject::Winlock
            | Subject::Lockload
            | Subject::Locklatency => label.push_str(&format!(" {} ranks", self.ranks)),
            Subject::Procnull | Subject::Senders if self.threads == 1 => {
                label.push_str(&format!(" {} ranks", self.ranks));
            }
            _ => label.push_str(&format!(" T={}", self.threads)),
        }
        if self.comms != Shared {
            label.push_str(&format!(" {}", self.comms.name()));
        }
        if self.op != self.subject.op() {
            label.push_str(&format!(" {}", self.op));
        }
        if self.beside != Beside::Nothing {
            label.push_str(&format!(" beside {}", self.beside.name()));
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
        if self.beside != Beside::Nothing {
            let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
            let each = cores.div_ceil(self.ranks as usize);
            arguments.extend([format!("--beside-{}", self.beside.name()), each.to_string()]);
        }
        arguments
    }
}

pub(crate) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
pub(super) const THREADS: [u32; 4] = [2, 4, 8, 16];
pub(super) const ONE_AND_THREADS: [u32; 5] = [1, 2, 4, 8, 16];
pub(super) const RATE_SIZES: [u64; 5] = [0, 8, 64, 1024, 8192];
