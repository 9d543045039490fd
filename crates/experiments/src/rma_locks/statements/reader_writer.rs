//! What the paper says of RMA-RW and the hash table (Figs. 4 to 6).

use super::super::cases::{ADAPTIVE_PERCENT, SimulatedFigure, SimulatedRow, SimulatedSubject, TUNED};
use super::statement::{SimulatedRows, SimulatedStatement};
use crate::report::verdict::{Verdict, is_about};

pub(super) fn counters(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let of = |distance: usize, p| {
        figures.throughput(
            SimulatedFigure::CounterDistance,
            SimulatedSubject::Sob,
            &format!("T_DC = {distance}"),
            p,
            0.2,
        )
    };
    let p = 512.max(*figures.processes(SimulatedFigure::CounterDistance, 512).first()?);
    let best = [2, 4, 8, 16, 32, 64, 128, 256]
        .into_iter()
        .max_by(|a, b| of(*a, p).partial_cmp(&of(*b, p)).unwrap_or(std::cmp::Ordering::Equal))?;
    Some(SimulatedStatement {
        section: "5.2.1",
        paper: "SOB, F_W = 0.2 %: many counters limit throughput at high P, and so do too few; the best at P = 512 is one \
                on every 2nd node (T_DC = 32)",
        simulated: format!(
            "P = {p}: T_DC = {best} is best; {}",
            [2, 16, 32, 64, 128, 256]
                .iter()
                .filter_map(|distance| Some(format!("{distance}: {:.1}", of(*distance, p)? / 1e6)))
                .collect::<Vec<_>>()
                .join(", ")
                + " million/s"
        ),
        verdict: if (16..=64).contains(&best) {
            Verdict::Agrees
        } else if (4..=128).contains(&best) {
            Verdict::InPart
        } else {
            Verdict::Differs
        },
    })
}

fn thresholds(figures: &SimulatedRows<'_>, locality: u64, writers: u64) -> Option<(f64, f64)> {
    let series = format!("T_L,2 = {locality}, T_L,1 = {writers}");
    let p = *figures.processes(SimulatedFigure::Locality, 0).last()?;
    figures
        .row(SimulatedFigure::Locality, SimulatedSubject::Sob, &series, p, 25.0)
        .map(|row| (row.throughput, row.latency_us[0]))
}

pub(super) fn product(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let of = |writers| Some(thresholds(figures, 10, writers)?.0 / 1e6);
    let (few, some, many) = (of(10)?, of(25)?, of(100)?);
    Some(SimulatedStatement {
        section: "5.2.2",
        paper: "F_W = 25 %: a smaller product of the T_L increases throughput",
        simulated: format!("{few:.2}, {some:.2}, {many:.2} million/s at products of 100, 250, 1,000"),
        verdict: Verdict::of(few >= some && some >= many),
    })
}

pub(super) fn locality(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let (low, middle, high) =
        (thresholds(figures, 10, 100)?, thresholds(figures, 25, 40)?, thresholds(figures, 50, 20)?);
    Some(SimulatedStatement {
        section: "5.2.2",
        paper: "product 1,000: a higher T_L,2 increases throughput by up to 25 %",
        simulated: format!(
            "T_L,2 = 10, 25, 50: {:.2}, {:.2}, {:.2} million/s ({:+.0} %)",
            low.0 / 1e6,
            middle.0 / 1e6,
            high.0 / 1e6,
            (high.0 / low.0 - 1.0) * 100.0
        ),
        verdict: Verdict::of(high.0 >= low.0 && high.0 <= low.0 * 1.5),
    })
}

fn quota(figures: &SimulatedRows<'_>, percent: f64) -> Option<[f64; 4]> {
    let p = *figures.processes(SimulatedFigure::Readers, 0).last()?;
    let of = |readers: u64| {
        let series = format!("T_R = {readers}");
        figures
            .throughput(SimulatedFigure::Readers, SimulatedSubject::Sob, &series, p, percent)
            .map(|rate| rate / 1e6)
    };
    Some([of(0)?, of(16)?, of(64)?, of(256)?])
}

