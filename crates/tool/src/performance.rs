//! Performance variables: the counters, by classes.
//!
//! Counters and times count from the moment in which their handle is started, and can be stopped, reset and
//! written: each handle counts from its own zero, so that tools do not disturb each other. Levels and
//! percentages show the present value to all handles.

use super::value::{Type, Value};
use heddle_message::{domain, request};
use heddle_model::Path;
use heddle_model::counters::{self, CountedEvent, Entry, MOST_VNIS, PLACES, Section, SectionTotals, Totals};
use heddle_spec::constants as mpi;
use std::fmt;
use std::sync::OnceLock;

/// The class of a performance variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableClass {
    /// The number of events.
    Counter,
    /// A time in seconds.
    Timer,
    /// The present number of something.
    Level,
    /// A part of a whole, from 0 to 1.
    Percentage,
}

impl VariableClass {
    /// `MPI_T_PVAR_CLASS_…`
    pub fn number(self) -> i32 {
        match self {
            VariableClass::Counter => mpi::MPI_T_PVAR_CLASS_COUNTER,
            VariableClass::Timer => mpi::MPI_T_PVAR_CLASS_TIMER,
            VariableClass::Level => mpi::MPI_T_PVAR_CLASS_LEVEL,
            VariableClass::Percentage => mpi::MPI_T_PVAR_CLASS_PERCENTAGE,
        }
    }

    /// Returns true if each handle counts from its own zero.
    pub fn is_relative(self) -> bool {
        matches!(self, VariableClass::Counter | VariableClass::Timer)
    }
}

/// A performance variable.
pub struct Performance {
    /// Its name.
    pub name: String,
    /// Its meaning, in words.
    pub meaning: String,
    /// Its class.
    pub class: VariableClass,
    /// `MPI_T_VERBOSITY_…`
    pub verbosity: i32,
    /// The name of the category it belongs to.
    pub category: &'static str,
    /// The number of its elements: one, or one for each VNI or place of a thread.
    pub count: usize,
    read: Box<dyn Fn(&Totals) -> Value + Send + Sync>,
}

impl fmt::Debug for Performance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Performance").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Performance {
    /// The type of its elements.
    pub fn kind(&self) -> Type {
        match self.class {
            VariableClass::Counter | VariableClass::Level => Type::Count,
            VariableClass::Timer | VariableClass::Percentage => Type::Real,
        }
    }

    /// Its present value.
    pub(super) fn now(&self) -> Value {
        (self.read)(&counters::totals())
    }
}

/// All performance variables, in the order of their indices.
pub fn performances() -> &'static [Performance] {
    static PERFORMANCES: OnceLock<Vec<Performance>> = OnceLock::new();
    PERFORMANCES.get_or_init(|| {
        let mut all = events();
        all.extend(sections(&EVERYTHING));
        all.extend(SECTIONS.iter().flat_map(sections));
        all
    })
}

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
}

const EVERYTHING: Shown = Shown {
    prefix: "heddle_",
    category: "heddle_sections",
    what: "all critical sections together",
    verbosity: mpi::MPI_T_VERBOSITY_USER_BASIC,
    rows: |totals| vec![totals.all_sections()],
    count: 1,
};

const fn single(
    prefix: &'static str,
    category: &'static str,
    what: &'static str,
    rows: fn(&Totals) -> Vec<SectionTotals>,
) -> Shown {
    Shown { prefix, category, what, verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL, rows, count: 1 }
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
    },
    Shown {
        prefix: "heddle_thread_",
        category: "heddle_sections_by_thread",
        what: "all critical sections together, one element for each thread at its heddle_thread_place",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        rows: |_| counters::by_place().into_vec(),
        count: PLACES,
    },
];

fn sections(shown: &'static Shown) -> impl Iterator<Item = Performance> {
    FIGURES.iter().map(move |figure| Performance {
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

/// The counters that belong to no critical section.
fn events() -> Vec<Performance> {
    let variable = |name: &str,
                    meaning: &str,
                    category: &'static str,
                    class: VariableClass,
                    read: fn(&Totals) -> u64| {
        Performance {
            name: format!("heddle_{name}"),
            meaning: meaning.to_owned(),
            class,
            verbosity: mpi::MPI_T_VERBOSITY_USER_BASIC,
            category,
            count: 1,
            read: Box::new(move |totals| Value::Counts(vec![read(totals)])),
        }
    };
    let (requests, messages, threads) = ("heddle_requests", "heddle_messages", "heddle_threads");
    vec![
        variable(
            "requests_allocated",
            "requests taken from the pool",
            requests,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::RequestTaken),
        ),
        variable(
            "requests_freed",
            "requests given back to the pool",
            requests,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::RequestReleased),
        ),
        variable(
            "live_requests",
            "requests that exist",
            requests,
            VariableClass::Level,
            Totals::live_requests,
        ),
        variable(
            "completed_requests",
            "requests that are complete, and that the program has not tested, waited for or freed since; read from all requests, when it is asked for",
            requests,
            VariableClass::Level,
            |_| request::complete_and_not_freed(),
        ),
        variable(
            "collections",
            "garbage collections of objects that the program has freed",
            requests,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::Collection),
        ),
        variable(
            "collection_marks",
            "freed objects that a collection found in use by a request or a call, and kept",
            requests,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::CollectionMark),
        ),
        variable(
            "collection_sweeps",
            "freed objects that a collection found in no use, and destroyed",
            requests,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::CollectionSweep),
        ),
        variable(
            "unexpected_messages",
            "messages that have arrived before their receives",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::Unexpected),
        ),
        variable(
            "unexpected_queue_length",
            "messages that wait for their receives",
            messages,
            VariableClass::Level,
            Totals::waiting_messages,
        ),
        variable(
            "throttles",
            "how often unexpected messages of a VNI came to take more than HEDDLE_UNEXPECTED_BYTES, so that it throttled its senders",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::Throttle),
        ),
        variable(
            "throttled_sends",
            "small messages sent by rendezvous since their receiver throttled its senders",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::ThrottledSend),
        ),
        variable(
            "remote_reads",
            "messages whose data was read from the memory of a sender on another machine",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::RemoteRead),
        ),
        variable(
            "remote_copies",
            "contiguous pieces of puts and gets that were written to memory on another machine, or read from there",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::RemoteCopy),
        ),
        variable(
            "leader_collectives",
            "collective operations in which the ranks of a machine acted among themselves, and a leader of each machine with the others",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::LeaderCollective),
        ),
        variable(
            "served_copies",
            "copies from or to the memory of another process of this machine that the kernel refused, and that process made",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::ServedCopy),
        ),
        variable(
            "matching_steps",
            "elements compared to find the receive for a message, or the message for a receive",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::MatchingStep),
        ),
        variable(
            "threads",
            "threads that have counted something and have not ended",
            threads,
            VariableClass::Level,
            |_| counters::threads().1,
        ),
        variable(
            "threads_seen",
            "threads that have counted something",
            threads,
            VariableClass::Counter,
            |_| counters::threads().0,
        ),
        variable(
            "thread_place",
            "the element of the calling thread in the variables heddle_thread_*; threads that follow each other in a place are counted together, as are all from element 63 on",
            threads,
            VariableClass::Level,
            |_| counters::place_here() as u64,
        ),
        variable("vnis", "communication paths of this process", threads, VariableClass::Level, |_| {
            domain::ever().map_or(0, |domain| domain.vnis().len() as u64)
        }),
    ]
}
