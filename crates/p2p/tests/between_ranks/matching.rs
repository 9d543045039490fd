//! Which message a receive or a probe gets (MPI 5.0, sections 3.5 and 3.8).

use crate::peers::{PLANE, buffer, irecv, is_from, isend, message, recv, send, two, wait};
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;

#[test]
fn tags_choose_and_wildcards_take_the_first() {
    two("auto", |world, rank, both| {
        let mut bytes: Vec<_> = (0..6).map(|number| message(number, 10)).collect();
        if rank == 0 {
            for (number, one) in bytes.iter_mut().enumerate() {
                send(world, one, number as i32);
            }
            both.wait();
            return;
        }
        both.wait();
        for (tag, number) in
            [(4, 4), (mpi::MPI_ANY_TAG, 0), (2, 2), (mpi::MPI_ANY_TAG, 1), (mpi::MPI_ANY_TAG, 3)]
        {
            let mut room = [0; 10];
            is_from(&wait(irecv(world, &mut room, mpi::MPI_ANY_SOURCE, tag)), 0, number as i32, 10);
            assert_eq!(room[..], bytes[number]);
        }
        let mut room = [0; 10];
        is_from(&recv(world, &mut room, 5), 0, 5, 10);
    });
}

#[test]
fn the_first_receive_that_matches_gets_the_message() {
    two("auto", |world, rank, both| {
        let mut bytes: Vec<_> = (0..3).map(|number| message(number, 5)).collect();
        if rank == 0 {
            both.wait();
            for (number, one) in bytes.iter_mut().enumerate() {
                send(world, one, number as i32);
            }
            return;
        }
        let mut rooms = [[0; 5]; 3];
        let [one, two, three] = &mut rooms;
        let any = irecv(world, one, mpi::MPI_ANY_SOURCE, mpi::MPI_ANY_TAG);
        let named = irecv(world, two, 0, 2);
        let last = irecv(world, three, 0, mpi::MPI_ANY_TAG);
        both.wait();
        is_from(&wait(named), 0, 2, 5);
        is_from(&wait(last), 0, 1, 5);
        is_from(&wait(any), 0, 0, 5);
        assert_eq!((&rooms[0][..], &rooms[1][..], &rooms[2][..]), (&*bytes[0], &*bytes[2], &*bytes[1]));
    });
}

#[test]
fn a_probe_sees_a_message_and_leaves_it() {
    two("auto", |world, rank, _| {
        for length in [0, 100, 200_000] {
            let mut bytes = message(1, length);
            if rank == 0 {
                send(world, &mut bytes, 8);
                continue;
            }
            let seen = heddle_p2p::probe(world, 0, mpi::MPI_ANY_TAG).expect("a probe");
            is_from(&seen, 0, 8, length);
            let again =
                heddle_p2p::iprobe(world, mpi::MPI_ANY_SOURCE, 8).expect("a probe").expect("a message");
            is_from(&again, 0, 8, length);
            assert!(heddle_p2p::iprobe(world, 0, 9).expect("a probe").is_none());
            let mut room = vec![0; length];
            is_from(&recv(world, &mut room, 8), 0, 8, length);
            assert!(room == bytes);
        }
    });
}

#[test]
fn a_matched_message_belongs_to_who_has_probed_it() {
    two("auto", |world, rank, both| {
        for length in [0, 100, 200_000] {
            let (mut first, mut second) = (message(1, length), message(2, length));
            if rank == 0 {
                let sent = [&mut first, &mut second].map(|bytes| isend(world, bytes, 8, Mode::Standard));
                both.wait();
                sent.into_iter().for_each(|request| _ = wait(request));
                continue;
            }
            both.wait();
            let (handle, seen) = heddle_p2p::mprobe(world, 0, 8).expect("a message");
            is_from(&seen, 0, 8, length);
            let mut room = vec![0; length];
            is_from(&recv(world, &mut room, 8), 0, 8, length);
            assert!(room == second, "the second one is the first that is left");
            is_from(&heddle_p2p::mrecv(handle, buffer(&mut room)).expect("a receive"), 0, 8, length);
            assert!(room == first);
        }
    });
}

#[test]
fn nobody_answers_for_mpi_proc_null() {
    two("auto", |world, _, _| {
        let mut room = [7; 3];
        let none = mpi::MPI_PROC_NULL;
        heddle_p2p::send(world, PLANE, buffer(&mut room), none, 0, Mode::Synchronous).expect("a send");
        let outcome = heddle_p2p::recv(world, PLANE, buffer(&mut room), none, 0).expect("a receive");
        is_from(&outcome, none, mpi::MPI_ANY_TAG, 0);
        assert_eq!(room, [7; 3]);
    });
}