pub(super) fn readers_rare_writers(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let rates = quota(figures, 0.2)?;
    Some(SimulatedStatement {
        section: "5.2.3",
        paper: "F_W = 0.2 %: increasing T_R improves throughput significantly",
        simulated: format!("T_R = 0, 16, 64, 256: {rates:.1?} million/s"),
        verdict: Verdict::of(rates[3] > rates[0] * 1.1),
    })
}

pub(super) fn readers_many_writers(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let (two, five) = (quota(figures, 2.0)?, quota(figures, 5.0)?);
    let spread = |rates: [f64; 4]| {
        let (least, most) =
            rates.iter().fold((f64::MAX, 0.0), |(a, b): (f64, f64), r| (a.min(*r), b.max(*r)));
        (most / least - 1.0) * 100.0
    };
    Some(SimulatedStatement {
        section: "5.2.3",
        paper: "F_W = 2 %, 5 %: no T_R has a consistent significant advantage (below 1 % for most P)",
        simulated: format!("differences of {:.0} % and {:.0} %", spread(two), spread(five)),
        verdict: Verdict::of(spread(two) < 10.0 && spread(five) < 10.0),
    })
}

pub(super) fn six_times(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let mut least: Option<(f64, usize, f64)> = None;
    let mut most: f64 = 0.0;
    for percent in [0.2, 2.0, 5.0] {
        for p in figures.processes(SimulatedFigure::ReaderWriter, 64) {
            for subject in [SimulatedSubject::Ecsb, SimulatedSubject::Sob] {
                let of =
                    |series| figures.throughput(SimulatedFigure::ReaderWriter, subject, series, p, percent);
                let factor = of("RMA-RW")? / of("foMPI-RW")?;
                most = most.max(factor);
                if least.is_none_or(|(before, ..)| factor < before) {
                    least = Some((factor, p, percent));
                }
            }
        }
    }
    let (factor, p, percent) = least?;
    Some(SimulatedStatement {
        section: "5.2.4",
        paper: "F_W = 0.2, 2, 5 %: RMA-RW outperforms foMPI-RW more than 6 times for P >= 64",
        simulated: format!("{factor:.1} (P = {p}, {percent} %) to {most:.0} times"),
        verdict: if factor > 6.0 {
            Verdict::Agrees
        } else if factor > 1.1 {
            Verdict::InPart
        } else {
            Verdict::Differs
        },
    })
}

pub(super) fn shares(figures: &SimulatedRows<'_>, percent: f64, wanted: f64) -> Option<SimulatedStatement> {
    let factors = figures.processes(SimulatedFigure::ReaderWriter, 0).into_iter().filter_map(|p| {
        let of = |percent| {
            figures.throughput(SimulatedFigure::ReaderWriter, SimulatedSubject::Ecsb, "RMA-RW", p, percent)
        };
        Some((of(0.2)? / of(percent)?, p))
    });
    let (factor, p) = factors.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(SimulatedStatement {
        section: "5.2.4",
        paper: if wanted < 2.0 {
            "RMA-RW: F_W = 0.2 % gives at most 1.8 times the throughput of 2 %"
        } else {
            "RMA-RW: F_W = 0.2 % gives at most 4.4 times the throughput of 5 %"
        },
        simulated: format!("{factor:.1} times (P = {p})"),
        verdict: Verdict::of_factor(factor, wanted),
    })
}

pub(super) fn many_writers(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let p = *figures.processes(SimulatedFigure::ReaderWriter, 0).last()?;
    let of = |percent| {
        figures.throughput(SimulatedFigure::ReaderWriter, SimulatedSubject::Ecsb, "RMA-RW", p, percent)
    };
    let (some, all) = (of(30.0)?, of(100.0)?);
    Some(SimulatedStatement {
        section: "5.2.4",
        paper: "RMA-RW: above F_W = 30 % throughput remains approximately the same",
        simulated: format!("P = {p}: {:.2} million/s at 30 %, {:.2} at 100 %", some / 1e6, all / 1e6),
        verdict: Verdict::of(is_about(some / all, 1.0)),
    })
}

