//! The paper's statements beside what the simulation gives.

use super::cases::{Figure, Row, Subject};
use serde::Serialize;

/// A statement of the paper.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Statement {
    /// Where it stands.
    pub(crate) section: &'static str,
    /// Its text.
    pub(crate) paper: &'static str,
    /// The figure of the simulation.
    pub(crate) simulated: String,
    /// How far the two agree.
    pub(crate) verdict: Verdict,
}

/// How the simulation stands to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The same; a factor to within a factor of 2.
    Agrees,
    /// The same direction, with another factor or not everywhere.
    InPart,
    /// Something else.
    Differs,
}

impl Verdict {
    fn of(agrees: bool) -> Verdict {
        if agrees { Verdict::Agrees } else { Verdict::Differs }
    }

    /// Of a statement about many cases, some of which are otherwise.
    fn of_cases(otherwise: usize, all: usize) -> Verdict {
        match otherwise {
            0 => Verdict::Agrees,
            some if 2 * some < all => Verdict::InPart,
            _ => Verdict::Differs,
        }
    }

    /// Compares a factor; one below 1 is the other direction.
    fn of_factor(value: f64, wanted: f64) -> Verdict {
        if is_about(value, wanted) {
            Verdict::Agrees
        } else if value > 1.1 {
            Verdict::InPart
        } else {
            Verdict::Differs
        }
    }
}

/// The rows, to be asked for figures.
struct Figures<'a>(&'a [Row]);

impl Figures<'_> {
    fn row(
        &self,
        figure: Figure,
        subject: Subject,
        series: &str,
        processes: usize,
        percent: f64,
    ) -> Option<&Row> {
        self.0.iter().find(|row| {
            row.figure == figure
                && row.subject == subject
                && row.series == series
                && row.processes == processes
                && row.writers_percent == percent
        })
    }

    fn throughput(
        &self,
        figure: Figure,
        subject: Subject,
        series: &str,
        p: usize,
        percent: f64,
    ) -> Option<f64> {
        self.row(figure, subject, series, p, percent).map(|row| row.throughput)
    }

    /// The numbers of processes of a figure, those of at least `least`.
    fn processes(&self, figure: Figure, least: usize) -> Vec<usize> {
        let rows = self.0.iter().filter(|row| row.figure == figure && row.processes >= least);
        let mut processes: Vec<usize> = rows.map(|row| row.processes).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}

fn is_about(value: f64, wanted: f64) -> bool {
    value >= wanted / 2.0 && value <= wanted * 2.0
}

