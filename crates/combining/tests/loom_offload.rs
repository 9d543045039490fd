//! The offload under the model checker: everything posted before the closing is run, in order, and no thread
//! sleeps for ever, also if it is served in turns; and each fault is found.
#![cfg(loom)]

use heddle_combining::offload::{self, Served, Waker};
use heddle_combining::{Combining, Offload};
use heddle_platform::Native;
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_sync::{Doorbell, Roster, WaitPolicy};
use loom::sync::Arc;
use loom::thread;

/// One thread serves; the others post and run, and the last one closes.
fn served(callers: usize, posts: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let offload = Arc::new(Offload::new([0_u32; 2], WaitPolicy::PARK_AT_ONCE));
        let server = Arc::clone(&offload);
        let server = thread::spawn(move || assert!(server.serve(|_| false)));
        let call = move |offload: &Offload<[u32; 2]>, caller: usize| {
            for number in 0..posts {
                offload.post(move |done| {
                    assert_eq!(done[caller], number, "out of order");
                    done[caller] += 1;
                });
            }
            // The last of each caller's calls; every earlier one has been run.
            if caller == 0 {
                assert_eq!(offload.run(|done| done[caller]), posts);
            }
        };
        let other = (callers > 1).then(|| {
            let offload = Arc::clone(&offload);
            thread::spawn(move || call(&offload, 1))
        });
        call(&offload, 0);
        if let Some(other) = other {
            other.join().expect("caller");
        }
        offload.close();
        server.join().expect("server");
        // No thread serves now, so this shows what was served.
        let mut served = [0; 2];
        assert!(offload.serve(|done| {
            served = *done;
            false
        }));
        assert_eq!(served[..callers], [posts; 2][..callers], "served before the end");
    }
}

/// Posts, and closes right behind.
fn posted_and_closed() {
    let offload = Arc::new(Offload::new(0_u32, WaitPolicy::PARK_AT_ONCE));
    let server = Arc::clone(&offload);
    let server = thread::spawn(move || assert!(server.serve(|_| false)));
    offload.post(|done| *done += 1);
    offload.post(|done| *done += 1);
    offload.close();
    server.join().expect("server");
    let mut served = 0;
    assert!(offload.serve(|done| {
        served = *done;
        false
    }));
    assert_eq!(served, 2, "served before the end");
}

/// What wakes the only thread that serves an offload.
#[derive(Debug)]
struct Desk {
    roster: Arc<Roster>,
    door: Arc<Doorbell>,
}

impl Waker for Desk {
    fn wake(&self) {
        self.roster.ring(0, &self.door);
    }
}

/// An offload that is served in turns, by a thread that sleeps on a roster.
fn served_in_turns() {
    let (roster, door) = (Arc::new(Roster::new(1, WaitPolicy::PARK_AT_ONCE)), Arc::new(Doorbell::default()));
    let desk = Desk { roster: Arc::clone(&roster), door: Arc::clone(&door) };
    let offload = offload::Offload::<u32, Native, Desk>::with_waker(0, desk, WaitPolicy::PARK_AT_ONCE);
    let offload = Arc::new(offload);
    let served = Arc::clone(&offload);
    let server = thread::spawn(move || {
        let turn = || {
            let Some(mut turn) = served.take_turn() else {
                // A caller has the turn.
                thread::yield_now();
                return true;
            };
            turn.serve_posted() != Served::Nothing
        };
        loop {
            let closed = served.is_closed();
            if turn() {
                continue;
            }
            if closed {
                return;
            }
            roster.sleep(0, &door, None, |_| served.is_closed() || turn());
        }
    });
    offload.post(|done| *done += 1);
    assert_eq!(offload.run(|done| *done), 1, "in order");
    offload.close();
    server.join().expect("server");
}

#[test]
fn one_caller() {
    explore(Some(3), served(1, 1));
}

#[test]
fn two_callers() {
    explore(Some(1), served(2, 1));
}

#[test]
fn closing_behind_posts() {
    explore(Some(3), posted_and_closed);
}

/// Two want to serve: one does, or one after the other.
#[test]
fn one_serves() {
    explore(Some(3), || {
        let offload = Arc::new(Offload::new(0_u32, WaitPolicy::PARK_AT_ONCE));
        offload.post(|done| *done += 1);
        offload.close();
        let other = Arc::clone(&offload);
        let other = thread::spawn(move || other.serve(|_| false));
        let served = offload.serve(|_| false);
        assert!(other.join().expect("server") || served);
    });
}

/// No thread serves: the posts of two threads are run when the offload is dropped, those of each in order.
#[test]
fn the_rest_is_run_at_the_end() {
    explore(None, || {
        let done = Arc::new(loom::sync::Mutex::new([0_u32; 2]));
        let offload = Arc::new(Offload::new((), WaitPolicy::PARK_AT_ONCE));
        let post = |caller: usize| {
            let (offload, done) = (Arc::clone(&offload), Arc::clone(&done));
            thread::spawn(move || {
                for number in 0..2 {
                    let done = Arc::clone(&done);
                    offload.post(move |()| {
                        let mut done = done.lock().expect("not poisoned");
                        assert_eq!(done[caller], number, "out of order");
                        done[caller] += 1;
                    });
                }
            })
        };
        let posters = [post(0), post(1)];
        for poster in posters {
            poster.join().expect("poster");
        }
        assert_eq!(*done.lock().expect("not poisoned"), [0, 0], "no thread serves");
        drop(offload);
        assert_eq!(*done.lock().expect("not poisoned"), [2, 2], "left behind");
    });
}

#[test]
fn an_offload_served_in_turns() {
    explore(Some(2), served_in_turns);
}

with_fault!(a_server_that_sleeps_without_a_check_is_found, served(1, 1));

with_fault!(a_call_without_a_ring_is_found, served(1, 1));

with_fault!(a_server_that_leaves_work_is_found, posted_and_closed);
