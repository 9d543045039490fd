//! Each test has separate tables, and words that stand for those of requests.

use super::*;
use crate::lifetime::hazard::KeptSlot;
use crate::table::{ObjectKind, Ref, Table};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

type Thing = Arc<()>;

const STEPS: [Step; 8] = [
    Step::Begun,
    Step::Found,
    Step::HazardsSeen,
    Step::StatesSeen,
    Step::RequestsSeen,
    Step::Claimed,
    Step::Destroyed,
    Step::Over,
];

fn none(_: &mut dyn FnMut(usize)) -> usize {
    0
}

fn quietly(_: Step) {}

/// Keeps the other tests out: hazard slots are those of all threads, and objects of different tables may have
/// equal handles.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A table and its collector, for one test.
macro_rules! scene {
    ($table:ident, $collector:ident) => {
        let _alone = alone();
        // SAFETY: the threads of a test look up nothing in other tests' tables.
        static $table: Table<Thing> = unsafe { Table::collected(ObjectKind::Session) };
        static $collector: Collector = Collector::new(&[&$table]);
    };
}

/// Makes an object and frees it: it is eligible then.
fn free_one(table: &'static Table<Thing>, thing: &Thing) -> usize {
    let handle = table.insert(thing.clone());
    drop(table.remove(handle).expect("live"));
    handle
}

#[test]
fn a_freed_object_goes_when_no_call_and_no_request_uses_it() {
    scene!(TABLE, COLLECTOR);
    let thing = Thing::default();
    let kept = TABLE.insert(thing.clone());
    free_one(&TABLE, &thing);
    assert_eq!(Arc::strong_count(&thing), 3, "the collector has it");
    // Requests without a datatype, and on predefined communicators.
    let requests: Requests = |root| {
        root(0);
        root(0x101);
        1
    };
    COLLECTOR.cycle(requests, &mut quietly);
    assert_eq!(Arc::strong_count(&thing), 2, "an object that is not freed stays");
    assert_eq!((TABLE.eligible(), TABLE.existing()), (0, 1));
    drop(TABLE.remove(kept));
    COLLECTOR.cycle(none, &mut quietly);
    assert_eq!(Arc::strong_count(&thing), 1);
    assert_eq!(COLLECTOR.totals(), (2, 2));
}

#[test]
fn holds_counted_references_and_requests_keep_it() {
    scene!(TABLE, COLLECTOR);
    static REQUEST: AtomicUsize = AtomicUsize::new(0);
    fn requests(root: &mut dyn FnMut(usize)) -> usize {
        root(REQUEST.load(Ordering::Relaxed));
        1
    }
    let thing = Thing::default();
    let cycle = || {
        COLLECTOR.cycle(requests, &mut quietly);
        Arc::strong_count(&thing) == 2
    };
    let handle = TABLE.insert_named(thing.clone(), 0x5550);
    let protected = TABLE.protect(handle, KeptSlot::Comm).expect("live");
    let counted = TABLE.get(handle).expect("live");
    REQUEST.store(handle, Ordering::Relaxed);
    drop(TABLE.remove(handle));
    assert!(TABLE.protect(handle, KeptSlot::Comm).is_none() && TABLE.get(handle).is_none());
    assert!(cycle());
    protected.protection.release();
    assert!(cycle(), "the hazard slot still names it");
    hazard::forget(handle);
    assert!(cycle());
    drop(counted);
    assert!(cycle(), "the request names its handle");
    let found = TABLE.get_while_it_exists(handle).expect("a request keeps it");
    REQUEST.store(0x5550, Ordering::Relaxed);
    assert!(cycle(), "the request names it otherwise, and there is a reference");
    drop(found);
    assert!(cycle(), "the request names it otherwise");
    REQUEST.store(0, Ordering::Relaxed);
    assert!(!cycle());
    assert!(TABLE.get_while_it_exists(handle).is_none());
}

