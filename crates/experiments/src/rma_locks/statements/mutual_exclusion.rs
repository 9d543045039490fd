//! What the paper says of RMA-MCS (Fig. 3).

use super::super::cases::{SimulatedFigure, SimulatedSubject};
use super::statement::{SimulatedRows, SimulatedStatement};
use crate::report::verdict::Verdict;

pub(super) fn latency(
    figures: &SimulatedRows<'_>,
    other: &'static str,
    factor: f64,
) -> Option<SimulatedStatement> {
    let of = |series| {
        figures
            .row(SimulatedFigure::MutualExclusion, SimulatedSubject::Ecsb, series, 1024, 100.0)
            .map(|row| row.latency_us[0])
    };
    let (theirs, ours) = (of(other)?, of("RMA-MCS")?);
    Some(SimulatedStatement {
        section: "5.1",
        paper: if factor > 5.0 {
            "LB, P = 1,024: RMA-MCS has about 10 times less latency than foMPI-Spin"
        } else {
            "LB, P = 1,024: RMA-MCS has about 4 times less latency than D-MCS"
        },
        simulated: format!("{:.1} times ({theirs:.0} and {ours:.0} µs)", theirs / ours),
        verdict: Verdict::of_factor(theirs / ours, factor),
    })
}

pub(super) fn lowest_latency(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let of = |series, p| {
        figures
            .row(SimulatedFigure::MutualExclusion, SimulatedSubject::Ecsb, series, p, 100.0)
            .map(|row| row.latency_us[0])
    };
    let processes = figures.processes(SimulatedFigure::MutualExclusion, 0);
    let lost: Vec<usize> = processes
        .iter()
        .copied()
        .filter(|&p| {
            let ours = of("RMA-MCS", p);
            ["foMPI-Spin", "D-MCS"].iter().any(|other| of(other, p) < ours)
        })
        .collect();
    (!processes.is_empty()).then(|| SimulatedStatement {
        section: "5.1",
        paper: "LB: the latency of RMA-MCS is lower than any other's",
        simulated: except(&lost),
        verdict: Verdict::of_cases(lost.len(), processes.len()),
    })
}

fn except(lost: &[usize]) -> String {
    match lost {
        [] => "at every P".to_owned(),
        lost => format!("except at P = {}", lost.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn highest_throughput(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let processes = figures.processes(SimulatedFigure::MutualExclusion, 0);
    let mut lost: Vec<String> = Vec::new();
    for subject in
        [SimulatedSubject::Ecsb, SimulatedSubject::Sob, SimulatedSubject::Wcsb, SimulatedSubject::Warb]
    {
        for &p in &processes {
            let of = |series| figures.throughput(SimulatedFigure::MutualExclusion, subject, series, p, 100.0);
            // A hundredth is nothing.
            let ours = of("RMA-MCS").map(|ours| ours * 1.01);
            if of("foMPI-Spin") > ours || of("D-MCS") > ours {
                lost.push(format!("{} P = {p}", subject.name()));
            }
        }
    }
    (!processes.is_empty()).then(|| SimulatedStatement {
        section: "5.1",
        paper: "ECSB, SOB, WCSB, WARB: RMA-MCS consistently outperforms foMPI-Spin and D-MCS",
        simulated: if lost.is_empty() { "always".to_owned() } else { format!("except {}", lost.join(", ")) },
        verdict: Verdict::of_cases(lost.len(), 4 * processes.len()),
    })
}

pub(super) fn spike(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let of =
        |p| figures.throughput(SimulatedFigure::MutualExclusion, SimulatedSubject::Sob, "RMA-MCS", p, 100.0);
    let (eight, sixteen, more) = (of(8)?, of(16)?, of(32)?);
    Some(SimulatedStatement {
        section: "5.1",
        paper: "SOB: a spike of RMA-MCS at P = 16, the last without communication between nodes",
        simulated: format!(
            "{:.2}, {:.2}, {:.2} million/s at 8, 16, 32",
            eight / 1e6,
            sixteen / 1e6,
            more / 1e6
        ),
        verdict: Verdict::of(sixteen >= eight && sixteen > more),
    })
}
