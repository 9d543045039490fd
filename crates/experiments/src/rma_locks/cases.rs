//! The simulated series: those of the paper's figures 3 to 6.

use heddle_rma_sim::{
    Benchmark, HashTable, LockKind, MICROSECOND, RmaRwParameters, Shares, SimulatedNetwork, Stuck, Tuned,
    Workload,
};
use serde::Serialize;

/// A figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SimulatedFigure {
    /// Fig. 3: RMA-MCS beside foMPI-Spin and D-MCS.
    MutualExclusion,
    /// Fig. 4a: T_DC.
    CounterDistance,
    /// Fig. 4b to 4d: T_L,1 and T_L,2.
    Locality,
    /// Fig. 4e and 4f: T_R.
    Readers,
    /// Fig. 5: RMA-RW beside foMPI-RW and our QueueRw.
    ReaderWriter,
    /// Fig. 6: the distributed hash table.
    HashTable,
    /// RMA-RW that tunes its parameters, which is not from the paper: with 64, 256 and 1,024 processes.
    Adaptive,
}

impl SimulatedFigure {
    pub(crate) const ALL: [SimulatedFigure; 7] = [
        SimulatedFigure::MutualExclusion,
        SimulatedFigure::CounterDistance,
        SimulatedFigure::Locality,
        SimulatedFigure::Readers,
        SimulatedFigure::ReaderWriter,
        SimulatedFigure::HashTable,
        SimulatedFigure::Adaptive,
    ];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SimulatedFigure::MutualExclusion => "mutual-exclusion",
            SimulatedFigure::CounterDistance => "counter-distance",
            SimulatedFigure::Locality => "locality",
            SimulatedFigure::Readers => "readers",
            SimulatedFigure::ReaderWriter => "reader-writer",
            SimulatedFigure::HashTable => "hash-table",
            SimulatedFigure::Adaptive => "adaptive",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            SimulatedFigure::MutualExclusion => "Fig. 3: RMA-MCS beside foMPI-Spin and D-MCS",
            SimulatedFigure::CounterDistance => "Fig. 4a: T_DC, the processes of a counter",
            SimulatedFigure::Locality => "Fig. 4b to 4d: T_L,2 and T_L,1",
            SimulatedFigure::Readers => "Fig. 4e and 4f: T_R",
            SimulatedFigure::ReaderWriter => "Fig. 5: RMA-RW beside foMPI-RW and QueueRw",
            SimulatedFigure::HashTable => "Fig. 6: the distributed hash table",
            SimulatedFigure::Adaptive => {
                "RMA-RW that tunes its parameters, beside the best fixed ones (second half of a run)"
            }
        }
    }
}

/// The subject of a case: one of the paper's benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum SimulatedSubject {
    /// Latency, and throughput, of an empty critical section: LB and ECSB.
    Ecsb,
    Sob,
    Wcsb,
    Warb,
    Dht,
}

impl SimulatedSubject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            SimulatedSubject::Ecsb => "ECSB",
            SimulatedSubject::Sob => "SOB",
            SimulatedSubject::Wcsb => "WCSB",
            SimulatedSubject::Warb => "WARB",
            SimulatedSubject::Dht => "DHT",
        }
    }
}

/// One simulation.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedCase {
    pub(crate) figure: SimulatedFigure,
    pub(crate) subject: SimulatedSubject,
    /// The line of the figure.
    pub(crate) series: String,
    pub(crate) processes: usize,
    /// F_W, in percent.
    pub(crate) writers_percent: f64,
    /// No lock: foMPI-A, in the hash table alone.
    pub(crate) kind: Option<LockKind>,
}

/// The figures of one simulation.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SimulatedRow {
    pub(crate) figure: SimulatedFigure,
    pub(crate) subject: SimulatedSubject,
    pub(crate) series: String,
    pub(crate) processes: usize,
    pub(crate) writers_percent: f64,
    /// Acquisitions a second of all processes, or accesses of the hash table.
    pub(crate) throughput: f64,
    /// The mean time of acquire and release in µs: of all, of readers, of writers (not of the hash table).
    pub(crate) latency_us: [f64; 3],
    /// The total time of the hash table in µs.
    pub(crate) time_us: Option<f64>,
}

