//! Every setting except the parts of the model and those of collective operations.

use crate::collectives::Collectives;
use crate::cores::Cores;
use crate::kinds::{
    ANY, AUTO, BYPASSES, BYTES, CORES, FABRIC_DOMAINS, FABRICS, LEVELS, MECHANISMS, MODELS, OFF,
    SPREAD_RULES, SWITCH, TIMEOUTS, VNIS, WIN_LOCKS,
};
use crate::kinds::{cores, share_of_cores, vnis_for};
use crate::spread_rule::SpreadRule;
use heddle_bootstrap::Mechanism;
use heddle_model::{Condition, Model, Number, OFFLOAD};
use heddle_spec::constants::MPI_THREAD_SINGLE;
use heddle_sync::WaitPolicy;
use std::time::Duration;

heddle_model::settings! {
    /// The settings of a process.
    #[derive(Debug, Clone)]
    pub struct Settings {
        model: Model {
            variable: "HEDDLE_MODEL",
            class: User,
            meaning: "the thread-safety model",
            values: MODELS,
            default: Model::default(),
        }
        ///
        /// A constant of `mpi.h` (`MPI_THREAD_…`).
        thread_level: i32 {
            variable: "HEDDLE_THREAD_LEVEL",
            class: User,
            meaning: "the lowest level of thread support that a program gets: one that asks for less, as MPI_Init does, runs at this level, and MPI_Query_thread says so",
            values: LEVELS,
            default: MPI_THREAD_SINGLE,
        }
        ///
        /// `None`: the number depends on the cores and on the ranks that share them.
        vnis: Option<usize> {
            variable: "HEDDLE_VNIS",
            class: User,
            meaning: "independent communication paths (virtual network interfaces) in each process; communicators are distributed over them",
            values: VNIS,
            default: None,
            default_in_words: "two per core, at least 4 and at most 16; if all ranks are on one machine and a rank's share of the cores is more than 8, two per core of the share, at most 64",
            common: true,
        }
        single_copy: bool {
            variable: "HEDDLE_SINGLE_COPY",
            class: Tuning,
            meaning: "whether large messages may be copied straight from one process's memory to another's",
            values: SWITCH,
            default: true,
        }
        blackboards: bool {
            variable: "HEDDLE_BLACKBOARDS",
            class: Tuning,
            meaning: "whether collective operations go through memory that all processes of a communicator share, and not by messages; if one process says off, the communicator has none",
            values: SWITCH,
            default: true,
        }
        spread: SpreadRule {
            variable: "HEDDLE_SPREAD",
            class: Tuning,
            meaning: "when the messages of a communicator without hints are spread over VNIs, until their receiver uses a wildcard: once threads take turns in the channel to a process, or in receiving, and the process has two cores or more beside the threads of others, or as its share, by tag, or by source too if the tags are the same (contended), from the first message on by both (always), or never; under granularity per-channel",
            values: SPREAD_RULES,
            default: SpreadRule::Contended,
        }
        unexpected_bytes: usize {
            variable: "HEDDLE_UNEXPECTED_BYTES",
            class: User,
            meaning: "the memory in bytes that unexpected messages may take on each VNI of a process; beyond it senders wait for their receives",
            values: BYTES,
            default: 1 << 30,
        }
        strict: bool {
            variable: "HEDDLE_STRICT",
            class: User,
            meaning: "whether Heddle refuses what the standard calls an error where MPICH, Open MPI and Intel MPI all accept it; docs/leniency.md lists that",
            values: SWITCH,
            default: false,
            common: true,
        }
        statistics: bool {
            variable: "HEDDLE_STATS",
            class: User,
            meaning: "whether each process prints its counters at the end",
            values: SWITCH,
            default: false,
        }
        bootstrap: Mechanism {
            variable: "HEDDLE_BOOTSTRAP",
            class: User,
            meaning: "the launcher that has started the process: Heddle's mpiexec (builtin), one that speaks PMIx, as prterun, Open MPI's mpiexec and srun do (pmix), one that speaks PMI-1, as MPICH's does (pmi), or PMI-2, as srun --mpi=pmi2 does (pmi2), none (single), or the first of them that has left its variables (auto)",
            values: MECHANISMS,
            default: Mechanism::Auto,
        }
        fabric: String {
            variable: "HEDDLE_FABRIC",
            class: User,
            meaning: "the network between machines: the first provider of libfabric that connects them (auto), none (off), or a provider by its name, as fi_info shows it; a provider is opened even if another launcher than Heddle's says that all ranks run on one machine",
            values: FABRICS,
            default: AUTO.to_owned(),
            common: true,
        }
        fabric_domain: String {
            variable: "HEDDLE_FABRIC_DOMAIN",
            class: User,
            meaning: "the network interface or device that HEDDLE_FABRIC uses, as fi_info shows it (domain)",
            values: FABRIC_DOMAINS,
            default: ANY.to_owned(),
        }
        ///
        /// `None`: never.
        peer_timeout: Option<Duration> {
            variable: "HEDDLE_PEER_TIMEOUT",
            class: User,
            meaning: "the seconds after which a rank on another machine is lost if nothing was heard of it; off never gives one up, as a debugger wants that stops processes",
            values: TIMEOUTS,
            default: Some(Duration::from_secs(10)),
        }
        offload_cores: Cores {
            variable: "HEDDLE_OFFLOAD_CORES",
            class: User,
            meaning: "the cores on which the threads of execution offload run, one after the other",
            values: CORES,
            default: Cores::default(),
            acts_under: OFFLOADED,
        }
        accumulate_granularity: usize {
            variable: "HEDDLE_ACCUMULATE_GRANULARITY",
            class: Tuning,
            meaning: "how accumulates are made on one machine: 0, as their lengths suggest; 1 to 8, each element by a processor atomic, which short ones want; from 9 on, so many bytes at a time under a lock of the target, which long ones want; the info key mpi_accumulate_granularity goes before it",
            values: Number { least: 0, most: i32::MAX as usize },
            default: 0,
            common: true,
        }
        win_lock: &'static str {
            variable: "HEDDLE_WIN_LOCK",
            class: Tuning,
            meaning: "the algorithm of the locks of a window, unless the info key heddle_win_lock names one when it is made",
            values: WIN_LOCKS,
            default: "queue-rw",
            common: true,
        }
        ///
        /// The entries of 1000, at some 50 ns each, take as long as a few hand-overs to processes without a
        /// core.
        win_lock_bypasses: u64 {
            variable: "HEDDLE_WIN_LOCK_BYPASSES",
            class: Tuning,
            meaning: "under the window locks rma-rw, rma-mcs and d-mcs, how many processes may enter past those that wait, between two of the queue, unless the info key heddle_win_lock_bypasses says it; 0: strict order, as in the paper",
            values: BYPASSES,
            default: 1000,
            common: true,
        }
    }
    and {
        /// How collective operations are carried out.
        collectives: Collectives = Collectives::DEFAULT,
        /// How threads wait.
        wait: WaitPolicy = WaitPolicy::default(),
    }
    /// Every setting except those of collective operations and the [parts](heddle_model::PARTS) of the
    /// model.
    table: [pub(crate) const SETTINGS];
    /// The values that hold unless the user chooses others.
    defaults: [fn with_defaults];
}

