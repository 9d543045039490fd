//! What a rank waits for: a peer that is held, whose ring is full, whose wake-up is lost.

use crate::peers::{is_from, isend, message, recv, send, two, wait};
use heddle_message::domain;
use heddle_p2p::Mode;
use heddle_p2p::request::SEND_DONE;
use heddle_platform::futex;
use heddle_sync::Doorbell;
use std::sync::OnceLock;

/// The doorbell of the calling rank.
fn doorbell() -> &'static Doorbell {
    domain::current().expect("between MPI_Init and MPI_Finalize").fabric().own_doorbell()
}

#[test]
fn a_message_whose_wake_up_is_lost_is_late_only() {
    let sleeper = OnceLock::new();
    two("auto", |world, rank, both| {
        let mut bytes = message(5, 40);
        if rank == 1 {
            sleeper.get_or_init(doorbell);
            both.wait();
            let mut room = [0; 40];
            is_from(&recv(world, &mut room, 6), 0, 6, 40);
            assert_eq!(room[..], bytes);
            return;
        }
        both.wait();
        while !sleeper.get().expect("a doorbell").is_armed() {
            std::thread::yield_now();
        }
        futex::lose_wakes(1);
        send(world, &mut bytes, 6);
        assert_eq!(futex::wakes_to_lose(), 0, "the send wakes the sleeper");
    });
}

#[test]
fn what_a_full_ring_has_no_room_for_comes_later_and_in_order() {
    const MANY: usize = 400;
    const LENGTH: usize = 4_000;
    for losses in [0, u32::MAX] {
        two("auto", |world, rank, both| {
            let mut bytes: Vec<_> = (0..MANY).map(|number| message(number, LENGTH)).collect();
            if rank == 0 {
                let sent: Vec<_> = bytes.iter_mut().map(|one| isend(world, one, 1, Mode::Standard)).collect();
                assert_eq!(sent[0], SEND_DONE, "the first has room");
                assert_ne!(sent[MANY - 1], SEND_DONE, "the last has none");
                both.wait();
                sent.into_iter().for_each(|request| _ = wait(request));
                both.wait();
                return;
            }
            both.wait();
            futex::lose_wakes(losses);
            for one in &bytes {
                let mut room = vec![0; LENGTH];
                is_from(&recv(world, &mut room, 1), 0, 1, LENGTH);
                assert!(room == *one, "in order");
            }
            both.wait();
            futex::lose_wakes(0);
        });
    }
}