/// The parameters that all cases share.
#[derive(Debug, Clone)]
pub(crate) struct SimulationEffort {
    pub(crate) processes: Vec<usize>,
    /// Acquisitions of all processes of a case together, at least.
    pub(crate) acquisitions: usize,
    pub(crate) seed: u64,
    /// T_L of RMA-MCS, and the parameters of RMA-RW where a figure does not vary them.
    pub(crate) rma_rw: RmaRwParameters,
}

impl SimulatedCase {
    /// Simulates it.
    pub(crate) fn run(
        &self,
        effort: &SimulationEffort,
        network: &SimulatedNetwork,
    ) -> Result<SimulatedRow, Stuck> {
        let (processes, seed, writers) = (self.processes, effort.seed, self.writers_percent / 100.0);
        // At least 20 for each process, and more where writers are rare or settings are to be found.
        let more = match self.figure {
            SimulatedFigure::Adaptive if writers < 0.01 => 25 * processes.max(256).div_ceil(64),
            SimulatedFigure::Adaptive => 12 * processes.max(256).div_ceil(64),
            _ if writers < 0.01 => 5,
            _ => 1,
        };
        let acquisitions = (effort.acquisitions * more).max(20 * processes);
        let mut row = SimulatedRow {
            figure: self.figure,
            subject: self.subject,
            series: self.series.clone(),
            processes,
            writers_percent: self.writers_percent,
            throughput: 0.0,
            latency_us: [0.0; 3],
            time_us: None,
        };
        let benchmark = match self.subject {
            SimulatedSubject::Ecsb => Benchmark::Empty,
            SimulatedSubject::Sob => Benchmark::SingleOperation,
            SimulatedSubject::Wcsb => Benchmark::WorkloadInside,
            SimulatedSubject::Warb => Benchmark::WaitAfterRelease,
            SimulatedSubject::Dht => {
                let rounds = acquisitions / processes;
                let rounds = rounds.min(50);
                let (time, _) = HashTable { processes, rounds, writers, seed }.run(self.kind, network)?;
                let time_us = time as f64 / MICROSECOND as f64;
                row.throughput = ((processes - 1) * rounds) as f64 / time_us * 1e6;
                row.time_us = Some(time_us);
                return Ok(row);
            }
        };
        // The paper's method, but parameters are to be found for a program that goes on.
        let shares = if self.figure == SimulatedFigure::Adaptive { Shares::Free } else { Shares::Equal };
        let Some(kind) = self.kind else { return Ok(row) };
        let workload =
            Workload { benchmark, processes, acquisitions, shares, writers: vec![writers; 2], seed };
        let outcome = if self.figure == SimulatedFigure::Adaptive {
            workload.run_by_shares(kind, network)?[1]
        } else {
            workload.run(kind, network)?
        };
        (row.throughput, row.latency_us) = (outcome.throughput, outcome.latency_us);
        Ok(row)
    }
}

/// The numbers of processes with which the lock that tunes its parameters runs.
pub(crate) const ADAPTIVE_PROCESSES: [usize; 3] = [64, 256, 1024];
/// The shares of writers, in percent.
pub(crate) const ADAPTIVE_PERCENT: [f64; 4] = [0.2, 2.0, 5.0, 50.0];
/// The name of its series; the others are fixed settings.
pub(crate) const TUNED: &str = "tuned";

/// All cases of some figures.
pub(crate) fn cases(figures: &[SimulatedFigure], effort: &SimulationEffort) -> Vec<SimulatedCase> {
    let mut cases = Vec::new();
    for figure in SimulatedFigure::ALL {
        if !figures.is_empty() && !figures.contains(&figure) {
            continue;
        }
        for &processes in
            if figure == SimulatedFigure::Adaptive { &ADAPTIVE_PROCESSES[..] } else { &effort.processes }
        {
            let all = lines(figure, effort.rma_rw).into_iter();
            for (subject, writers_percent, series, kind) in
                all.filter(|line| figure != SimulatedFigure::Adaptive || has_place(line, processes))
            {
                let series = if series.is_empty() {
                    kind.map_or("foMPI-A", |kind| kind.name()).to_owned()
                } else {
                    series
                };
                cases.push(SimulatedCase { figure, subject, series, processes, writers_percent, kind });
            }
        }
    }
    cases
}

