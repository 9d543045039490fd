//! The report of `--hot`: the lines that moved most, by whom, and the functions in which threads were.

use super::symbols::Maps;
use crate::shared::SharedLab;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// A line that moved, in words.
#[derive(Clone, Debug)]
pub struct HotMemory {
    /// Where it is: a file and the place in it.
    pub place: String,
    /// Its part of the time that threads waited for lines.
    pub share: f64,
    /// How often it went from core to core.
    pub transfers: u64,
    /// Nanoseconds that each took.
    pub each: f64,
    /// Who moved it: function, source line, how often.
    pub by: Vec<(String, String, u32)>,
}

/// The report.
#[derive(Clone, Debug)]
pub struct HotReport {
    /// The lines, those that cost most first.
    pub lines: Vec<HotMemory>,
    /// For each process: functions, and their part of its threads' time.
    pub functions: Vec<(u32, Vec<(String, f64)>)>,
}

impl HotReport {
    /// Of the interval that was counted last, with `most` lines and functions. Processes have written
    /// theirs into `folder`.
    pub(super) fn of(lab: &mut SharedLab, folder: &Path, most: usize) -> Self {
        let processes: Vec<u32> = (0..lab.processes).collect();
        let maps: HashMap<u32, Maps> = processes
            .iter()
            .filter_map(|number| {
                let text = fs::read(folder.join(format!("maps.{number}"))).ok()?;
                Some((*number, Maps::read(&String::from_utf8_lossy(&text))))
            })
            .collect();
        let functions = processes
            .iter()
            .filter_map(|number| {
                let times = fs::read_to_string(folder.join(format!("times.{number}"))).ok()?;
                Some((*number, functions(&times, maps.get(number)?, most)))
            })
            .collect();
        Self { lines: lines(lab, &maps, most), functions }
    }
}

fn lines(lab: &mut SharedLab, maps: &HashMap<u32, Maps>, most: usize) -> Vec<HotMemory> {
    let all = lab.hottest(usize::MAX);
    let cost: u64 = all.iter().map(|line| line.cost).sum();
    let nothing = Maps::default();
    let named = |line: &crate::shared::HotLine| {
        let first = line.by.first().map_or(0, |mover| mover.process);
        let by = line.by.iter().map(|mover| {
            let known = maps.get(&mover.process).unwrap_or(&nothing).code(&[mover.at]);
            let (function, source) = known.get(&mover.at).cloned().unwrap_or_default();
            (function, source, mover.times)
        });
        HotMemory {
            place: format!("process {first}, {}", maps.get(&first).unwrap_or(&nothing).data(line.address)),
            share: line.cost as f64 / cost.max(1) as f64,
            transfers: line.transfers,
            each: line.cost as f64 / 1000.0 / line.transfers.max(1) as f64,
            by: by.collect(),
        }
    };
    all.iter().take(most).map(named).collect()
}

fn functions(times: &str, maps: &Maps, most: usize) -> Vec<(String, f64)> {
    let time_of = |line: &str| {
        let (at, time) = line.split_once(' ')?;
        Some((u64::from_str_radix(at, 16).ok()?, time.parse::<u64>().ok()?))
    };
    let blocks: Vec<(u64, u64)> = times.lines().filter_map(time_of).collect();
    let all: u64 = blocks.iter().map(|(_, time)| time).sum();
    let names = maps.code(&blocks.iter().map(|(at, _)| *at).collect::<Vec<_>>());
    let mut by_name: HashMap<&str, u64> = HashMap::new();
    for (at, time) in &blocks {
        *by_name.entry(names.get(at).map_or("?", |(function, _)| function)).or_default() += time;
    }
    let mut found: Vec<(&str, u64)> = by_name.into_iter().collect();
    found.sort_unstable_by_key(|(name, time)| (std::cmp::Reverse(*time), *name));
    found.truncate(most);
    found.into_iter().map(|(name, time)| (name.to_owned(), time as f64 / all.max(1) as f64)).collect()
}

impl fmt::Display for HotReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "lines of memory that threads waited for, by the time they waited:")?;
        for line in &self.lines {
            let HotMemory { place, share, transfers, each, by } = line;
            writeln!(out, "{:5.1} %  {transfers} transfers, {each:.0} ns each: {place}", 100.0 * share)?;
            for (function, source, times) in by {
                writeln!(out, "         {times:8} x {function}  {source}")?;
            }
        }
        for (process, functions) in &self.functions {
            writeln!(out, "process {process}, where its threads were:")?;
            for (name, share) in functions {
                writeln!(out, "{:5.1} %  {name}", 100.0 * share)?;
            }
        }
        Ok(())
    }
}