#[test]
fn a_cycle_comes_when_enough_is_eligible() {
    scene!(TABLE, COLLECTOR);
    COLLECTOR.set_threshold(10);
    let thing = Thing::default();
    for _ in 0..1000 {
        COLLECTOR.run_if_due(none, &mut |_| ());
        free_one(&TABLE, &thing);
        assert!(Arc::strong_count(&thing) <= 12);
    }
    assert!(COLLECTOR.totals().0 >= 90);
}

#[test]
fn the_threshold_adapts_to_requests_and_survivors() {
    scene!(TABLE, COLLECTOR);
    fn many(_: &mut dyn FnMut(usize)) -> usize {
        READS_AN_OBJECT * 1000
    }
    let thing = Thing::default();
    free_one(&TABLE, &thing);
    COLLECTOR.cycle(many, &mut quietly);
    assert_eq!(COLLECTOR.step(), 1000);
    free_one(&TABLE, &thing);
    COLLECTOR.cycle(none, &mut quietly);
    assert_eq!(COLLECTOR.step(), LEAST);
    let protected: Vec<Ref<Thing>> = (0..200)
        .map(|_| {
            let handle = TABLE.insert(thing.clone());
            let protected = TABLE.get(handle).expect("live");
            drop(TABLE.remove(handle));
            protected
        })
        .collect();
    assert_eq!(TABLE.eligible(), 0, "an object with a counted reference is not eligible");
    drop(protected);
    assert_eq!(TABLE.eligible(), 200);
    assert_eq!(COLLECTOR.candidates().len(), 200);
}

#[test]
fn what_another_cycle_has_destroyed_is_no_survivor() {
    for step in [Step::Found, Step::RequestsSeen] {
        scene!(TABLE, COLLECTOR);
        let thing = Thing::default();
        for _ in 0..500 {
            free_one(&TABLE, &thing);
        }
        COLLECTOR.cycle(none, &mut |now| {
            if now == step {
                COLLECTOR.cycle(none, &mut quietly);
            }
        });
        assert_eq!((COLLECTOR.step(), TABLE.existing()), (LEAST, 0), "met at {step:?}");
    }
}

/// At each step of a cycle a thread is ended, by unwinding, while others make and free objects; only the one
/// object that it was about to destroy is lost.
#[test]
fn a_thread_that_dies_in_a_cycle_stops_no_other_thread() {
    scene!(TABLE, COLLECTOR);
    COLLECTOR.set_threshold(16);
    let thing = Thing::default();
    for step in STEPS {
        for _ in 0..20 {
            free_one(&TABLE, &thing);
        }
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        COLLECTOR.run_if_due(none, &mut |_| ());
                        free_one(&TABLE, &thing);
                    }
                });
            }
            scope.spawn(|| {
                let died = catch_unwind(AssertUnwindSafe(|| {
                    for _ in 0..2_000 {
                        free_one(&TABLE, &thing);
                        COLLECTOR.cycle(none, &mut |now| {
                            if now == step {
                                // Not a panic, which would be reported.
                                std::panic::resume_unwind(Box::new(()));
                            }
                        });
                    }
                }));
                assert!(died.is_err(), "{step:?} was reached");
            });
        });
        let kept = Arc::strong_count(&thing);
        assert!(kept < 200, "{kept} objects are left after a thread died at {step:?}");
    }
    COLLECTOR.cycle(none, &mut quietly);
    assert_eq!(Arc::strong_count(&thing), 2, "one was claimed by a thread that died then");
}