type CaseLine = (SimulatedSubject, f64, String, Option<LockKind>);

/// False if a fixed setting beside the tuned lock has one counter for more processes than there are.
fn has_place((_, _, _, kind): &CaseLine, processes: usize) -> bool {
    !matches!(kind, Some(LockKind::RmaRw(fixed)) if fixed.counter_distance > processes)
}

/// The lines of a figure: benchmark, F_W in percent, name (empty: that of the lock), lock.
fn lines(figure: SimulatedFigure, usual: RmaRwParameters) -> Vec<CaseLine> {
    let mut lines: Vec<CaseLine> = Vec::new();
    let rma_mcs = LockKind::RmaMcs { locality: usual.locality };
    let rw = |parameters| Some(LockKind::RmaRw(parameters));
    match figure {
        SimulatedFigure::MutualExclusion => {
            for subject in [
                SimulatedSubject::Ecsb,
                SimulatedSubject::Sob,
                SimulatedSubject::Wcsb,
                SimulatedSubject::Warb,
            ] {
                for kind in [LockKind::Spin, LockKind::DMcs, rma_mcs] {
                    lines.push((subject, 100.0, String::new(), Some(kind)));
                }
            }
        }
        SimulatedFigure::CounterDistance => {
            for counter_distance in [2, 4, 8, 16, 32, 64, 128, 256] {
                for percent in [0.2, 2.0] {
                    let name = format!("T_DC = {counter_distance}");
                    lines.push((
                        SimulatedSubject::Sob,
                        percent,
                        name,
                        rw(RmaRwParameters { counter_distance, ..usual }),
                    ));
                }
            }
        }
        SimulatedFigure::Locality => {
            for (locality, writers) in [(10, 10), (10, 25), (10, 100), (25, 40), (50, 20)] {
                let name = format!("T_L,2 = {locality}, T_L,1 = {writers}");
                lines.push((
                    SimulatedSubject::Sob,
                    25.0,
                    name,
                    rw(RmaRwParameters { locality, writers, ..usual }),
                ));
            }
        }
        SimulatedFigure::Readers => {
            for readers in [0, 16, 64, 256] {
                for percent in [0.2, 2.0, 5.0] {
                    let name = format!("T_R = {readers}");
                    lines.push((
                        SimulatedSubject::Sob,
                        percent,
                        name,
                        rw(RmaRwParameters { readers, ..usual }),
                    ));
                }
            }
        }
        SimulatedFigure::ReaderWriter => {
            for subject in [SimulatedSubject::Ecsb, SimulatedSubject::Sob] {
                for percent in [0.2, 2.0, 5.0, 30.0, 100.0] {
                    for kind in [LockKind::SimpleRw, LockKind::QueueRw, LockKind::RmaRw(usual)] {
                        lines.push((subject, percent, String::new(), Some(kind)));
                    }
                }
            }
        }
        SimulatedFigure::HashTable => {
            for percent in [0.0, 2.0, 5.0, 20.0] {
                for kind in [None, Some(LockKind::SimpleRw), Some(LockKind::QueueRw), rw(usual)] {
                    lines.push((SimulatedSubject::Dht, percent, String::new(), kind));
                }
            }
        }
        SimulatedFigure::Adaptive => {
            for percent in ADAPTIVE_PERCENT {
                for counter_distance in [16, 32, 64, 128, 256, 512] {
                    for (locality, writers) in [(10, 20), (50, 20), (50, 100)] {
                        let name =
                            format!("T_DC = {counter_distance}, T_L,2 = {locality}, T_L,1 = {writers}");
                        let fixed = RmaRwParameters { counter_distance, locality, writers, readers: 0 };
                        lines.push((SimulatedSubject::Ecsb, percent, name, rw(fixed)));
                    }
                }
                let tuned =
                    Tuned { counter_distance: 16, locality: (1, 50), writers: (1, 100), patience: None };
                lines.push((
                    SimulatedSubject::Ecsb,
                    percent,
                    TUNED.to_owned(),
                    Some(LockKind::Adaptive(tuned)),
                ));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::SimulatedFigure;

    #[test]
    fn names_are_those_of_the_command_line() {
        for figure in SimulatedFigure::ALL {
            assert_eq!(SimulatedFigure::from_str(figure.name(), false), Ok(figure));
        }
    }
}
