//! A ring under the model checker: every message that was sent comes out once, in order and with its own
//! payload; no message is read that was not sent, and no payload is written while it is read. And each
//! fault of `faults` is found.
#![cfg(loom)]

use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_transport::modelled::Size::{Bulk, Half, Whole};
use heddle_transport::modelled::{Ring, Size, take};
use loom::sync::Arc;
use loom::thread;

/// One thread sends messages of these sizes until it finds no room. Another polls `polls` times meanwhile,
/// and takes the rest after that.
fn all_arrive(
    (slots, lines): (usize, usize),
    sizes: &'static [Size],
    polls: usize,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let ring = Arc::new(Ring::new(slots, lines));
        let mut sender = ring.sender();
        let sending = thread::spawn(move || {
            (0..).zip(sizes).take_while(|(tag, size)| sender.send(*tag, **size)).count()
        });
        let mut reader = ring.reader();
        // In another thread: loom does not try all orders of the model's first thread.
        let reading = thread::spawn(move || {
            let taken: Vec<i32> = (0..polls).filter_map(|_| take(&mut reader)).collect();
            (reader, taken)
        });
        let (mut reader, mut taken) = reading.join().expect("reader");
        let sent = sending.join().expect("sender") as i32;
        taken.extend(std::iter::from_fn(|| take(&mut reader)));
        assert_eq!(taken, (0..sent).collect::<Vec<_>>());
    }
}

/// As [`all_arrive`], with threads that share one sender; each sends messages of its sizes.
fn all_arrive_of_many(
    (slots, lines): (usize, usize),
    sizes: &'static [&'static [Size]],
    polls: usize,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let ring = Arc::new(Ring::new(slots, lines));
        let sender = Arc::new(ring.shared_sender());
        let sending: Vec<_> = (0..)
            .zip(sizes)
            .map(|(thread, sizes)| {
                let sender = Arc::clone(&sender);
                let tags = (100 * thread..).zip(*sizes);
                thread::spawn(move || tags.take_while(|(tag, size)| sender.send(*tag, **size)).count())
            })
            .collect();
        let mut reader = ring.reader();
        let reading = thread::spawn(move || {
            let taken: Vec<i32> = (0..polls).filter_map(|_| take(&mut reader)).collect();
            (reader, taken)
        });
        let (mut reader, mut taken) = reading.join().expect("reader");
        let sent: Vec<usize> = sending.into_iter().map(|thread| thread.join().expect("sender")).collect();
        taken.extend(std::iter::from_fn(|| take(&mut reader)));
        for (thread, sent) in (0..).zip(sent) {
            let of_thread: Vec<i32> = taken.iter().copied().filter(|tag| tag / 100 == thread).collect();
            assert_eq!(of_thread, (100 * thread..).take(sent).collect::<Vec<_>>());
        }
    }
}

#[test]
fn small_messages_and_a_ring_that_goes_round() {
    explore(None, all_arrive((2, 4), &[Half; 6], 3));
}

#[test]
fn messages_that_take_whole_slots() {
    explore(None, all_arrive((2, 4), &[Whole; 4], 3));
}

#[test]
fn small_messages_behind_large_ones() {
    explore(None, all_arrive((2, 4), &[Whole, Whole, Half, Half, Half], 3));
}

#[test]
fn a_half_slot_that_is_passed_over() {
    explore(None, all_arrive((2, 4), &[Half, Whole, Half, Half, Whole], 3));
}

#[test]
fn payloads_in_the_bulk_area() {
    explore(None, all_arrive((4, 4), &[Bulk; 6], 3));
}

#[test]
fn all_sizes() {
    explore(Some(4), all_arrive((4, 4), &[Half, Bulk, Bulk, Half, Half, Whole, Bulk, Bulk, Bulk], 4));
}

#[test]
fn two_threads_that_share_a_sender() {
    explore(Some(2), all_arrive_of_many((2, 4), &[&[Half, Whole], &[Half, Half]], 2));
}

#[test]
fn two_threads_that_share_a_sender_and_the_bulk_area() {
    explore(Some(2), all_arrive_of_many((2, 4), &[&[Bulk, Half], &[Bulk, Bulk]], 2));
}

with_fault!(a_flag_that_orders_nothing_is_found, all_arrive((2, 4), &[Half; 2], 2));

with_fault!(a_reader_that_orders_nothing_is_found, all_arrive((2, 4), &[Half; 2], 2));

with_fault!(a_leftover_flag_is_found, all_arrive((1, 4), &[Whole, Half, Half], 3));

with_fault!(credits_that_order_nothing_are_found, all_arrive((1, 4), &[Half; 4], 3));

with_fault!(credits_that_are_read_without_order_are_found, all_arrive((1, 4), &[Whole; 3], 2));

with_fault!(bulk_credits_that_are_read_without_order_are_found, all_arrive((8, 4), &[Bulk; 6], 4));

with_fault!(a_ring_without_limit_is_found, all_arrive((1, 4), &[Whole; 3], 1));

with_fault!(a_bulk_area_without_limit_is_found, all_arrive((8, 4), &[Bulk; 6], 1));

with_fault!(an_early_credit_is_found, all_arrive((1, 4), &[Whole; 3], 2));

with_fault!(a_half_slot_that_is_not_passed_over_is_found, all_arrive((2, 4), &[Half, Whole], 2));

with_fault!(
    a_shared_half_slot_that_is_not_passed_over_is_found,
    all_arrive_of_many((2, 4), &[&[Half, Half]], 2)
);
