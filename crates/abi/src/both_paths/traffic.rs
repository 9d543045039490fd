//! The messages around a call, all by the general path.

use super::messages::TAGS;
use super::seen::{shown, shown_outcome};
use super::stage::{Comm, GARBAGE, ROOM, Stage, in_another_thread};
use heddle_comm::buffer::Buffer;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;
use heddle_spec::handle::CommHandle;

/// The tag of the last message of a case.
const LAST_TAG: i32 = 99;
/// The last message. No other has that length.
const LAST: [u8; 3] = [1; 3];
/// How often a request is tested until it counts as pending. Its message would be in the ring.
const TESTS: usize = 100;

pub(super) fn comm_of(handle: CommHandle) -> CommRef {
    CommRef::from_handle(handle.0).expect("a communicator")
}

/// A buffer of bytes that outlive the operation.
pub(super) fn buffer(bytes: &mut [u8]) -> Buffer {
    // SAFETY: each case keeps its bytes until the operations on them are over.
    unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) }
}

/// Begins a send to rank 0.
pub(super) fn isend(comm: &CommRef, bytes: &mut [u8], tag: i32) -> usize {
    heddle_p2p::isend(comm, Plane::PointToPoint, buffer(bytes), 0, tag, Mode::Standard).expect("a send")
}

/// What comes of a request, which is cancelled if it stays pending.
pub(super) fn end_of(mut request: usize) -> String {
    if matches!(request, GARBAGE | mpi::MPI_REQUEST_NULL) {
        return String::new();
    }
    for _ in 0..TESTS {
        if let Some(outcome) = heddle_p2p::test(&mut request).expect("a request") {
            return shown_outcome(&outcome);
        }
    }
    heddle_p2p::cancel(request).expect("a request");
    shown_outcome(&heddle_p2p::wait(&mut request).expect("a request"))
}

/// Takes a message, if there is one, and shows it.
fn take(comm: &CommRef, source: i32) -> Option<(i32, String)> {
    let (message, outcome) = heddle_p2p::improbe(comm, source, mpi::MPI_ANY_TAG).expect("a probe")?;
    let mut bytes = vec![0; outcome.bytes as usize];
    heddle_p2p::mrecv(message, buffer(&mut bytes)).expect("a message");
    Some((outcome.tag, format!("[{source} {} {} {}] ", outcome.tag, outcome.bytes, shown(&bytes))))
}

/// Takes all messages that are left, and shows them.
pub(super) fn drain(stage: &Stage<'_>) -> String {
    let (me, peer) = (stage.rank as i32, 1 - stage.rank as i32);
    let mut seen = String::new();
    for named in [Comm::World, Comm::Duplicate] {
        let handle = stage.comm(named);
        let comm = comm_of(handle);
        if stage.has_wildcards {
            heddle_p2p::wait(&mut send_last(&comm, peer, LAST_TAG)).expect("a request");
            loop {
                match take(&comm, peer) {
                    Some((LAST_TAG, _)) => break,
                    taken => seen.extend(taken.map(|(_, shown)| shown)),
                }
            }
            seen.extend(std::iter::from_fn(|| take(&comm, me)).map(|(_, shown)| shown));
        } else {
            seen += &take_by_tags(handle, [me, peer]);
        }
    }
    if stage.has_wildcards {
        let alone = comm_of(stage.comm(Comm::Alone));
        seen.extend(std::iter::from_fn(|| take(&alone, 0)).map(|(_, shown)| shown));
    } else {
        seen += &take_by_tags(stage.comm(Comm::Alone), [0, 0]);
    }
    seen
}

/// Begins to send a message behind all others.
fn send_last(comm: &CommRef, to: i32, tag: i32) -> usize {
    let (plane, last) = (Plane::PointToPoint, Box::leak(Box::new(LAST)));
    heddle_p2p::isend(comm, plane, buffer(last), to, tag, Mode::Standard).expect("a send")
}

/// Takes the messages of both ranks, tag by tag, without probes, which are wildcards to messages that are
/// spread. Another thread does that: otherwise the locks would stay biased to the caller, and the express
/// path would go no further than to a home.
fn take_by_tags(handle: CommHandle, ranks: [i32; 2]) -> String {
    in_another_thread(|| {
        let comm = comm_of(handle);
        let each = || ranks.into_iter().flat_map(|rank| TAGS.map(|tag| (rank, tag)));
        let sent: Vec<usize> = each().map(|(rank, tag)| send_last(&comm, rank, tag)).collect();
        let seen = each().map(|(rank, tag)| take_until_last(&comm, rank, tag)).collect();
        sent.into_iter().for_each(|mut sent| _ = heddle_p2p::wait(&mut sent).expect("a request"));
        seen
    })
}

fn take_until_last(comm: &CommRef, source: i32, tag: i32) -> String {
    let (mut seen, mut bytes) = (String::new(), vec![0; ROOM]);
    loop {
        let room = buffer(&mut bytes);
        let mut request = heddle_p2p::irecv(comm, Plane::PointToPoint, room, source, tag).expect("a receive");
        let outcome = heddle_p2p::wait(&mut request).expect("a request");
        let message = &bytes[..outcome.bytes as usize];
        if message == LAST {
            return seen;
        }
        seen += &format!("[{source} {tag} {} {}] ", message.len(), shown(message));
    }
}
