//! Messages in partitions that are ready before the receiver has room for them.

use crate::peers::{buffer, message, two, wait};
use heddle_p2p::request::Outcome;
use heddle_spec::constants::MPI_ERR_ARG;

const PARTITIONS: usize = 2;

fn start(request: usize) {
    heddle_p2p::start(request).expect("an inactive request");
}

/// Starts a round, and ends it.
fn play(request: usize, rank: usize) -> Outcome {
    start(request);
    if rank == 0 {
        (0..PARTITIONS as i32).for_each(|partition| heddle_p2p::ready(partition, request).expect("once"));
    }
    wait(request)
}

/// Partitions of that many bytes, of which a sender may begin so many rounds before the receiver does.
fn ready_twice(bytes: usize, ahead: usize) {
    two("auto", |world, rank, both| {
        let mut data = message(rank, PARTITIONS * bytes);
        let part = buffer(&mut data);
        let mut request = match rank {
            0 => heddle_p2p::psend_init(world, part, PARTITIONS, 1, 7),
            _ => heddle_p2p::precv_init(world, part, PARTITIONS, 0, 7),
        }
        .expect("a request");
        // Then they know each other.
        play(request, rank);
        if rank == 0 {
            (0..ahead).for_each(|_| _ = play(request, rank));
            start(request);
            let ready = |partition| heddle_p2p::ready_express(partition, request).is_ok();
            assert!(!ready(0), "there is no room for it");
            heddle_p2p::ready(0, request).expect("it is deferred");
            both.wait();
            both.wait();
            // There is room now, and nobody has delivered it yet.
            assert!(!ready(0), "it is not new");
            let error = heddle_p2p::ready(0, request).expect_err("it is not new");
            assert_eq!(error.code(), MPI_ERR_ARG);
            heddle_p2p::ready(1, request).expect("once");
            wait(request);
        } else {
            both.wait();
            (0..ahead.min(1)).for_each(|_| _ = play(request, rank));
            if ahead == 0 {
                start(request);
            }
            both.wait();
            if ahead == 0 {
                wait(request);
            }
            (0..ahead).for_each(|_| _ = play(request, rank));
            assert!(data == message(0, PARTITIONS * bytes));
        }
        // A round in which all is in order again.
        play(request, rank);
        heddle_p2p::free(&mut request).expect("an inactive request");
    });
}

#[test]
fn a_partition_is_ready_once_also_if_it_waits_for_its_receiver() {
    ready_twice(100_000, 0);
    ready_twice(8, 2);
}
