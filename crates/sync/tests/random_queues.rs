//! Queues under random schedules of more threads and steps than loom can explore: the same sources on another
//! platform.
#![cfg(not(loom))]

mod shuttle_world;

use heddle_sync::queues::{Bounded, Consumer, Mpsc, Refused, Unbounded};
use shuttle::rand::Rng;
use shuttle::thread;
use shuttle_world::Shuttle;
use std::sync::Arc;

const SCHEDULES: usize = 200;
/// How many elements each producer pushes, unless the queue is closed before.
const ELEMENTS: usize = 6;

/// Producers that push at random moments, one that may close, and a consumer: each producer's accepted
/// elements come out in order, none is lost, none twice.
fn queue_as_the_model<Q: Mpsc<Item = (usize, usize)> + 'static>(make: fn() -> Q) {
    let body = move || {
        let queue = Arc::new(make());
        let producers: Vec<_> = (0..3)
            .map(|producer| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    let mut accepted = 0;
                    while accepted < ELEMENTS {
                        match queue.push((producer, accepted)) {
                            Ok(()) => accepted += 1,
                            Err(Refused::Full(_)) => thread::yield_now(),
                            Err(Refused::Closed(_)) => break,
                        }
                        if producer == 0 && shuttle::rand::thread_rng().gen_bool(0.1) {
                            queue.close();
                        }
                    }
                    accepted
                })
            })
            .collect();
        let consuming = Arc::clone(&queue);
        let consumer = thread::spawn(move || {
            let mut consumer = Consumer::of(&*consuming).expect("the only consumer");
            let mut seen = [0; 3];
            loop {
                let finished = consumer.is_finished();
                match consumer.pop() {
                    Some((producer, number)) => {
                        assert!(!finished, "an element after the end");
                        assert_eq!(seen[producer], number, "out of order");
                        seen[producer] += 1;
                    }
                    None if finished => return seen,
                    None => thread::yield_now(),
                }
            }
        });
        let accepted: Vec<_> = producers.into_iter().map(|p| p.join().expect("producer")).collect();
        queue.close();
        assert_eq!(consumer.join().expect("consumer").to_vec(), accepted);
    };
    shuttle::check_random(body, SCHEDULES);
}

#[test]
fn unbounded_queue() {
    queue_as_the_model(Unbounded::<_, Shuttle>::new);
}

#[test]
fn bounded_queue() {
    queue_as_the_model(|| Bounded::<_, Shuttle>::new(2));
}
