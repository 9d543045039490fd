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

/// The shortest repetition of a real machine: those of the lab are shorter.
pub(crate) const LEAST_SECONDS: f64 = 0.01;

/// The most processes of a launch in the lab, of which each takes a second to start.
pub(crate) const MOST_RANKS_IN_LAB: u32 = 17;

/// How many times as long a launch of another library takes in the lab: it starts more slowly, and makes more
/// system calls.
pub(crate) const PEERS_IN_LAB: f64 = 3.0;

/// The lengths in the lab. Nothing disturbs it, so one round is enough; a further one has another seed.
pub(crate) const IN_LAB: Effort = Effort { rounds: 1, reps: 1, seconds: 0.001, warm: 0.0003 };

/// The lengths in the lab where the default model is among those that are measured: what it chooses while it
/// runs, it has chosen after the warm-up.
pub(crate) const DEFAULT_IN_LAB: Effort = Effort { seconds: 0.0005, warm: 0.002, ..IN_LAB };

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

    /// Returns true if its figure depends on the size of messages.
    pub(crate) fn has_messages(&self) -> bool {
        self.sizes != [0] && self.op != "barrier"
    }

    /// Seconds of a repetition in a run whose repetitions last `usual`. In the lab all are short.
    pub(crate) fn seconds(&self, usual: f64) -> f64 {
        self.subject.seconds().filter(|_| usual >= LEAST_SECONDS).unwrap_or(usual)
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

    /// Seconds that a launch takes in the lab on one core of an idle host, as a guess: processes are started
    /// one after the other, and threads run one at a time.
    pub(crate) fn seconds_in_lab(&self, effort: &Effort) -> f64 {
        let threads = f64::from(self.ranks.max(self.threads + 1).max(self.ranks.min(2) * self.threads));
        let milliseconds = 1e3 * (self.seconds(effort.seconds) + effort.warm) * f64::from(effort.reps);
        // Each process sweeps a part of its own.
        let sweeps = if self.subject == Subject::Sweep { 5.0 * f64::from(self.ranks) } else { 0.0 };
        sweeps + 1.5 * f64::from(self.ranks) + 0.08 * threads * milliseconds * self.sizes.len() as f64
    }

    /// Why the lab cannot run it, if it cannot.
    pub(crate) fn not_in_lab(&self) -> Option<&'static str> {
        match (self.subject, self.beside) {
            (Subject::Startup, _) => Some("launchers run in real time, and memory is that of qemu"),
            (Subject::Idle, _) => Some("processor time is that of qemu"),
            (_, Beside::Processes) => Some("processes without exec run beside the machine, not on it"),
            (_, Beside::Threads) => Some("this host's cores say how many threads compute, not the machine's"),
            _ if self.ranks > MOST_RANKS_IN_LAB => {
                Some("the lab needs a minute and more to start its processes")
            }
            _ => None,
        }
    }

    /// The cases that a run makes, and what it leaves out, with the reason: in the lab, what that cannot run.
    pub(crate) fn partition(all: Vec<Self>, simulated: bool) -> (Vec<Self>, Vec<(String, String)>) {
        let (kept, left_out): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|case| !simulated || case.not_in_lab().is_none());
        let named = |case: &Self| Some((case.label(), case.not_in_lab()?.to_owned()));
        (kept, left_out.iter().filter_map(named).collect())
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