pub(super) fn adaptive(figures: &SimulatedRows<'_>) -> Option<SimulatedStatement> {
    let mut least = f64::MAX;
    let mut parts: Vec<String> = Vec::new();
    for p in figures.processes(SimulatedFigure::Adaptive, 0) {
        let ratios: Option<Vec<f64>> =
            ADAPTIVE_PERCENT.into_iter().map(|percent| ratio_of_tuned(figures, p, percent)).collect();
        let ratios = ratios?;
        least = ratios.iter().copied().fold(least, f64::min);
        parts.push(format!("P = {p}: {ratios:.2?}"));
    }
    (!parts.is_empty()).then(|| SimulatedStatement {
        section: "ours",
        paper: "RMA-RW that tunes T_DC, T_L,2 and T_L,1 reaches 0.95 of the best fixed setting",
        simulated: format!("F_W = 0.2, 2, 5, 50 %: {}", parts.join("; ")),
        verdict: Verdict::of(least >= 0.95),
    })
}

fn ratio_of_tuned(figures: &SimulatedRows<'_>, processes: usize, percent: f64) -> Option<f64> {
    let rows = figures.0.iter().filter(|row| {
        row.figure == SimulatedFigure::Adaptive
            && row.processes == processes
            && row.writers_percent == percent
    });
    let (tuned, fixed): (Vec<&SimulatedRow>, Vec<&SimulatedRow>) = rows.partition(|row| row.series == TUNED);
    let best = fixed.into_iter().map(|row| row.throughput).fold(0.0, f64::max);
    Some(tuned.first()?.throughput / best)
}

pub(super) fn hash_table(figures: &SimulatedRows<'_>) -> Vec<SimulatedStatement> {
    let Some(p) = figures.processes(SimulatedFigure::HashTable, 0).last().copied() else { return Vec::new() };
    let time = |series, percent| {
        figures
            .row(SimulatedFigure::HashTable, SimulatedSubject::Dht, series, p, percent)
            .and_then(|row| row.time_us)
    };
    let text = |percent: f64| {
        let of = |series| time(series, percent).map_or("-".to_owned(), |us| format!("{:.2}", us / 1000.0));
        format!("{percent} %: {} / {} / {}", of("RMA-RW"), of("foMPI-RW"), of("foMPI-A"))
    };
    let beaten =
        |other| [2.0, 5.0, 20.0].iter().all(|percent| time("RMA-RW", *percent) < time(other, *percent));
    let shown =
        || format!("ms of RMA-RW / foMPI-RW / foMPI-A at P = {p}: {}", [2.0, 5.0, 20.0].map(text).join("; "));
    let mut statements = vec![
        SimulatedStatement {
            section: "5.3",
            paper: "DHT, F_W = 2, 5, 20 %: RMA-RW is faster than foMPI-RW",
            simulated: shown(),
            verdict: Verdict::of(beaten("foMPI-RW")),
        },
        SimulatedStatement {
            section: "5.3",
            paper: "DHT, F_W = 2, 5, 20 %: RMA-RW is faster than foMPI-A, which has no lock",
            simulated: "see above".to_owned(),
            verdict: Verdict::of(beaten("foMPI-A")),
        },
    ];
    if let (Some(theirs), Some(ours)) = (time("foMPI-RW", 0.0), time("RMA-RW", 0.0)) {
        statements.push(SimulatedStatement {
            section: "5.3",
            paper: "DHT, F_W = 0: foMPI-RW and RMA-RW are comparable",
            simulated: format!("P = {p}: {:.1} times as fast", theirs / ours),
            verdict: Verdict::of(is_about(theirs / ours, 1.0)),
        });
    }
    statements
}
