//! The counters that belong to no critical section.

use super::variable::{Performance, VariableClass};
use crate::value::Value;
use heddle_message::{domain, request};
use heddle_model::counters::{self, CountedEvent, MOST_VNIS, Totals};
use heddle_spec::constants as mpi;

/// The counters that belong to no critical section.
pub(super) fn variables() -> Vec<Performance> {
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
            "single_copies",
            "copies of collective operations' data that the kernel has made from or to the memory of another process of this machine",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::SingleCopy),
        ),
        variable(
            "matching_steps",
            "elements compared to find the receive for a message, or the message for a receive",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::MatchingStep),
        ),
        variable(
            "self_messages_sharded",
            "communicators whose self messages were sharded by tag, since several threads sent them",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::SelfMessagesSharded),
        ),
        variable(
            "self_messages_pinned",
            "communicators whose self messages could be sharded and were pinned to one VNI, since a receive or a probe had a wildcard",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::SelfMessagesPinned),
        ),
        variable(
            "channels_spread",
            "channels to other processes whose messages were spread over VNIs by tag, since several threads sent them",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::ChannelSpread),
        ),
        variable(
            "vnis_gathered",
            "VNIs whose messages could be spread and stay there for good, since a receive or a probe had to find all of them",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::VniGathered),
        ),
        variable(
            "accumulate_locks_changed",
            "how often the accumulate lock of a target was closed, so that its holder changes elements by vector instructions, or opened, so that many threads change them by processor atomics",
            messages,
            VariableClass::Counter,
            |totals| totals.events(CountedEvent::AccumulateLockChanged),
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
        variable(
            "vnis_in_use",
            "communication paths that carry messages of a communicator; threads that make progress poll them",
            threads,
            VariableClass::Level,
            |_| vnis_in_use().iter().sum(),
        ),
        Performance {
            name: "heddle_vni_in_use".to_owned(),
            meaning: "1 for each communication path that carries messages of a communicator".to_owned(),
            class: VariableClass::Level,
            verbosity: mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
            category: threads,
            count: MOST_VNIS,
            read: Box::new(|_| Value::Counts(vnis_in_use())),
        },
        variable(
            "each_thread_has_core",
            "1 if no more threads count, of all processes that may run on the same cores, than there are cores; only then may polls be left out",
            threads,
            VariableClass::Level,
            |_| u64::from(counters::each_thread_has_core()),
        ),
        variable(
            "cores_for_threads",
            "how many cores the threads of this process have: those that the threads of other processes leave it, or its share if that is more; from two on messages may be spread",
            threads,
            VariableClass::Level,
            |_| u64::from(counters::cores_for_threads()),
        ),
    ]
}

/// For each VNI that a process may have 1 if it is in use, otherwise 0.
fn vnis_in_use() -> Vec<u64> {
    let mut in_use = vec![0; MOST_VNIS];
    if let Some(domain) = domain::ever() {
        domain.vnis_in_use().for_each(|vni| in_use[vni as usize] = 1);
    }
    in_use
}
