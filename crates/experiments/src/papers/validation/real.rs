//! The figures of a real machine, from `real.toml`, and how the lab makes them: as an experiment of the
//! papers does on real machines, with shorter intervals.

use serde::Deserialize;

use crate::bench::case::{Case, Effort};
use crate::papers::contention::systems;
use crate::papers::granularity;
use crate::papers::view::View;

/// The figures of a real machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealMachine {
    /// Where the figures stand, and their date.
    pub(super) source: String,
    /// The machine of the lab that is this one.
    pub(super) machine: String,
    /// Threads of each process that has several.
    pub(super) threads: u32,
    /// The figures by quantity.
    #[serde(rename = "table")]
    pub(super) tables: Vec<RealFigures>,
}

/// The figures of one quantity.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealFigures {
    /// The quantity that was measured.
    pub(super) of: LabQuantity,
    /// The systems, each with its figure.
    pub(super) figures: Vec<(String, f64)>,
}

impl RealMachine {
    /// The figures that are kept with the sources.
    ///
    /// # Errors
    ///
    /// The fault of the file.
    pub(super) fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("real.toml"))
    }
}

/// The quantities that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LabQuantity {
    /// Microseconds one way, between client threads and a server.
    LatencyUs,
    /// Messages of 64 bytes between the threads of two processes, in millions.
    MillionMessagesPerSecond,
    /// Nonblocking sends of no byte to as many processes as there are threads, in millions.
    MillionSendsPerSecond,
}

impl LabQuantity {
    /// Its name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::LatencyUs => "`clients`, µs one way",
            Self::MillionMessagesPerSecond => "`rate` of 64 bytes, million/s",
            Self::MillionSendsPerSecond => "`senders` of 0 bytes, million/s",
        }
    }

    /// The launch of the papers' experiment.
    pub(super) fn case(self, threads: u32) -> Case {
        match self {
            Self::LatencyUs => systems::clients(threads, &systems::BYTES),
            Self::MillionMessagesPerSecond => systems::rate(threads, &systems::BYTES),
            Self::MillionSendsPerSecond => granularity::to_receivers_of(threads, "isend"),
        }
    }

    /// Its picture there, which knows the figure, and what a unit of the picture is here.
    pub(super) fn view(self) -> (View, f64) {
        match self {
            Self::LatencyUs => (systems::LATENCY, 1.0),
            Self::MillionMessagesPerSecond => (systems::RATE, 1e-6),
            Self::MillionSendsPerSecond => (granularity::NONBLOCKING_RATE, 1e-6),
        }
    }

    /// The lengths in the lab. Sends to several processes come fast, so they need less.
    pub(super) fn effort(self) -> Effort {
        let seconds = if self == Self::MillionSendsPerSecond { 0.0005 } else { 0.003 };
        Effort { rounds: 1, reps: 1, seconds, warm: 0.0003 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueEnum;
    use heddle_model::Model;

    use super::super::DEFAULT_SYSTEM;
    use super::RealMachine;
    use crate::bench::peers::Peer;
    use crate::harness::lab::Lab;

    #[test]
    fn each_figure_is_that_of_a_system_which_exists() {
        let real = RealMachine::read().expect("the file is right");
        assert!(Lab::new(&real.machine, None).is_ok());
        assert_eq!(real.tables.iter().map(|table| table.figures.len()).sum::<usize>(), 21);
        for table in &real.tables {
            let names: BTreeSet<&str> = table.figures.iter().map(|(system, _)| system.as_str()).collect();
            assert_eq!(names.len(), table.figures.len(), "{:?} names a system twice", table.of);
            for (system, figure) in &table.figures {
                let known = system == DEFAULT_SYSTEM
                    || Peer::from_str(system, false).is_ok()
                    || Model::named(system).is_ok();
                assert!(known && *figure > 0.0, "{system}: {figure}");
            }
        }
    }

    #[test]
    fn a_picture_shows_what_the_case_measures() {
        for table in RealMachine::read().expect("the file is right").tables {
            let (case, (view, _)) = (table.of.case(8), table.of.view());
            assert_eq!((view.bench, view.op), (case.subject.name(), case.op), "{:?}", table.of);
        }
    }
}
