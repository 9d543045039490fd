//! Messages of all lengths, sent in all modes, that come before their receive or after it.

use crate::peers::{irecv, is_from, isend, message, models, recv, send, two, wait};
use heddle_p2p::Mode;

/// Within a cell of the ring, a line, a slot, a page, one piece, several pieces.
const LENGTHS: [usize; 9] = [0, 1, 8, 48, 200, 4_000, 20_000, 70_000, 1_000_003];

const MODES: [Mode; 2] = [Mode::Standard, Mode::Synchronous];

#[test]
fn messages_arrive_under_every_model() {
    for model in models() {
        two(model, |world, rank, _| {
            for (number, length) in LENGTHS.into_iter().enumerate() {
                let mut bytes = message(number, length);
                if rank == 0 {
                    send(world, &mut bytes, number as i32);
                } else {
                    let mut room = vec![0; length];
                    is_from(&recv(world, &mut room, number as i32), 0, number as i32, length);
                    assert!(room == bytes, "{length} bytes under {model}");
                }
            }
        });
    }
}

#[test]
fn a_message_may_come_before_its_receive_or_after_it() {
    two("auto", |world, rank, both| {
        for mode in MODES {
            for (number, length) in LENGTHS.into_iter().enumerate() {
                for is_early in [true, false] {
                    let (mut bytes, mut room) = (message(number, length), vec![0; length]);
                    let receive = (rank == 1 && !is_early).then(|| irecv(world, &mut room, 0, 7));
                    both.wait();
                    let sent = (rank == 0).then(|| isend(world, &mut bytes, 7, mode));
                    both.wait();
                    if rank == 1 {
                        let receive = receive.unwrap_or_else(|| irecv(world, &mut room, 0, 7));
                        is_from(&wait(receive), 0, 7, length);
                        assert!(room == bytes, "{length} bytes, {mode:?}, early: {is_early}");
                    }
                    sent.map(wait);
                }
            }
        }
    });
}

#[test]
fn a_synchronous_send_waits_for_its_receive() {
    two("auto", |world, rank, both| {
        for length in LENGTHS {
            let mut bytes = message(1, length);
            if rank == 0 {
                let mut sent = isend(world, &mut bytes, 3, Mode::Synchronous);
                for _ in 0..100 {
                    assert!(heddle_p2p::test(&mut sent).expect("a request").is_none());
                }
                both.wait();
                wait(sent);
            } else {
                both.wait();
                is_from(&recv(world, &mut bytes, 3), 0, 3, length);
            }
        }
    });
}

#[test]
fn a_receive_with_too_little_room_gets_its_share_and_an_error() {
    two("auto", |world, rank, _| {
        for length in LENGTHS.into_iter().filter(|length| *length > 1) {
            let mut bytes = message(2, length);
            if rank == 0 {
                send(world, &mut bytes, 5);
            } else {
                let mut room = vec![0; length / 2 + 1];
                let end = room.len() - 1;
                room[end] = 99;
                let outcome = recv(world, &mut room[..end], 5);
                let error = outcome.error.expect("an error");
                assert_eq!(error.code(), heddle_spec::constants::MPI_ERR_TRUNCATE);
                assert_eq!(room[end], 99, "nothing is written behind the room");
            }
        }
    });
}

#[test]
fn many_messages_that_nobody_receives_yet_are_kept() {
    const MANY: usize = 3_000;
    two("auto", |world, rank, both| {
        let mut sends: Vec<_> = (0..MANY).map(|number| message(number, number % 300)).collect();
        if rank == 0 {
            let sent: Vec<_> = sends.iter_mut().map(|bytes| isend(world, bytes, 1, Mode::Standard)).collect();
            both.wait();
            sent.into_iter().for_each(|request| _ = wait(request));
        } else {
            both.wait();
            for bytes in &sends {
                let mut room = vec![0; bytes.len()];
                is_from(&recv(world, &mut room, 1), 0, 1, bytes.len());
                assert!(room == *bytes, "in order");
            }
        }
    });
}
