//! Queues on real threads, from fewer than the cores to many more: bounded work, nothing lost, each
//! producer's order kept.
#![cfg(not(loom))]

use heddle_platform::thread;
use heddle_sync::queues::{Bounded, Consumer, Mpsc, Refused, Unbounded};

const THREADS: [u64; 5] = [1, 2, 3, 16, 64];
const ELEMENTS: u64 = 20_000;

/// Producers of numbered elements, and a consumer that checks every producer's order.
fn numbers_arrive(queue: &impl Mpsc<Item = (u64, u64)>, producers: u64) {
    let each = ELEMENTS / producers;
    std::thread::scope(|scope| {
        for producer in 0..producers {
            scope.spawn(move || {
                for number in 0..each {
                    let mut element = (producer, number);
                    while let Err(refused) = queue.push(element) {
                        assert!(matches!(refused, Refused::Full(_)));
                        element = refused.into_inner();
                        thread::yield_now();
                    }
                }
            });
        }
        let mut consumer = Consumer::of(queue).expect("the only consumer");
        assert!(Consumer::of(queue).is_none(), "a second consumer");
        let mut seen = vec![0; producers as usize];
        let mut left = each * producers;
        while left > 0 {
            let Some((producer, number)) = consumer.pop() else {
                thread::yield_now();
                continue;
            };
            assert_eq!(seen[producer as usize], number, "out of order");
            seen[producer as usize] += 1;
            left -= 1;
        }
        assert!(consumer.is_empty() && consumer.pop().is_none());
    });
    queue.close();
    assert_eq!(queue.push((0, 0)), Err(Refused::Closed((0, 0))));
}

#[test]
fn queues() {
    for producers in THREADS {
        numbers_arrive(&Unbounded::<_>::new(), producers);
        for capacity in [1, 2, 64] {
            numbers_arrive(&Bounded::<_>::new(capacity), producers);
        }
    }
}
