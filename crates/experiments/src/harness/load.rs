//! The load by other programs while a run was measured.

use std::fs;
use std::time::Instant;

use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

/// Processor time that did not belong to the run, as a share of all cores.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Used by other processes of this machine.
    pub(crate) others: f64,
    /// Taken by the host of a virtual machine.
    pub(crate) stolen: f64,
}

/// Above this share a measurement counts as disturbed.
pub(crate) const DISTURBED: f64 = 0.06;

impl Load {
    /// Returns true if other programs took enough to make the figure doubtful.
    pub(crate) fn disturbs(self) -> bool {
        self.others + self.stolen > DISTURBED
    }
}

/// Counters at the start of a run.
#[derive(Debug)]
pub(crate) struct LoadMeter {
    start: Instant,
    busy: f64,
    stolen: f64,
    own: f64,
}

impl LoadMeter {
    /// Starts to watch.
    pub(crate) fn start() -> Self {
        let (busy, stolen) = machine_seconds();
        Self { start: Instant::now(), busy, stolen, own: own_seconds() }
    }

    /// The load since the start. Everything that this process and its finished children
    /// used belongs to the run.
    pub(crate) fn finish(self) -> Load {
        let (busy, stolen) = machine_seconds();
        let available = self.start.elapsed().as_secs_f64() * cores() as f64;
        let others = (busy - self.busy) - (own_seconds() - self.own);
        Load {
            others: (others / available).clamp(0.0, 1.0),
            stolen: ((stolen - self.stolen) / available).clamp(0.0, 1.0),
        }
    }
}

/// Cores that this machine has on line.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn ticks_to_seconds(ticks: f64) -> f64 {
    // 100 is what every kernel of today says.
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks / per_second as f64
}

/// Seconds all cores were busy, and seconds stolen, since the machine started.
fn machine_seconds() -> (f64, f64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    parse_machine(text.lines().next().unwrap_or_default())
}

fn parse_machine(line: &str) -> (f64, f64) {
    let fields: Vec<f64> = line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    let at = |index: usize| fields.get(index).copied().unwrap_or(0.0);
    // user nice system idle iowait irq softirq steal
    let busy = at(0) + at(1) + at(2) + at(5) + at(6);
    (ticks_to_seconds(busy), ticks_to_seconds(at(7)))
}

/// Seconds this process and its finished descendants have run.
fn own_seconds() -> f64 {
    parse_own(&fs::read_to_string("/proc/self/stat").unwrap_or_default())
}

fn parse_own(stat: &str) -> f64 {
    // The name in parentheses may hold blanks; utime, stime, cutime and cstime are fields 14 to 17.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    ticks_to_seconds(
        after_name.split_whitespace().skip(11).take(4).filter_map(|f| f.parse::<f64>().ok()).sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::{parse_machine, parse_own, ticks_to_seconds};

    #[test]
    fn machine_line_counts_busy_and_stolen_time_only() {
        let (busy, stolen) = parse_machine("cpu  10 20 30 4000 500 6 7 8 0 0");
        assert_eq!(busy, ticks_to_seconds(73.0));
        assert_eq!(stolen, ticks_to_seconds(8.0));
    }

    #[test]
    fn own_time_includes_children_and_survives_odd_names() {
        let stat = "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0";
        assert_eq!(parse_own(stat), ticks_to_seconds(127.0));
    }
}
