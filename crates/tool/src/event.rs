//! Event types, and the one source of all events.
//!
//! An event is what a thread tells when it passes a [`Tracepoint`]; an event type says how C sees the
//! numbers.

use super::value::Type;
use heddle_model::Tracepoint;
use heddle_platform::clock;
use heddle_spec::constants as mpi;

/// An event type.
#[derive(Debug)]
pub struct EventType {
    /// Its name.
    pub name: &'static str,
    /// What happens, and the meanings of the elements.
    pub meaning: &'static str,
    /// The category to which it belongs.
    pub category: &'static str,
    /// `MPI_T_VERBOSITY_…`
    pub verbosity: i32,
    /// The names and types of its elements. They lie in memory one after the other, without gaps.
    pub elements: &'static [(&'static str, Type)],
    pub(crate) tracepoint: Tracepoint,
}

const CONTEXT: (&str, Type) = ("context", Type::Count);
const BYTES: (&str, Type) = ("bytes", Type::Count);
const PLANE: (&str, Type) = ("plane", Type::Integer);
const SOURCE: (&str, Type) = ("source", Type::Integer);
const TAG: (&str, Type) = ("tag", Type::Integer);

/// All event types, in the order of their indices, which is that of [`Tracepoint::ALL`].
pub static EVENTS: [EventType; Tracepoint::ALL.len()] = [
    EventType {
        name: "heddle_message_matched",
        meaning: "a message and its receive, or a matched probe, have found each other: the context of the \
                  communicator, the bytes of the message, what it is for (0: point-to-point, 1: collectives, 2 and 3: \
                  creation of communicators, 4: partitioned operations), the sender's rank, the tag, and 1 if it came \
                  before the receive",
        category: "heddle_messages",
        verbosity: mpi::MPI_T_VERBOSITY_USER_DETAIL,
        elements: &[CONTEXT, BYTES, PLANE, SOURCE, TAG, ("unexpected", Type::Integer)],
        tracepoint: Tracepoint::Matched,
    },
    EventType {
        name: "heddle_message_unexpected",
        meaning: "a message has come before its receive: the context of the communicator, the bytes of the message, \
                  what it is for (as of heddle_message_matched), the sender's rank, and the tag",
        category: "heddle_messages",
        verbosity: mpi::MPI_T_VERBOSITY_USER_DETAIL,
        elements: &[CONTEXT, BYTES, PLANE, SOURCE, TAG],
        tracepoint: Tracepoint::Unexpected,
    },
    EventType {
        name: "heddle_collection",
        meaning: "a garbage collection of objects that the program has freed is over: how many it destroyed, and the \
                  nanoseconds that it took",
        category: "heddle_requests",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        elements: &[("destroyed", Type::Count), ("nanoseconds", Type::Count)],
        tracepoint: Tracepoint::Collection,
    },
    EventType {
        name: "heddle_thread_parks",
        meaning: "a thread of the program that waits is about to sleep: the communication path on which it waits",
        category: "heddle_threads",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        elements: &[("vni", Type::Integer)],
        tracepoint: Tracepoint::Park,
    },
    EventType {
        name: "heddle_thread_wakes",
        meaning: "a thread of the program that waits has slept: the nanoseconds, and the communication path on which \
                  it waits",
        category: "heddle_threads",
        verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
        elements: &[("nanoseconds", Type::Count), ("vni", Type::Integer)],
        tracepoint: Tracepoint::Wake,
    },
];

impl EventType {
    /// The event type of a tracepoint.
    pub(crate) fn of(tracepoint: Tracepoint) -> &'static EventType {
        &EVENTS[tracepoint as usize]
    }

    /// Where its elements lie, in bytes from the first one, and at last where they end.
    pub fn displacements(&self) -> impl Iterator<Item = usize> {
        let ends = self.elements.iter().scan(0, |end, (_, kind)| {
            *end += kind.bytes();
            Some(*end)
        });
        std::iter::once(0).chain(ends)
    }

    /// The names of the elements, in their order.
    pub fn element_names(&self) -> String {
        self.elements.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    }
}

/// The name of the source.
pub const SOURCE_NAME: &str = "heddle_process";
/// What the source is.
pub const SOURCE_MEANING: &str = "all threads of this process; timestamps are nanoseconds of CLOCK_MONOTONIC";
/// The ticks of the source's clock in a second.
pub const TICKS_PER_SECOND: i64 = 1_000_000_000;

/// The time of the source's clock.
pub fn timestamp() -> i64 {
    clock::now_ns() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tracepoint_has_its_event_type_and_each_element_is_aligned() {
        for tracepoint in Tracepoint::ALL {
            let event = EventType::of(tracepoint);
            assert_eq!(event.tracepoint, tracepoint);
            for ((name, kind), at) in event.elements.iter().zip(event.displacements()) {
                assert_eq!(at % kind.bytes(), 0, "{}: {name}", event.name);
            }
        }
    }
}
