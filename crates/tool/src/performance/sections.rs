//! The counters of critical sections: the same figures for each, and for all together.

use super::variable::{Performance, VariableClass};
use crate::value::Value;
use heddle_model::Path;
use heddle_model::counters::{self, Entry, MOST_VNIS, PLACES, Section, SectionTotals, Totals};
use heddle_spec::constants as mpi;

/// A figure of a critical section, or of several together.
struct Figure {
    name: &'static str,
    meaning: &'static str,
    class: VariableClass,
    count: fn(&SectionTotals) -> u64,
    real: fn(&SectionTotals) -> f64,
}

const fn counter(name: &'static str, meaning: &'static str, count: fn(&SectionTotals) -> u64) -> Figure {
    Figure { name, meaning, class: VariableClass::Counter, count, real: |_| 0.0 }
}

const fn level(name: &'static str, meaning: &'static str, count: fn(&SectionTotals) -> u64) -> Figure {
    Figure { class: VariableClass::Level, ..counter(name, meaning, count) }
}

const fn real(
    class: VariableClass,
    name: &'static str,
    meaning: &'static str,
    real: fn(&SectionTotals) -> f64,
) -> Figure {
    Figure { name, meaning, class, count: |_| 0, real }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

const FIGURES: &[Figure] = &[
    counter("acquisitions", "how often it was entered", SectionTotals::acquisitions),
    counter("acquisitions_main", "how often it was entered to issue an operation", |it| {
        it.count(Entry::Main)
    }),
    counter("acquisitions_progress", "how often it was entered to wait for an operation", |it| {
        it.count(Entry::Progress)
    }),
    counter(
        "productive_main",
        "how often it was entered to issue an operation, and a request was created, completed or freed",
        SectionTotals::productive_main,
    ),
    counter(
        "productive_progress",
        "how often it was entered to wait for an operation, and one was completed",
        |it| it.count(Entry::Productive),
    ),
    counter(
        "contended_acquisitions",
        "how often it was entered after it had been found taken",
        SectionTotals::contended,
    ),
    counter(
        "contended_acquisitions_main",
        "how often it was entered to issue an operation, after it had been found taken",
        |it| it.count(Entry::ContendedMain),
    ),
    counter(
        "contended_acquisitions_progress",
        "how often it was entered to wait for an operation, after it had been found taken",
        |it| it.count(Entry::ContendedProgress),
    ),
    counter("refused_tries", "how often it was found taken by a thread that then went away", |it| {
        it.count(Entry::Refused)
    }),
    counter("handovers", "how often it was entered by another thread than before", SectionTotals::handovers),
    counter(
        "handovers_core",
        "how often it was entered by another thread than before, which had run on the same core",
        |it| it.count(Entry::HandoverCore),
    ),
    counter(
        "handovers_package",
        "how often it was entered by another thread than before, which had run on another core of the same package",
        |it| it.count(Entry::HandoverPackage),
    ),
    counter(
        "handovers_machine",
        "how often it was entered by another thread than before, which had run on another package",
        |it| it.count(Entry::HandoverMachine),
    ),
    counter(
        "biases_given",
        "how often a thread, or its core, became the owner of its lock's bias, and entered by plain loads and stores from then on",
        |it| it.count(Entry::BiasGiven),
    ),
    counter("biases_revoked", "how often another thread took the bias of its lock from the owner", |it| {
        it.count(Entry::BiasRevoked)
    }),
    level("biases", "how many of its locks are biased now", SectionTotals::biases),
    counter(
        "polls_left_out",
        "how often a thread left out a poll, since others waited to issue an operation",
        |it| it.count(Entry::LeftOut),
    ),
    counter("operations_for_others", "operations that a thread has run for another one", |it| {
        it.count(Entry::ForOthers)
    }),
    real(
        VariableClass::Timer,
        "time_waited",
        "how long threads that found it taken have waited, in seconds",
        |it| it.waited_ns() as f64 / 1e9,
    ),
    real(
        VariableClass::Timer,
        "time_waited_main",
        "how long threads that found it taken have waited to issue an operation, in seconds",
        |it| it.waited_ns_on(Path::Main) as f64 / 1e9,
    ),
    real(
        VariableClass::Timer,
        "time_waited_progress",
        "how long threads that found it taken have waited to make progress, in seconds",
        |it| it.waited_ns_on(Path::Progress) as f64 / 1e9,
    ),
    real(
        VariableClass::Percentage,
        "efficiency_main",
        "productive entries among those that issue operations",
        |it| share(it.productive_main(), it.count(Entry::Main)),
    ),
    real(
        VariableClass::Percentage,
        "efficiency_progress",
        "productive entries among those that wait for operations",
        |it| share(it.count(Entry::Productive), it.count(Entry::Progress)),
    ),
];

/// Critical sections that are shown together.
struct Shown {
    prefix: &'static str,
    category: &'static str,
    what: &'static str,
    verbosity: i32,
    /// One row, or one for each VNI or place of a thread.
    rows: fn(&Totals) -> Vec<SectionTotals>,
    count: usize,
    /// True if the rows are those of threads. They have no levels, since other threads end what one began.
    by_thread: bool,
}

const EVERYTHING: Shown = Shown {
    prefix: "heddle_",
    category: "heddle_sections",
    what: "all critical sections together",
    verbosity: mpi::MPI_T_VERBOSITY_USER_BASIC,
    rows: |totals| vec![totals.all_sections()],
    count: 1,
    by_thread: false,
};

const fn single(
    prefix: &'static str,
    category: &'static str,
    what: &'static str,
    rows: fn(&Totals) -> Vec<SectionTotals>,
) -> Shown {
    let verbosity = mpi::MPI_T_VERBOSITY_TUNER_DETAIL;
    Shown { prefix, category, what, verbosity, rows, count: 1, by_thread: false }
}

const SECTIONS: &[Shown] = &[
    single(
        "heddle_call_",
        "heddle_section_call",
        "the critical section of every call, under global",
        |totals| vec![totals.section(Section::Call)],
    ),
    single(
        "heddle_process_",
        "heddle_section_process",
        "the critical section of all shared state, under brief-global",
        |totals| vec![totals.section(Section::Process)],
    ),
    single("heddle_request_pool_", "heddle_section_request_pool", "the store of requests", |totals| {
        vec![totals.section(Section::RequestPool)]
    }),
    single(
        "heddle_reference_counts_",
        "heddle_section_reference_counts",
        "the reference counts of objects",
        |totals| vec![totals.section(Section::ReferenceCounts)],
    ),
    single(
        "heddle_arrivals_",
        "heddle_section_arrivals",
        "the rings that are read, under per-object and lock-free",
        |totals| vec![totals.section(Section::Arrivals)],
    ),
    single(
        "heddle_matching_",
        "heddle_section_matching",
        "the matching of all contexts, under per-object and lock-free",
        |totals| vec![totals.section(Section::Matching)],
    ),
    single(
        "heddle_rendezvous_",
        "heddle_section_rendezvous",
        "rendezvous state, under per-object and lock-free",
        |totals| vec![totals.section(Section::Rendezvous)],
    ),
    single(
        "heddle_channel_",
        "heddle_section_channel",
        "the channels to all peers, under per-channel, per-object and lock-free",
        |totals| vec![totals.section(Section::Channel)],
    ),
    Shown {
        prefix: "heddle_vni_",
        category: "heddle_section_vni",
        what: "the critical section of each VNI, one element each",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        rows: |totals| (0..MOST_VNIS).map(|number| totals.section(Section::Vni(number))).collect(),
        count: MOST_VNIS,
        by_thread: false,
    },
    Shown {
        prefix: "heddle_thread_",
        category: "heddle_sections_by_thread",
        what: "all critical sections together, one element for each thread at its heddle_thread_place",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        rows: |_| counters::by_place().into_vec(),
        count: PLACES,
        by_thread: true,
    },
];

/// The variables of all critical sections, those of all together first.
pub(super) fn variables() -> impl Iterator<Item = Performance> {
    of(&EVERYTHING).chain(SECTIONS.iter().flat_map(of))
}

fn of(shown: &'static Shown) -> impl Iterator<Item = Performance> {
    let figures = FIGURES.iter().filter(|figure| !shown.by_thread || figure.class != VariableClass::Level);
    figures.map(move |figure| Performance {
        name: format!("{}{}", shown.prefix, figure.name),
        meaning: format!("{}: {}", shown.what, figure.meaning),
        class: figure.class,
        verbosity: shown.verbosity,
        category: shown.category,
        count: shown.count,
        read: Box::new(move |totals| {
            let rows = (shown.rows)(totals);
            match figure.class {
                VariableClass::Counter | VariableClass::Level => {
                    Value::Counts(rows.iter().map(figure.count).collect())
                }
                VariableClass::Timer | VariableClass::Percentage => {
                    Value::Reals(rows.iter().map(figure.real).collect())
                }
            }
        }),
    })
}
