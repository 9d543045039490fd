//! What a rank waits for: a peer that is held, whose ring is full, whose wake-up is lost.

use crate::peers::{is_from, isend, message, recv, send, two, wait};
use heddle_comm::CommRef;
use heddle_message::domain;
use heddle_p2p::Mode;
use heddle_p2p::request::SEND_DONE;
use heddle_platform::futex;
use heddle_platform::thread::{cores, set_processes_per_core};
use heddle_ranks::{PlayedRank, Ranks};
use heddle_sync::Doorbell;
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

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
            thread::yield_now();
        }
        futex::lose_wakes(1);
        send(world, &mut bytes, 6);
        assert_eq!(futex::wakes_to_lose(), 0, "the send wakes the sleeper");
    });
}

#[test]
fn a_receive_sleeps_early_if_many_threads_share_a_core() {
    let cores = cores();
    if cores < 2 {
        // The two ranks have no core each.
        return;
    }
    // More than two for each core. Each takes part once it has sent something, and stays.
    let others = 2 * cores;
    let (all_there, over) = (Barrier::new(others + 2), Barrier::new(others + 1));
    let sleeper = OnceLock::new();
    // Without turns a thread would yield for ever.
    Ranks::new(2).with(|settings| settings.wait.yields = u32::MAX).run(|rank| {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let process = PlayedRank::here();
        if rank == 1 {
            sleeper.get_or_init(doorbell);
            thread::scope(|scope| {
                for _ in 0..others {
                    scope.spawn(|| {
                        process.join();
                        send(&world, &mut message(1, 8), 7);
                        all_there.wait();
                        over.wait();
                    });
                }
                all_there.wait();
                let mut room = [0; 8];
                is_from(&recv(&world, &mut room, 6), 0, 6, 8);
                over.wait();
            });
            return;
        }
        all_there.wait();
        // A yield of any length is an ordinary one: after others it would sleep as well.
        set_processes_per_core(1 << 20);
        let began = Instant::now();
        while !sleeper.get().expect("a doorbell").is_armed() {
            assert!(began.elapsed() < Duration::from_secs(30), "it yields");
            thread::yield_now();
        }
        (0..others).for_each(|_| is_from(&recv(&world, &mut [0; 8], 7), 1, 7, 8));
        send(&world, &mut message(1, 8), 6);
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
