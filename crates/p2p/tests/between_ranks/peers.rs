//! What the tests of messages between two ranks have in common.

use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_p2p::Mode;
use heddle_p2p::request::{Outcome, SEND_DONE};
use heddle_ranks::Ranks;
use std::sync::Barrier;

pub(crate) const PLANE: Plane = Plane::PointToPoint;

/// Two ranks, and a barrier of theirs that is none of MPI's.
pub(crate) fn two(model: &str, play: impl Fn(&CommRef, usize, &Barrier) + Sync) {
    let both = Barrier::new(2);
    Ranks::new(2).under(model).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        play(&world, rank, &both);
    });
}

/// The names of all models.
pub(crate) fn models() -> impl Iterator<Item = &'static str> {
    heddle_model::named_models().map(|model| model.name)
}

/// Byte `i` of a message with a number.
pub(crate) fn byte(number: usize, i: usize) -> u8 {
    (number * 31 + i * 7 + i / 256) as u8
}

pub(crate) fn message(number: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| byte(number, i)).collect()
}

/// A buffer of bytes. They outlive the operation.
pub(crate) fn buffer(bytes: &mut [u8]) -> Buffer {
    // SAFETY: each test keeps them until the operation is over.
    unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) }
}

pub(crate) fn send(world: &CommRef, bytes: &mut [u8], tag: i32) {
    let to = 1 - world.rank() as i32;
    heddle_p2p::send(world, PLANE, buffer(bytes), to, tag, Mode::Standard).expect("a send");
}

pub(crate) fn isend(world: &CommRef, bytes: &mut [u8], tag: i32, mode: Mode) -> usize {
    let to = 1 - world.rank() as i32;
    heddle_p2p::isend(world, PLANE, buffer(bytes), to, tag, mode).expect("a send")
}

pub(crate) fn recv(world: &CommRef, room: &mut [u8], tag: i32) -> Outcome {
    heddle_p2p::recv(world, PLANE, buffer(room), 1 - world.rank() as i32, tag).expect("a receive")
}

pub(crate) fn irecv(world: &CommRef, room: &mut [u8], source: i32, tag: i32) -> usize {
    heddle_p2p::irecv(world, PLANE, buffer(room), source, tag).expect("a receive")
}

/// Waits for a request, which may be that of a send which was complete at once.
pub(crate) fn wait(mut request: usize) -> Outcome {
    if request == SEND_DONE {
        return Outcome::empty();
    }
    heddle_p2p::wait(&mut request).expect("a request")
}

/// The outcome of a receive that went well.
pub(crate) fn is_from(outcome: &Outcome, source: i32, tag: i32, bytes: usize) {
    assert!(outcome.error.is_none(), "{outcome:?}");
    assert_eq!((outcome.source, outcome.tag, outcome.bytes), (source, tag, bytes as u64));
}
