//! The queues under the model checker: nothing lost, nothing twice, order kept, closing exact; and each fault
//! is found.
#![cfg(loom)]

mod model;

use heddle_sync::queues::{Bounded, Consumer, Mpsc, Refused, Unbounded};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

/// An element: its producer, and its number there. In a box, so that a leak or a double drop is seen.
type Item = Box<(u32, u32)>;

fn item(producer: u32, number: u32) -> Item {
    Box::new((producer, number))
}

/// Each producer pushes its numbers in turn; returns the pushed numbers.
fn produce(queue: &impl Mpsc<Item = Item>, producer: u32, count: u32) -> u32 {
    (0..count).take_while(|number| queue.push(item(producer, *number)).is_ok()).count() as u32
}

/// Checks that every producer's elements come in order, without gaps.
#[derive(Default)]
struct Seen([u32; 3]);

impl Seen {
    fn take(&mut self, item: &Item) {
        let next = &mut self.0[item.0 as usize];
        assert_eq!(item.1, *next, "out of order");
        *next += 1;
    }
}

/// `producers` push `each`, the consumer pops while they do and takes the rest when they are done.
fn all_arrive<Q: Mpsc<Item = Item> + 'static>(
    queue: impl Fn() -> Q + Sync + Send + 'static,
    producers: u32,
    each: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let queue = Arc::new(queue());
        let producers: Vec<_> = (0..producers)
            .map(|producer| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || produce(&*queue, producer, each))
            })
            .collect();
        // In a thread of its own: loom does not try all that the model's first thread could do.
        let consuming = Arc::clone(&queue);
        let consuming = thread::spawn(move || {
            let mut seen = Seen::default();
            let mut consumer = Consumer::of(&*consuming).expect("the only consumer");
            for _ in 0..each {
                if let Some(item) = consumer.pop() {
                    seen.take(&item);
                }
            }
            seen
        });
        let mut seen = consuming.join().expect("consumer");
        let pushed: Vec<u32> = producers.into_iter().map(|p| p.join().expect("producer")).collect();
        let mut consumer = Consumer::of(&*queue).expect("the only consumer");
        while let Some(item) = consumer.pop() {
            seen.take(&item);
        }
        assert!(consumer.is_empty());
        assert_eq!(&seen.0[..pushed.len()], &pushed[..], "everything that went in came out");
    }
}

/// A close beside pushes: accepted elements come out, and `is_finished` is not true too early.
fn closing<Q: Mpsc<Item = Item> + 'static>(
    queue: impl Fn() -> Q + Sync + Send + 'static,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let queue = Arc::new(queue());
        let pusher = Arc::clone(&queue);
        let pusher = thread::spawn(move || produce(&*pusher, 0, 2));
        let closer = Arc::clone(&queue);
        let closer = thread::spawn(move || closer.close());
        let mut seen = Seen::default();
        let mut consumer = Consumer::of(&*queue).expect("the only consumer");
        let mut finished = false;
        for _ in 0..2 {
            finished = consumer.is_finished();
            if let Some(item) = consumer.pop() {
                assert!(!finished, "an element after the end");
                seen.take(&item);
            }
        }
        closer.join().expect("closer");
        let pushed = pusher.join().expect("pusher");
        assert!(!finished || seen.0[0] == pushed, "an element after the end");
        while let Some(item) = consumer.pop() {
            seen.take(&item);
        }
        assert!(consumer.is_finished());
        assert_eq!(seen.0[0], pushed);
        assert!(matches!(queue.push(item(0, 9)), Err(Refused::Closed(_))));
    }
}

fn bounded() -> Bounded<Item> {
    Bounded::new(2)
}

#[test]
fn unbounded_one_producer() {
    explore(None, all_arrive(Unbounded::<Item>::new, 1, 3));
}

#[test]
fn unbounded_two_producers() {
    explore(Some(2), all_arrive(Unbounded::<Item>::new, 2, 2));
}

#[test]
fn unbounded_closes() {
    explore(Some(3), closing(Unbounded::<Item>::new));
}

/// A ring of two that goes round and is full at times: a refused push must have found it full.
#[test]
fn bounded_one_producer() {
    explore(None, all_arrive(bounded, 1, 4));
}

#[test]
fn bounded_two_producers() {
    explore(Some(2), all_arrive(bounded, 2, 2));
}

#[test]
fn bounded_closes() {
    explore(Some(3), closing(bounded));
}

/// Elements that are still queued at the end are dropped with the queue.
#[test]
fn the_rest_is_dropped() {
    explore(None, || {
        let kept = std::sync::Arc::new(());
        let queue = Arc::new(Unbounded::<_>::new());
        // All in threads of their own: loom does not try all that the model's first thread could do.
        let producers: Vec<_> = (0..2)
            .map(|_| {
                let (queue, token) = (Arc::clone(&queue), std::sync::Arc::clone(&kept));
                thread::spawn(move || assert!(queue.push(token).is_ok()))
            })
            .collect();
        let consuming = Arc::clone(&queue);
        let consumer = thread::spawn(move || {
            // Takes both to its own list, one of them out, or nothing.
            drop(Consumer::of(&*consuming).expect("the only consumer").pop());
        });
        producers.into_iter().for_each(|producer| producer.join().expect("producer"));
        consumer.join().expect("consumer");
        drop(queue);
        assert_eq!(std::sync::Arc::strong_count(&kept), 1);
    });
}

/// The consumer's place moves between threads with everything the last one did.
#[test]
fn consumers_take_turns() {
    explore(None, || {
        let queue = Arc::new(Unbounded::<_>::new());
        for number in 0..2 {
            assert!(queue.push(item(0, number)).is_ok());
        }
        let other = Arc::clone(&queue);
        let consume =
            |queue: &Unbounded<Item>| Consumer::of(queue).map_or(0, |mut c| u32::from(c.pop().is_some()));
        let other = thread::spawn(move || consume(&other));
        let taken = consume(&queue) + other.join().expect("consumer");
        assert!((1..=2).contains(&taken));
        let mut rest = 0;
        while Consumer::of(&*queue).expect("no other consumer").pop().is_some() {
            rest += 1;
        }
        assert_eq!(taken + rest, 2);
    });
}

with_fault!(an_unpublished_node_is_found, all_arrive(Unbounded::<Item>::new, 1, 1));

with_fault!(a_blind_take_is_found, all_arrive(Unbounded::<Item>::new, 1, 2));

with_fault!(a_slot_claimed_out_of_turn_is_found, all_arrive(bounded, 1, 4));

with_fault!(an_unpublished_value_is_found, all_arrive(bounded, 1, 1));

with_fault!(a_slot_given_away_too_early_is_found, all_arrive(bounded, 1, 3));