/// Threads of the library run the operations.
const OFFLOADED: Condition<Settings> =
    Condition { name: OFFLOAD.name, holds: |settings| (OFFLOAD.holds)(&settings.model) };

impl Default for Settings {
    fn default() -> Settings {
        Settings::with_defaults()
    }
}

impl Settings {
    /// The thread level (`MPI_THREAD_…`) that a program gets which asks for this one.
    #[must_use]
    pub fn level_for(&self, asked: i32) -> i32 {
        // The constants grow with the level.
        asked.max(self.thread_level)
    }

    /// The number of VNIs in each of `ranks` processes that share this machine's cores and are the whole job,
    /// unless it is chosen; `None` if the number has to be the same whatever the ranks.
    #[must_use]
    pub fn vnis_among(&self, ranks: Option<usize>) -> usize {
        self.vnis.unwrap_or_else(|| vnis_for(cores(), ranks.map(share_of_cores)))
    }

    /// The provider and the domain of libfabric that are asked for, where `None` stands for any;
    /// no pair if no network is wanted.
    #[must_use]
    pub fn network(&self) -> Option<(Option<&str>, Option<&str>)> {
        let unless = |value: &str, setting| (setting != value).then_some(setting);
        match self.fabric.as_str() {
            OFF => None,
            fabric => Some((unless(AUTO, fabric), unless(ANY, self.fabric_domain.as_str()))),
        }
    }
}
