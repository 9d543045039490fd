//! An experiment of a paper: the systems that it compares, what is launched, the pictures, and the paper's
//! statements.

use clap::ValueEnum;
use serde::Serialize;

use super::measured::{Finding, Measured};
use super::system::System;
use super::view::View;
use crate::bench::case::Case;
use crate::report::verdict::Verdict;
use crate::rma_locks::SimulatedFigure;

/// The papers whose experiments are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Paper {
    /// Balaji et al., Fine-grained multithreading support for hybrid threaded MPI programming, IJHPCA 2010.
    Granularity,
    /// Goodell et al., Minimizing MPI resource contention in multithreaded multicore environments, CLUSTER
    /// 2010.
    Lifetime,
    /// Amer et al., Lock contention management in multithreaded MPI, ACM TOPC 2019.
    Contention,
    /// Amer et al., Software combining to mitigate multithreaded MPI contention, slides, ICS 2019.
    Combining,
    /// Schmid, Besta and Hoefler, High-performance distributed RMA locks, HPDC 2016.
    RmaLocks,
}

impl Paper {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Granularity => "granularity",
            Self::Lifetime => "lifetime",
            Self::Contention => "contention",
            Self::Combining => "combining",
            Self::RmaLocks => "rma-locks",
        }
    }

    /// Its authors and title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Granularity => {
                "Balaji, Buntinas, Goodell, Gropp, Thakur: Fine-grained multithreading support for hybrid threaded MPI \
                 programming. IJHPCA 24(1), 2010"
            }
            Self::Lifetime => {
                "Goodell, Balaji, Buntinas, Dózsa, Gropp, Kumar, de Supinski, Thakur: Minimizing MPI resource \
                 contention in multithreaded multicore environments. IEEE Cluster 2010"
            }
            Self::Contention => {
                "Amer, Lu, Balaji, Chabbi, Wei, Hammond, Matsuoka: Lock contention management in multithreaded MPI. \
                 ACM TOPC 5(3), 2019"
            }
            Self::Combining => {
                "Amer, Guo, Raffenetti, Si, Balaji et al.: Software combining to mitigate multithreaded MPI \
                 contention. Slides, ICS 2019"
            }
            Self::RmaLocks => "Schmid, Besta, Hoefler: High-performance distributed RMA locks. HPDC 2016",
        }
    }
}

/// The numbers of threads and the sizes that a run measures.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    /// Numbers of threads, ascending.
    pub(super) threads: Vec<u32>,
    /// The cores of this machine.
    pub(super) cores: u32,
    /// The most processes of a launch.
    pub(super) ranks: u32,
}

/// An experiment.
pub(crate) struct Experiment {
    /// The paper.
    pub(super) paper: Paper,
    /// Its names on the command line: the paper's figures and tables, or a word for the section.
    pub(super) names: &'static [&'static str],
    /// The question.
    pub(super) title: &'static str,
    /// The differences from the paper's experiment.
    pub(super) note: &'static str,
    /// The systems of the paper, and Heddle's forms of them.
    pub(super) systems: &'static [System],
    /// The launches.
    pub(super) cases: fn(&Points) -> Vec<Case>,
    /// The measurements and simulations within this process.
    pub(super) within: Within,
    /// Heddle's performance variables that the pictures need.
    pub(super) pvars: &'static [&'static str],
    /// True if cache misses are counted.
    pub(super) misses: bool,
    /// The cores that n threads, or processes, and their partners need to run at once.
    pub(super) cores: fn(u32) -> u32,
    /// The pictures.
    pub(super) views: &'static [View],
    /// The paper's statements.
    pub(super) claims: &'static [Claim],
}

impl Experiment {
    /// Its name in the names of its files: paper and first name.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.paper.name(), self.names[0])
    }

    /// The name of one of its files.
    pub(super) fn file_name(&self, extension: &str) -> String {
        format!("{}.{extension}", self.name())
    }
}

/// What an experiment runs within this process, without a launch. The pairs are a name here and a label.
#[derive(Debug, Clone, Copy)]
pub(super) enum Within {
    /// Nothing.
    Nothing,
    /// A thread's turn at each of some locks.
    Locks(&'static [(&'static str, &'static str)]),
    /// A queue under each of some locks and combinings.
    Queues(&'static [(&'static str, &'static str)]),
    /// Distributed locks on a simulated network; the statements are those of `heddle bench rma-locks`.
    Simulation(SimulatedFigure),
}

/// A statement of a paper.
pub(super) struct Claim {
    /// The figure or section.
    pub(super) figure: &'static str,
    /// The statement.
    pub(super) text: &'static str,
    /// The least machine on which it means something.
    pub(super) needs: Needs,
    /// Compares it with what was measured, for a number of threads.
    pub(super) check: fn(&Measured<'_>, u32) -> Option<Finding>,
}

/// The least machine on which a statement means something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// A core for each of that number of threads, and for their partners.
    Threads(u32),
    /// The same, and several NUMA nodes: it is about locks that know the levels of the machine.
    Nodes(u32),
}

/// A statement and how the measurement stands to it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Statement {
    /// The figure or section.
    pub(super) figure: &'static str,
    /// The paper's words, or their sense.
    pub(super) paper: &'static str,
    /// The figures here.
    pub(super) here: String,
    /// The verdict on the statement.
    pub(super) verdict: Verdict,
}
