//! The experiments of Schmid, Besta and Hoefler (HPDC 2016): distributed locks on a simulated network, as
//! `heddle bench rma-locks` has them.

use super::experiment::{Experiment, Paper, Points, Within};
use super::system::{System, alone};
use super::view::{Along, Quantity, View};
use crate::bench::case::Case;
use crate::rma_locks::SimulatedFigure;

/// The benchmark's name in the record; the forms are those of `simulation::op`.
pub(super) const BENCH: &str = "simulated";

const NOTE: &str = "The paper has up to 64 nodes of a Cray XC30; here its locks run on a simulation of that machine in virtual \
     time. Nothing was measured on a network: the figures are those of the model, and a seed gives the same ones on any \
     machine.";

const SPIN: System = alone("foMPI-Spin", "foMPI-Spin");
const D_MCS: System = alone("D-MCS", "D-MCS");
const RMA_MCS: System = alone("RMA-MCS", "RMA-MCS");
const FOMPI_RW: System = alone("foMPI-RW", "foMPI-RW");
const QUEUE_RW: System = alone("QueueRw (ours)", "QueueRw");
const RMA_RW: System = alone("RMA-RW", "RMA-RW");
const NO_LOCK: System = alone("foMPI-A, no lock", "foMPI-A");

/// A system whose label is that of the setting.
const fn setting(label: &'static str) -> System {
    alone(label, label)
}

const fn rate(title: &'static str, op: &'static str) -> View {
    View { title, bench: BENCH, op, shows: Quantity::Value, along: Along::Processes }
}

const fn latency(title: &'static str, op: &'static str) -> View {
    rate(title, op).showing(title, Quantity::Further("latency_us", 1.0))
}

const fn time(title: &'static str, op: &'static str) -> View {
    rate(title, op).showing(title, Quantity::Further("time_us", 1e-3))
}

fn nothing(_: &Points) -> Vec<Case> {
    Vec::new()
}

/// The parts that are the same in all of them.
const SIMULATED: Experiment = Experiment {
    paper: Paper::RmaLocks,
    names: &[],
    title: "",
    note: NOTE,
    systems: &[],
    cases: nothing,
    within: Within::Nothing,
    pvars: &[],
    misses: false,
    cores: |_| 1,
    views: &[],
    claims: &[],
};

/// The experiments, in the paper's order.
pub(super) static EXPERIMENTS: [Experiment; 6] = [
    Experiment {
        names: &["fig3"],
        title: "RMA-MCS beside foMPI-Spin and D-MCS",
        systems: &[SPIN, D_MCS, RMA_MCS],
        within: Within::Simulation(SimulatedFigure::MutualExclusion),
        views: &[
            latency("Fig. 3: LB, acquire and release (us)", "ECSB 100"),
            rate("Fig. 3: ECSB, acquisitions a second", "ECSB 100"),
            rate("Fig. 3: SOB, acquisitions a second", "SOB 100"),
            rate("Fig. 3: WCSB, acquisitions a second", "WCSB 100"),
            rate("Fig. 3: WARB, acquisitions a second", "WARB 100"),
        ],
        ..SIMULATED
    },
    Experiment {
        names: &["fig4a"],
        title: "RMA-RW: T_DC, the processes of a counter",
        systems: &[
            setting("T_DC = 2"),
            setting("T_DC = 4"),
            setting("T_DC = 8"),
            setting("T_DC = 16"),
            setting("T_DC = 32"),
            setting("T_DC = 64"),
            setting("T_DC = 128"),
            setting("T_DC = 256"),
        ],
        within: Within::Simulation(SimulatedFigure::CounterDistance),
        views: &[
            rate("Fig. 4a: SOB, F_W = 0.2 %, acquisitions a second", "SOB 0.2"),
            rate("Fig. 4a: SOB, F_W = 2 %, acquisitions a second", "SOB 2"),
        ],
        ..SIMULATED
    },
    Experiment {
        names: &["fig4b", "fig4c", "fig4d"],
        title: "RMA-RW: T_L,2 and T_L,1, how many times in a row a node's and all nodes' writers pass the lock on",
        systems: &[
            setting("T_L,2 = 10, T_L,1 = 10"),
            setting("T_L,2 = 10, T_L,1 = 25"),
            setting("T_L,2 = 10, T_L,1 = 100"),
            setting("T_L,2 = 25, T_L,1 = 40"),
            setting("T_L,2 = 50, T_L,1 = 20"),
        ],
        within: Within::Simulation(SimulatedFigure::Locality),
        views: &[
            rate("Figs. 4b, 4c: SOB, F_W = 25 %, acquisitions a second", "SOB 25"),
            latency("Fig. 4d: mean of acquire and release, F_W = 25 % (us)", "SOB 25"),
        ],
        ..SIMULATED
    },
    Experiment {
        names: &["fig4e", "fig4f"],
        title: "RMA-RW: T_R, how many readers enter while writers wait",
        systems: &[setting("T_R = 0"), setting("T_R = 16"), setting("T_R = 64"), setting("T_R = 256")],
        within: Within::Simulation(SimulatedFigure::Readers),
        views: &[
            rate("Fig. 4e: SOB, F_W = 0.2 %, acquisitions a second", "SOB 0.2"),
            rate("Fig. 4f: SOB, F_W = 2 %, acquisitions a second", "SOB 2"),
            rate("Fig. 4f: SOB, F_W = 5 %, acquisitions a second", "SOB 5"),
        ],
        ..SIMULATED
    },
    Experiment {
        names: &["fig5"],
        title: "RMA-RW beside foMPI-RW, and a lock of ours",
        systems: &[FOMPI_RW, RMA_RW, QUEUE_RW],
        within: Within::Simulation(SimulatedFigure::ReaderWriter),
        views: &[
            rate("Fig. 5: ECSB, F_W = 0.2 %, acquisitions a second", "ECSB 0.2"),
            rate("Fig. 5: ECSB, F_W = 2 %, acquisitions a second", "ECSB 2"),
            rate("Fig. 5: ECSB, F_W = 5 %, acquisitions a second", "ECSB 5"),
            rate("Fig. 5: SOB, F_W = 0.2 %, acquisitions a second", "SOB 0.2"),
            rate("Fig. 5: SOB, F_W = 2 %, acquisitions a second", "SOB 2"),
            rate("Fig. 5: SOB, F_W = 5 %, acquisitions a second", "SOB 5"),
        ],
        ..SIMULATED
    },
    Experiment {
        names: &["fig6"],
        title: "A distributed hash table",
        systems: &[NO_LOCK, FOMPI_RW, RMA_RW, QUEUE_RW],
        within: Within::Simulation(SimulatedFigure::HashTable),
        views: &[
            time("Fig. 6: F_W = 20 %, total time (ms)", "DHT 20"),
            time("Fig. 6: F_W = 5 %, total time (ms)", "DHT 5"),
            time("Fig. 6: F_W = 2 %, total time (ms)", "DHT 2"),
            time("Fig. 6: F_W = 0 %, total time (ms)", "DHT 0"),
        ],
        ..SIMULATED
    },
];
