//! The messages around a call, all by the general path.

use super::seen::{shown, shown_outcome};
use super::stage::{Comm, GARBAGE, Stage};
use heddle_comm::buffer::Buffer;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;
use heddle_spec::handle::CommHandle;

/// The tag of the last message of a case.
const LAST_TAG: i32 = 99;
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
        let comm = comm_of(stage.comm(named));
        let plane = Plane::PointToPoint;
        heddle_p2p::send(&comm, plane, buffer(&mut [1]), peer, LAST_TAG, Mode::Standard).expect("a send");
        loop {
            match take(&comm, peer) {
                Some((LAST_TAG, _)) => break,
                taken => seen.extend(taken.map(|(_, shown)| shown)),
            }
        }
        seen.extend(std::iter::from_fn(|| take(&comm, me)).map(|(_, shown)| shown));
    }
    let alone = comm_of(stage.comm(Comm::Alone));
    seen.extend(std::iter::from_fn(|| take(&alone, 0)).map(|(_, shown)| shown));
    seen
}