/// The statements about what was simulated.
pub(crate) fn check(rows: &[Row]) -> Vec<Statement> {
    let figures = Figures(rows);
    let parts: [fn(&Figures<'_>) -> Option<Statement>; 15] = [
        |figures| latency(figures, "foMPI-Spin", 10.0),
        |figures| latency(figures, "D-MCS", 4.0),
        lowest_latency,
        highest_throughput,
        spike,
        counters,
        product,
        locality,
        readers_rare_writers,
        readers_many_writers,
        six_times,
        |figures| shares(figures, 2.0, 1.8),
        |figures| shares(figures, 5.0, 4.4),
        many_writers,
        adaptive,
    ];
    let mut statements: Vec<Statement> = parts.iter().filter_map(|part| part(&figures)).collect();
    statements.extend(hash_table(&figures));
    statements
}

fn latency(figures: &Figures<'_>, other: &'static str, factor: f64) -> Option<Statement> {
    let of = |series| {
        figures.row(Figure::MutualExclusion, Subject::Ecsb, series, 1024, 100.0).map(|row| row.latency_us[0])
    };
    let (theirs, ours) = (of(other)?, of("RMA-MCS")?);
    Some(Statement {
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

fn lowest_latency(figures: &Figures<'_>) -> Option<Statement> {
    let of = |series, p| {
        figures.row(Figure::MutualExclusion, Subject::Ecsb, series, p, 100.0).map(|row| row.latency_us[0])
    };
    let processes = figures.processes(Figure::MutualExclusion, 0);
    let lost: Vec<usize> = processes
        .iter()
        .copied()
        .filter(|&p| {
            let ours = of("RMA-MCS", p);
            ["foMPI-Spin", "D-MCS"].iter().any(|other| of(other, p) < ours)
        })
        .collect();
    (!processes.is_empty()).then(|| Statement {
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

fn highest_throughput(figures: &Figures<'_>) -> Option<Statement> {
    let processes = figures.processes(Figure::MutualExclusion, 0);
    let mut lost: Vec<String> = Vec::new();
    for subject in [Subject::Ecsb, Subject::Sob, Subject::Wcsb, Subject::Warb] {
        for &p in &processes {
            let of = |series| figures.throughput(Figure::MutualExclusion, subject, series, p, 100.0);
            // A hundredth is nothing.
            let ours = of("RMA-MCS").map(|ours| ours * 1.01);
            if of("foMPI-Spin") > ours || of("D-MCS") > ours {
                lost.push(format!("{} P = {p}", subject.name()));
            }
        }
    }
    (!processes.is_empty()).then(|| Statement {
        section: "5.1",
        paper: "ECSB, SOB, WCSB, WARB: RMA-MCS consistently outperforms foMPI-Spin and D-MCS",
        simulated: if lost.is_empty() { "always".to_owned() } else { format!("except {}", lost.join(", ")) },
        verdict: Verdict::of_cases(lost.len(), 4 * processes.len()),
    })
}

fn spike(figures: &Figures<'_>) -> Option<Statement> {
    let of = |p| figures.throughput(Figure::MutualExclusion, Subject::Sob, "RMA-MCS", p, 100.0);
    let (eight, sixteen, more) = (of(8)?, of(16)?, of(32)?);
    Some(Statement {
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

fn counters(figures: &Figures<'_>) -> Option<Statement> {
    let of = |distance: usize, p| {
        figures.throughput(Figure::CounterDistance, Subject::Sob, &format!("T_DC = {distance}"), p, 0.2)
    };
    let p = 512.max(*figures.processes(Figure::CounterDistance, 512).first()?);
    let best = [2, 4, 8, 16, 32, 64, 128, 256]
        .into_iter()
        .max_by(|a, b| of(*a, p).partial_cmp(&of(*b, p)).unwrap_or(std::cmp::Ordering::Equal))?;
    Some(Statement {
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

fn thresholds(figures: &Figures<'_>, locality: u64, writers: u64) -> Option<(f64, f64)> {
    let series = format!("T_L,2 = {locality}, T_L,1 = {writers}");
    let p = *figures.processes(Figure::Locality, 0).last()?;
    figures
        .row(Figure::Locality, Subject::Sob, &series, p, 25.0)
        .map(|row| (row.throughput, row.latency_us[0]))
}

fn product(figures: &Figures<'_>) -> Option<Statement> {
    let of = |writers| Some(thresholds(figures, 10, writers)?.0 / 1e6);
    let (few, some, many) = (of(10)?, of(25)?, of(100)?);
    Some(Statement {
        section: "5.2.2",
        paper: "F_W = 25 %: a smaller product of the T_L increases throughput",
        simulated: format!("{few:.2}, {some:.2}, {many:.2} million/s at products of 100, 250, 1,000"),
        verdict: Verdict::of(few >= some && some >= many),
    })
}

fn locality(figures: &Figures<'_>) -> Option<Statement> {
    let (low, middle, high) =
        (thresholds(figures, 10, 100)?, thresholds(figures, 25, 40)?, thresholds(figures, 50, 20)?);
    Some(Statement {
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

fn quota(figures: &Figures<'_>, percent: f64) -> Option<[f64; 4]> {
    let p = *figures.processes(Figure::Readers, 0).last()?;
    let of = |readers: u64| {
        let series = format!("T_R = {readers}");
        figures.throughput(Figure::Readers, Subject::Sob, &series, p, percent).map(|rate| rate / 1e6)
    };
    Some([of(0)?, of(16)?, of(64)?, of(256)?])
}

fn readers_rare_writers(figures: &Figures<'_>) -> Option<Statement> {
    let rates = quota(figures, 0.2)?;
    Some(Statement {
        section: "5.2.3",
        paper: "F_W = 0.2 %: increasing T_R improves throughput significantly",
        simulated: format!("T_R = 0, 16, 64, 256: {rates:.1?} million/s"),
        verdict: Verdict::of(rates[3] > rates[0] * 1.1),
    })
}

fn readers_many_writers(figures: &Figures<'_>) -> Option<Statement> {
    let (two, five) = (quota(figures, 2.0)?, quota(figures, 5.0)?);
    let spread = |rates: [f64; 4]| {
        let (least, most) =
            rates.iter().fold((f64::MAX, 0.0), |(a, b): (f64, f64), r| (a.min(*r), b.max(*r)));
        (most / least - 1.0) * 100.0
    };
    Some(Statement {
        section: "5.2.3",
        paper: "F_W = 2 %, 5 %: no T_R has a consistent significant advantage (below 1 % for most P)",
        simulated: format!("differences of {:.0} % and {:.0} %", spread(two), spread(five)),
        verdict: Verdict::of(spread(two) < 10.0 && spread(five) < 10.0),
    })
}

fn six_times(figures: &Figures<'_>) -> Option<Statement> {
    let mut least: Option<(f64, usize, f64)> = None;
    let mut most: f64 = 0.0;
    for percent in [0.2, 2.0, 5.0] {
        for p in figures.processes(Figure::ReaderWriter, 64) {
            for subject in [Subject::Ecsb, Subject::Sob] {
                let of = |series| figures.throughput(Figure::ReaderWriter, subject, series, p, percent);
                let factor = of("RMA-RW")? / of("foMPI-RW")?;
                most = most.max(factor);
                if least.is_none_or(|(before, ..)| factor < before) {
                    least = Some((factor, p, percent));
                }
            }
        }
    }
    let (factor, p, percent) = least?;
    Some(Statement {
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

fn shares(figures: &Figures<'_>, percent: f64, wanted: f64) -> Option<Statement> {
    let factors = figures.processes(Figure::ReaderWriter, 0).into_iter().filter_map(|p| {
        let of = |percent| figures.throughput(Figure::ReaderWriter, Subject::Ecsb, "RMA-RW", p, percent);
        Some((of(0.2)? / of(percent)?, p))
    });
    let (factor, p) = factors.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Statement {
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

fn many_writers(figures: &Figures<'_>) -> Option<Statement> {
    let p = *figures.processes(Figure::ReaderWriter, 0).last()?;
    let of = |percent| figures.throughput(Figure::ReaderWriter, Subject::Ecsb, "RMA-RW", p, percent);
    let (some, all) = (of(30.0)?, of(100.0)?);
    Some(Statement {
        section: "5.2.4",
        paper: "RMA-RW: above F_W = 30 % throughput remains approximately the same",
        simulated: format!("P = {p}: {:.2} million/s at 30 %, {:.2} at 100 %", some / 1e6, all / 1e6),
        verdict: Verdict::of(is_about(some / all, 1.0)),
    })
}

fn adaptive(figures: &Figures<'_>) -> Option<Statement> {
    let p = *figures.processes(Figure::Adaptive, 0).first()?;
    let ratio = |percent| {
        let of = |series: &str| figures.throughput(Figure::Adaptive, Subject::Ecsb, series, p, percent);
        let fixed = [16, 32, 64, 128, 256].map(|distance| of(&format!("T_DC = {distance}")).unwrap_or(0.0));
        Some(of("adaptive")? / fixed.into_iter().fold(0.0, f64::max))
    };
    let ratios = [ratio(0.2)?, ratio(2.0)?, ratio(5.0)?, ratio(25.0)?];
    Some(Statement {
        section: "ours",
        paper: "RMA-RW that changes its number of counters reaches 0.95 of the best fixed T_DC",
        simulated: format!("P = {p}, F_W = 0.2, 2, 5, 25 %: {ratios:.2?}"),
        verdict: Verdict::of(ratios.iter().all(|ratio| *ratio >= 0.95)),
    })
}

fn hash_table(figures: &Figures<'_>) -> Vec<Statement> {
    let Some(p) = figures.processes(Figure::HashTable, 0).last().copied() else { return Vec::new() };
    let time = |series, percent| {
        figures.row(Figure::HashTable, Subject::Dht, series, p, percent).and_then(|row| row.time_us)
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
        Statement {
            section: "5.3",
            paper: "DHT, F_W = 2, 5, 20 %: RMA-RW is faster than foMPI-RW",
            simulated: shown(),
            verdict: Verdict::of(beaten("foMPI-RW")),
        },
        Statement {
            section: "5.3",
            paper: "DHT, F_W = 2, 5, 20 %: RMA-RW is faster than foMPI-A, which has no lock",
            simulated: "see above".to_owned(),
            verdict: Verdict::of(beaten("foMPI-A")),
        },
    ];
    if let (Some(theirs), Some(ours)) = (time("foMPI-RW", 0.0), time("RMA-RW", 0.0)) {
        statements.push(Statement {
            section: "5.3",
            paper: "DHT, F_W = 0: foMPI-RW and RMA-RW are comparable",
            simulated: format!("P = {p}: {:.1} times as fast", theirs / ours),
            verdict: Verdict::of(is_about(theirs / ours, 1.0)),
        });
    }
    statements
}
