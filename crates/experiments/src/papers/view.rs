//! A picture of an experiment: which figures of which benchmark, along which axis.

use crate::bench::record::{Figure, Key, Row};

/// The figures of a benchmark that a picture shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// The paper's figure, and what is shown.
    pub(super) title: &'static str,
    /// The benchmark.
    pub(super) bench: &'static str,
    /// The form of the benchmark.
    pub(super) op: &'static str,
    /// The quantity.
    pub(super) shows: Quantity,
    /// The axis.
    pub(super) along: Along,
}

/// The quantity that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quantity {
    /// The benchmark's figure.
    Value,
    /// Half the time of a request and its answer, in microseconds, from the rate of all threads together.
    OneWayUs,
    /// A further figure times a factor.
    Further(&'static str, f64),
    /// One further figure over another.
    Share(&'static str, &'static str),
    /// The benchmark's figure over that of the system with this label.
    Over(&'static str),
}

/// The quantity along the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    /// Threads, or processes in place of threads.
    Threads,
    /// Processes.
    Processes,
    /// Bytes per message, with the most threads that have a core each.
    Sizes,
}

impl View {
    /// The same view along the sizes of messages.
    pub(super) const fn of_sizes(self, title: &'static str) -> Self {
        Self { title, along: Along::Sizes, ..self }
    }

    /// The same view of another quantity.
    pub(super) const fn showing(self, title: &'static str, shows: Quantity) -> Self {
        Self { title, shows, ..self }
    }

    /// Returns true if a row belongs to the view.
    pub(super) fn takes(&self, row: &Row) -> bool {
        row.key.bench == self.bench && row.key.op == self.op
    }

    /// The place of a row on the axis.
    pub(super) fn place(&self, key: &Key) -> u64 {
        match self.along {
            Along::Threads => u64::from(senders(key)),
            Along::Processes => u64::from(key.ranks),
            Along::Sizes => key.size,
        }
    }

    /// The name of a place.
    pub(super) fn place_name(&self, place: u64) -> String {
        match (self.along, place) {
            (Along::Sizes, bytes) if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => {
                format!("{}K", bytes >> 10)
            }
            _ => place.to_string(),
        }
    }

    /// The title of the axis.
    pub(super) fn axis(&self) -> &'static str {
        match self.along {
            Along::Threads => "threads, or processes",
            Along::Processes => "processes",
            Along::Sizes => "bytes",
        }
    }

    /// The quantity: its median, and the interval in which the median lies.
    pub(super) fn of(&self, key: &Key, figure: &Figure) -> Option<(f64, Option<(f64, f64)>)> {
        let further = |name: &str| figure.more.get(name).copied();
        match self.shows {
            // The reference of `Over` is another participant's figure: `Measured::point` divides.
            Quantity::Value | Quantity::Over(_) => Some((figure.median, figure.interval)),
            Quantity::OneWayUs => {
                let time = |rate: f64| f64::from(key.threads) / rate / 2.0 * 1e6;
                let interval = figure.interval.map(|(low, high)| (time(high), time(low)));
                Some((time(figure.median), interval))
            }
            Quantity::Further(name, factor) => Some((further(name)? * factor, None)),
            Quantity::Share(part, whole) => {
                let whole = further(whole)?;
                (whole > 0.0).then_some((further(part)? / whole, None))
            }
        }
    }
}

/// Threads, or where there is one in each process, pairs or processes.
fn senders(key: &Key) -> u32 {
    match (key.level.as_str(), key.bench.as_str()) {
        ("single", "procnull") => key.ranks,
        ("single", _) => key.ranks / 2,
        _ => key.threads,
    }
}
