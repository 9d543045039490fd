//! The rows in which another library is faster for certain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::columns::{Column, KEY, head, key_cells};
use super::figures::smaller_is_better;
use super::library::{HEDDLE, Library};
use super::record::{Key, Measurement};
use crate::harness::rounds::{OverRounds, median};
use crate::report::target::shown;

/// With fewer rounds nothing is certain.
const LEAST_ROUNDS: usize = 3;

/// A row in which Heddle is behind another library.
#[derive(Debug)]
pub(super) struct Behind<'a> {
    pub(super) key: &'a Key,
    pub(super) peer: &'a str,
    /// Heddle's speed as a part of the peer's: the median over the rounds.
    pub(super) speed: f64,
    /// The interval of these ratios: that of their median with a confidence of 95 %, of fewer than six rounds
    /// the smallest and the largest.
    interval: (f64, f64),
    probe_ns: Option<f64>,
}

/// One round of a row: the measurements by library.
type Round<'a> = BTreeMap<&'a str, &'a Measurement>;

/// How many rows were compared with a peer, and those in which Heddle is behind one, the slowest first; of
/// several peers the one that is furthest ahead. A row is behind if the whole interval of the rounds' ratios
/// is under 1.
pub(super) fn behind(measurements: &[Measurement]) -> (usize, Vec<Behind<'_>>) {
    behind_those(measurements, |name| !Library::is_heddle(name))
}

/// The same with those participants as peers for which `is_peer` is true.
pub(super) fn behind_those(
    measurements: &[Measurement],
    is_peer: impl Fn(&str) -> bool,
) -> (usize, Vec<Behind<'_>>) {
    let mut rows: BTreeMap<&Key, BTreeMap<u32, Round<'_>>> = BTreeMap::new();
    for measurement in measurements.iter().filter(|m| m.line.wrong_bytes == 0) {
        let round = rows.entry(&measurement.line.key).or_default().entry(measurement.round).or_default();
        round.insert(&measurement.library, measurement);
    }
    let mut compared = 0;
    let mut behind = Vec::new();
    for (key, rounds) in rows {
        let mut peers: Vec<&str> = rounds.values().flat_map(|round| round.keys().copied()).collect();
        peers.sort_unstable();
        peers.dedup();
        let ratios: Vec<Behind<'_>> = peers
            .into_iter()
            .filter(|name| is_peer(name))
            .filter_map(|peer| compare(key, peer, &rounds))
            .collect();
        compared += usize::from(!ratios.is_empty());
        let slower = ratios.into_iter().filter(|row| row.interval.1 < 1.0);
        behind.extend(slower.min_by(|a, b| a.speed.total_cmp(&b.speed)));
    }
    behind.sort_by(|a, b| a.speed.total_cmp(&b.speed));
    (compared, behind)
}

/// Heddle beside a peer in the rounds that have both.
fn compare<'a>(key: &'a Key, peer: &'a str, rounds: &BTreeMap<u32, Round<'a>>) -> Option<Behind<'a>> {
    let ratios: Vec<(f64, (&Measurement, &Measurement))> = rounds
        .values()
        .filter_map(|round| {
            let (own, other) = (*round.get(HEDDLE)?, *round.get(peer)?);
            let ratio = own.line.value? / other.line.value?;
            Some((if smaller_is_better(&own.line.unit) { 1.0 / ratio } else { ratio }, (own, other)))
        })
        .collect();
    let load = |(own, other): (&Measurement, &Measurement)| {
        if own.load.disturbs() { own.load } else { other.load }
    };
    let over = OverRounds::of(&ratios, load).filter(|over| over.used.len() >= LEAST_ROUNDS)?;
    let probes =
        over.used.iter().flat_map(|(own, other)| own.line.probe_ns.iter().chain(&other.line.probe_ns));
    Some(Behind {
        key,
        peer,
        speed: over.median,
        interval: over.interval.unwrap_or((over.low, over.high)),
        probe_ns: median(probes.copied()),
    })
}

/// Writes the list of them.
pub(super) fn render(page: &mut String, measurements: &[Measurement]) {
    let (compared, behind) = behind(measurements);
    page.push_str("## Behind another library\n\n");
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(
        page,
        "{} of {compared} rows, in which the interval of the rounds' ratios lies wholly under 1; at least \
         {LEAST_ROUNDS} rounds. The speed is Heddle's as a part of the other's.\n",
        behind.len()
    );
    if behind.is_empty() {
        return;
    }
    let first = [&[Column::left("subject")][..], &KEY].concat();
    let last =
        [Column::left("other"), Column::right("speed"), Column::right("interval"), Column::right("probe ns")];
    head(page, &first, std::iter::empty(), &last);
    for Behind { key, peer, speed, interval: (low, high), probe_ns } in behind {
        let (cells, probe) = (key_cells(key), shown(probe_ns));
        let _ = writeln!(
            page,
            "| {} | {cells} | {peer} | {speed:.2} | {low:.2} to {high:.2} | {probe} |",
            key.bench
        );
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::{behind, render};
    use crate::bench::record::{Key, Line, Measurement};
    use crate::harness::load::Load;

    /// The measurements of a library, one per round.
    fn of(library: &str, size: u64, unit: &str, values: &[f64]) -> Vec<Measurement> {
        let measured = |(round, &value): (usize, &f64)| Measurement {
            library: library.to_owned(),
            round: round as u32 + 1,
            load: Load::default(),
            line: Line::of_program(Key::new("latency", "single", size), "1".to_owned(), value, unit, &[]),
        };
        values.iter().enumerate().map(measured).collect()
    }

    #[test]
    fn a_row_is_behind_if_every_round_says_so() {
        let slower =
            [of("heddle", 8, "us", &[2.0, 2.0, 4.0]), of("mpich", 8, "us", &[1.0, 1.5, 3.5])].concat();
        let unsure =
            [of("heddle", 9, "us", &[2.0, 2.0, 3.0]), of("mpich", 9, "us", &[1.0, 1.0, 3.1])].concat();
        let all = [slower, unsure].concat();
        let (compared, rows) = behind(&all);
        assert_eq!((compared, rows.len()), (2, 1));
        assert_eq!((rows[0].key.size, rows[0].peer, rows[0].speed), (8, "mpich", 0.75));
        assert_eq!(rows[0].interval, (0.5, 0.875));
    }

    #[test]
    fn of_several_peers_the_fastest_is_named_and_models_are_none() {
        let all = [
            of("heddle", 8, "msg/s", &[1.0; 3]),
            of("heddle:global-mutex", 8, "msg/s", &[9.0; 3]),
            of("mpich", 8, "msg/s", &[2.0; 3]),
            of("impi", 8, "msg/s", &[4.0; 3]),
            of("openmpi", 8, "msg/s", &[0.5; 3]),
        ]
        .concat();
        let rows = behind(&all).1;
        assert_eq!(rows.iter().map(|row| (row.peer, row.speed)).collect::<Vec<_>>(), [("impi", 0.25)]);
    }

    #[test]
    fn two_rounds_are_not_enough() {
        let all = [of("heddle", 8, "us", &[2.0; 2]), of("mpich", 8, "us", &[1.0; 2])].concat();
        let mut page = String::new();
        render(&mut page, &all);
        assert!(page.contains("0 of 0 rows"), "{page}");
    }
}
