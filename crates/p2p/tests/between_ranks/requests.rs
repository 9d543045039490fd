//! Requests: tests of them, several at once, cancelled ones, those that are started again.

use crate::peers::{buffer, irecv, is_from, isend, message, recv, send, two, wait};
use heddle_p2p::Mode;
use heddle_p2p::request::SEND_DONE;

#[test]
fn tests_complete_what_a_peer_has_sent() {
    two("auto", |world, rank, _| {
        for length in [0, 100, 200_000] {
            let mut bytes = message(1, length);
            if rank == 0 {
                send(world, &mut bytes, 1);
                continue;
            }
            let mut room = vec![0; length];
            let mut request = irecv(world, &mut room, 0, 1);
            let outcome = loop {
                if let Some(outcome) = heddle_p2p::test(&mut request).expect("a request") {
                    break outcome;
                }
            };
            is_from(&outcome, 0, 1, length);
            assert!(room == bytes);
        }
    });
}

#[test]
fn all_of_several_requests() {
    const NUMBER: usize = 40;
    two("auto", |world, rank, _| {
        let mut bytes: Vec<_> = (0..NUMBER).map(|number| message(number, number * 1_000)).collect();
        if rank == 0 {
            // Back to front, so that the first requests are complete last.
            let sends = bytes.iter_mut().enumerate().rev();
            let sent: Vec<_> =
                sends.map(|(tag, one)| isend(world, one, tag as i32, Mode::Standard)).collect();
            sent.into_iter().filter(|sent| *sent != SEND_DONE).for_each(|sent| _ = wait(sent));
            return;
        }
        let mut rooms: Vec<Vec<u8>> = bytes.iter().map(|one| vec![0; one.len()]).collect();
        let mut requests: Vec<_> =
            rooms.iter_mut().enumerate().map(|(tag, room)| irecv(world, room, 0, tag as i32)).collect();
        let mut seen = Vec::new();
        let failed = heddle_p2p::wait_all(&mut requests, |index, outcome| {
            is_from(outcome, 0, index as i32, index * 1_000);
            seen.push(index);
        });
        assert!(!failed.expect("requests"));
        assert_eq!(seen, (0..NUMBER).collect::<Vec<_>>());
        assert!(rooms == bytes);
    });
}

#[test]
fn a_cancelled_receive_leaves_the_message_to_the_next() {
    two("auto", |world, rank, both| {
        let mut bytes = message(3, 50);
        if rank == 0 {
            both.wait();
            send(world, &mut bytes, 2);
            return;
        }
        let mut room = vec![0; 50];
        let request = irecv(world, &mut room, 0, 2);
        heddle_p2p::cancel(request).expect("a receive");
        assert!(wait(request).cancelled);
        both.wait();
        is_from(&recv(world, &mut room, 2), 0, 2, 50);
        assert!(room == bytes);
    });
}

#[test]
fn a_persistent_request_is_started_again_and_again() {
    two("auto", |world, rank, _| {
        for length in [0, 100, 200_000] {
            let mut bytes = vec![0; length];
            let peer = 1 - rank as i32;
            let mut request = match rank {
                0 => heddle_p2p::send_init(world, buffer(&mut bytes), peer, 4, Mode::Standard),
                _ => heddle_p2p::receive_init(world, buffer(&mut bytes), peer, 4),
            }
            .expect("a request");
            for round in 0..5 {
                if rank == 0 {
                    bytes.copy_from_slice(&message(round, length));
                }
                heddle_p2p::start(request).expect("a start");
                wait(request);
                assert!(bytes == message(round, length), "round {round}");
            }
            heddle_p2p::free(&mut request).expect("an inactive request");
        }
    });
}
