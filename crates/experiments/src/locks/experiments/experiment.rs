//! The experiments on a lock.

use serde::{Deserialize, Serialize};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LockExperiment {
    /// Acquire and release by one thread alone.
    Uncontended,
    /// Nothing in the critical section and nothing outside.
    Empty,
    /// Ten additions in the critical section and ten outside.
    Mixed,
    /// The lock-latency experiment of Amer et al.: ten random cache lines in the critical section.
    Lines,
    /// Each thread's share, and the longest wait.
    Fairness,
    /// From a release to the entry of the thread that was waiting.
    Handover,
    /// Enqueue and dequeue on one queue.
    Fifo,
}

impl LockExperiment {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Uncontended,
        Self::Empty,
        Self::Mixed,
        Self::Lines,
        Self::Fairness,
        Self::Handover,
        Self::Fifo,
    ];

    /// Its name on the command line and in the results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Empty => "empty",
            Self::Mixed => "mixed",
            Self::Lines => "lines",
            Self::Fairness => "fairness",
            Self::Handover => "handover",
            Self::Fifo => "fifo",
        }
    }

    /// Its description, as half a sentence.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Uncontended => "acquire and release around one addition by one thread alone",
            Self::Empty => "an empty section, entered again at once",
            Self::Mixed => "ten additions in the section, ten outside",
            Self::Lines => {
                "ten random cache lines of 64 are written in the section (the papers' lock latency)"
            }
            Self::Fairness => "short sections for a fixed time: the threads' shares and waits",
            Self::Handover => "from a release to the entry of a thread that was waiting",
            Self::Fifo => "enqueue and dequeue in turn on one queue",
        }
    }

    /// Returns true if the experiment runs with this number of threads.
    pub(crate) fn takes(self, threads: usize) -> bool {
        match self {
            Self::Uncontended => threads == 1,
            Self::Empty | Self::Mixed | Self::Lines | Self::Fifo => true,
            Self::Fairness | Self::Handover => threads > 1,
        }
    }
}
