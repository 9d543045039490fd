//! What a rank sees of a call, as text.

use super::stage::GARBAGE;
use crate::error::Error;
use heddle_model::counters::{CountedEvent, events_here};
use heddle_p2p::request::{Outcome, SEND_DONE};
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use heddle_spec::handle::RequestHandle;

/// A status that no call has stored.
pub(super) fn untouched() -> Status {
    Status { source: -77, tag: -77, error: -77, internal: [0x55; 5] }
}

/// What is left of a request handle, whose value differs from one to the next.
pub(super) fn kind_of(request: RequestHandle) -> &'static str {
    match request.0 {
        mpi::MPI_REQUEST_NULL => "null",
        SEND_DONE => "done",
        GARBAGE => "untouched",
        _ => "a request",
    }
}

/// The bytes up to the last one that is not 0, in hexadecimal.
pub(super) fn shown(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes[..end].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn shown_outcome(outcome: &Outcome) -> String {
    let Outcome { source, tag, bytes, cancelled, error } = outcome;
    format!("({source} {tag} {bytes} {cancelled} {:?}) ", error.as_ref().map(Error::code))
}

/// Where bytes are others than before, and which.
pub(super) fn changes(before: &[u8], now: &[u8]) -> String {
    let changed = before.iter().zip(now).enumerate().filter(|(_, (before, now))| before != now);
    changed.map(|(i, (_, now))| format!("{i}:{now:02x} ")).collect()
}

const EVENTS: [CountedEvent; 8] = [
    CountedEvent::RequestTaken,
    CountedEvent::RequestReleased,
    CountedEvent::Unexpected,
    CountedEvent::UnexpectedTaken,
    CountedEvent::Throttle,
    CountedEvent::ThrottledSend,
    CountedEvent::RemoteCopy,
    CountedEvent::ServedCopy,
];

/// Events that the paths have to count alike, in the calling thread.
#[derive(Debug, Clone)]
pub(super) struct Counted([u64; EVENTS.len()]);

impl Counted {
    pub(super) fn now() -> Self {
        Self(EVENTS.map(events_here))
    }

    /// The events since then. An express path may do without a request that the general one takes and gives
    /// back, and without keeping a message that it takes at once; what is left of both is the same.
    pub(super) fn since(&self) -> String {
        let now = Self::now();
        let [taken, released, unexpected, received, others @ ..] =
            std::array::from_fn::<i64, { EVENTS.len() }, _>(|i| now.0[i] as i64 - self.0[i] as i64);
        format!("requests {}, messages {}, others {others:?}", taken - released, unexpected - received)
    }

    /// How many messages came before their receives.
    pub(super) fn unexpected_since(&self) -> u64 {
        events_here(CountedEvent::Unexpected) - self.0[2]
    }
}