/// At each step of a cycle a thread stands still while others make and free objects; no object that it
/// has not claimed is lost.
#[test]
fn a_thread_that_stands_still_in_a_cycle_stops_no_other_thread() {
    scene!(TABLE, COLLECTOR);
    COLLECTOR.set_threshold(16);
    let thing = Thing::default();
    let (go_on, all_stand) = (Barrier::new(STEPS.len() + 1), Barrier::new(STEPS.len() + 1));
    std::thread::scope(|scope| {
        for step in STEPS {
            let (thing, go_on, all_stand) = (thing.clone(), &go_on, &all_stand);
            scope.spawn(move || {
                let mut stood = false;
                while !stood {
                    free_one(&TABLE, &thing);
                    COLLECTOR.cycle(none, &mut |now| {
                        if now == step && !stood {
                            stood = true;
                            all_stand.wait();
                            go_on.wait();
                        }
                    });
                }
            });
        }
        all_stand.wait();
        let ours = Arc::new(());
        let (done, is_done) = mpsc::channel();
        let worker = ours.clone();
        scope.spawn(move || {
            for _ in 0..5_000 {
                COLLECTOR.run_if_due(none, &mut |_| ());
                free_one(&TABLE, &worker);
            }
            COLLECTOR.cycle(none, &mut quietly);
            assert_eq!(done.send(()), Ok(()));
        });
        let waited = is_done.recv_timeout(Duration::from_secs(60));
        // The others may have claimed some of our objects before they stood still; all others are destroyed.
        let kept = Arc::strong_count(&ours);
        go_on.wait();
        assert_eq!(waited, Ok(()), "a thread that stands still stops the others");
        assert!(kept < 10, "{kept} objects are left");
    });
    COLLECTOR.cycle(none, &mut quietly);
    assert_eq!(Arc::strong_count(&thing), 1);
    assert_eq!(TABLE.existing(), 0);
}

/// Says which object it was until it is destroyed.
#[derive(Debug)]
struct Numbered(AtomicU64);

impl Drop for Numbered {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Threads look up objects that others free, and use those that they find: they exist.
#[test]
fn an_object_stays_while_a_call_uses_it() {
    // SAFETY: the threads of this test look up nothing in other tests' tables.
    static TABLE: Table<Numbered> = unsafe { Table::collected(ObjectKind::Session) };
    static COLLECTOR: Collector = Collector::new(&[&TABLE]);
    static REQUESTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    fn requests(root: &mut dyn FnMut(usize)) -> usize {
        REQUESTS.iter().for_each(|request| root(request.load(Ordering::Relaxed)));
        REQUESTS.len()
    }
    let _alone = alone();
    COLLECTOR.set_threshold(1);
    let published = AtomicUsize::new(0);
    let published = &published;
    std::thread::scope(|scope| {
        let users: Vec<_> = REQUESTS
            .iter()
            .map(|request| {
                scope.spawn(move || {
                    for _ in 0..50_000 {
                        let handle = published.load(Ordering::Relaxed);
                        let Some(protected) = TABLE.protect(handle, KeptSlot::Comm) else { continue };
                        // SAFETY: the object is protected, and then named by a request.
                        let object = unsafe { protected.value.as_ref() };
                        let number = object.0.load(Ordering::Relaxed);
                        assert_ne!(number, 0);
                        // As a call that begins an operation: the request names the object before the
                        // protection is given up.
                        request.store(handle, Ordering::Relaxed);
                        protected.protection.release();
                        hazard::forget(handle);
                        (0..20).for_each(|_| assert_eq!(object.0.load(Ordering::Relaxed), number));
                        request.store(0, Ordering::Release);
                    }
                })
            })
            .collect();
        scope.spawn(move || {
            for number in 1..5_000 {
                COLLECTOR.run_if_due(requests, &mut |_| ());
                let handle = TABLE.insert(Numbered(AtomicU64::new(number)));
                published.store(handle, Ordering::Relaxed);
                std::thread::yield_now();
                drop(TABLE.remove(handle));
            }
        });
        // Joined: a scope alone does not wait for the destructors of a thread's locals.
        users.into_iter().for_each(|user| user.join().expect("no panic"));
    });
    COLLECTOR.cycle(requests, &mut quietly);
    assert_eq!(TABLE.existing(), 0);
}
