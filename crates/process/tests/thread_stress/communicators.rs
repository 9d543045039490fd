//! Communicators: made by many threads at once, used, and freed while messages are in flight.

use crate::collectives::sum_of_ranks;
use crate::payload::Payload;
use crate::scene::{Thread, call, dup, free};
use heddle_comm::group::Group;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;
use std::sync::Arc;

const P2P: Plane = Plane::PointToPoint;

pub(crate) fn run(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let comm = |handle| call(|| CommRef::from_handle(handle));
    let (later, mut request) = call(|| heddle_comm_management::idup(thread.own_comm));

    // All threads use one parent, told apart by their tags; in odd rounds some processes stay out.
    let first = if round % 2 == 1 { scene.rank % 2 } else { 0 };
    let step = if round % 2 == 1 { 2 } else { 1 };
    let members = call(|| scene.shared.group.include_ranges(&[[first, scene.size - 1, step]]));
    let of_group = comm(call(|| {
        heddle_comm_management::create_group(&scene.shared, &Arc::new(members), thread.number as i32)
    }));
    let copy = dup(thread.own_comm);
    let colour = (scene.rank + round as i32) % 2;
    let split = comm(call(|| heddle_comm_management::split(&copy, colour, -scene.rank)));
    let salt = thread.seed(0, round, 0) as i32;
    sum_of_ranks(&of_group, salt);

    call(|| heddle_p2p::wait(&mut request));
    let later = comm(later);
    let mut pending = Vec::new();
    let (mut data, mut room) = (Payload::new(66_000, salt as u64), Payload::room(66_000));
    pending.push(call(|| heddle_p2p::irecv(&later, P2P, room.buffer(), scene.from, 1)));
    pending.push(call(|| heddle_p2p::isend(&later, P2P, data.buffer(), scene.to, 1, Mode::Standard)));
    free(later);
    sum_of_ranks(&split, salt + 1);
    free(copy);
    sum_of_ranks(&split, salt + 2);
    crate::messages::complete(&mut pending, round + thread.number);
    room.check(salt as u64, "a message on a communicator that was freed meanwhile");
    free(split);
    free(of_group);
    alone(thread, round);
}

/// Communicators of some processes, or of this process alone.
fn alone(thread: &Thread<'_>, round: usize) {
    let scene = thread.scene;
    let colour = if scene.rank == round as i32 % scene.size { 0 } else { mpi::MPI_UNDEFINED };
    let handle = call(|| heddle_comm_management::split(thread.own_comm, colour, 0));
    assert_eq!(handle == mpi::MPI_COMM_NULL, colour != 0);
    if colour == 0 {
        free(call(|| CommRef::from_handle(handle)));
    }
    let me = thread.own_comm.group.world_ranks()[scene.rank as usize];
    let handle = call(|| {
        heddle_comm_management::create(thread.own_comm, &Arc::new(Group::from_world_ranks(vec![me])))
    });
    let comm = call(|| CommRef::from_handle(handle));
    assert_eq!((comm.size(), comm.rank()), (1, 0));
    sum_of_ranks(&comm, 9);
    free(comm);
}
