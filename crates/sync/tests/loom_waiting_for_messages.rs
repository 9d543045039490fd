//! How a thread of the message path sleeps (`Domain::sleep`), under the model checker: it checks for
//! messages, for room to send and for its own operation, announces itself, checks once more and sleeps; a
//! thread that brings one of these about rings the doorbell.
//!
//! | the sleep ends by | rings |
//! |---|---|
//! | a message, which completes the operation | the sender, in another process |
//! | credits: room in the ring for what still has to be sent | the peer that has read |
//! | the operation, completed by another thread of the process, without a message for the sleeper | that thread |
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicBool, AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::{Doorbell, Scope};
use loom::sync::{Arc, Mutex};
use loom::thread;
use model::{DEADLOCK, explore, must_fail, with_fault};

/// A process with one VNI: a slot of a ring that is read, one that is written, and an operation
/// that a thread waits for.
struct Process {
    doorbell: Doorbell,
    /// The slot of the ring from the peer: whether there is a message, and its data.
    slot: AtomicBool,
    data: UnsafeCell<u32>,
    /// Free slots of the ring to the peer.
    credits: AtomicU32,
    /// The critical section of the VNI: messages that wait for room.
    backlog: Mutex<u32>,
    /// The operation's state and result.
    complete: AtomicBool,
    outcome: UnsafeCell<u32>,
}

impl Process {
    fn new(backlog: u32) -> Arc<Process> {
        Arc::new(Process {
            doorbell: Doorbell::default(),
            slot: AtomicBool::new(false),
            data: UnsafeCell::new(0),
            credits: AtomicU32::new(0),
            backlog: Mutex::new(backlog),
            complete: AtomicBool::new(false),
            outcome: UnsafeCell::new(0),
        })
    }

    /// The peer sends a message.
    fn message(&self) {
        // SAFETY: the slot is empty, and there is one sender.
        self.data.with_mut(|data| unsafe { *data = 7 });
        self.slot.store(true, Ordering::Release);
        self.doorbell.ring(Scope::Machine);
    }

    /// The peer has read a message of this process, and says so.
    fn credits_come_back(&self, ringing: bool) {
        self.credits.fetch_add(1, Ordering::Release);
        if ringing {
            self.doorbell.ring(Scope::Machine);
        }
    }

    /// Completes the operation. The caller has taken the message or the room that completes it.
    fn finish(&self, outcome: u32) {
        // SAFETY: the operation is active, and the caller's.
        self.outcome.with_mut(|place| unsafe { *place = outcome });
        self.complete.store(true, Ordering::Release);
    }

    /// Polls for progress. Returns whether anything happened.
    fn poll(&self) -> bool {
        let mut backlog = self.backlog.lock().expect("not poisoned");
        let mut happened = false;
        if self.slot.load(Ordering::Acquire) {
            // SAFETY: the sender has written it before it said so.
            let data = self.data.with(|data| unsafe { *data });
            self.slot.store(false, Ordering::Relaxed);
            self.finish(data);
            happened = true;
        }
        if *backlog != 0 && self.credits.load(Ordering::Acquire) != 0 {
            self.credits.fetch_sub(1, Ordering::Relaxed);
            *backlog -= 1;
            if *backlog == 0 {
                self.finish(7);
            }
            happened = true;
        }
        if happened {
            self.doorbell.ring(Scope::Machine);
        }
        happened
    }

    fn is_over(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Waits for the operation as `Domain::wait_slowly` does once it has polled in vain for long.
    fn wait(&self) {
        while !self.is_over() {
            let check = || self.poll() || self.is_over();
            if let Some(ticket) = self.doorbell.prepare_unless(Scope::Machine, check) {
                ticket.park(None);
            }
        }
        // SAFETY: written before the operation was complete, and never again.
        let outcome = self.outcome.with(|outcome| unsafe { *outcome });
        assert_eq!(outcome, 7);
    }

    /// Another thread of the process takes a large message, if there is one, and copies it outside of the
    /// critical section. The sleeper's check finds nothing meanwhile.
    fn copy_outside(&self, ringing: bool) {
        let taken = {
            let _inside = self.backlog.lock().expect("not poisoned");
            let taken = self.slot.load(Ordering::Acquire);
            if taken {
                self.slot.store(false, Ordering::Relaxed);
            }
            taken
        };
        if taken {
            self.finish(7);
            if ringing {
                self.doorbell.ring(Scope::Machine);
            }
        }
    }
}

/// The caller waits while the others act, each in a thread.
fn waiting(backlog: u32, others: &[fn(&Process)]) {
    let process = Process::new(backlog);
    let others: Vec<_> = others
        .iter()
        .map(|&other| {
            let process = Arc::clone(&process);
            thread::spawn(move || other(&process))
        })
        .collect();
    process.wait();
    others.into_iter().for_each(|other| other.join().expect("not panicked"));
}

#[test]
fn a_message_ends_the_sleep() {
    explore(None, || waiting(0, &[|process| process.message()]));
}

#[test]
fn credits_that_come_back_end_the_sleep() {
    explore(None, || waiting(1, &[|process| process.credits_come_back(true)]));
}

#[test]
fn room_that_comes_in_two_pieces_is_seen_twice() {
    explore(Some(3), || {
        waiting(
            2,
            &[|process| {
                process.credits_come_back(true);
                process.credits_come_back(true);
            }],
        );
    });
}

#[test]
fn a_completion_by_another_thread_ends_the_sleep() {
    explore(Some(2), || waiting(0, &[Process::message, |process| process.copy_outside(true)]));
}

#[test]
fn an_operation_that_the_program_completes_ends_the_sleep() {
    explore(None, || {
        waiting(
            0,
            &[|process| {
                {
                    let _inside = process.backlog.lock().expect("not poisoned");
                    process.finish(7);
                }
                process.doorbell.ring(Scope::Machine);
            }],
        );
    });
}

with_fault!(a_sleeper_that_checks_first_is_found, || waiting(0, &[Process::message]));

with_fault!(a_sleeper_that_checks_for_room_first_is_found, || {
    waiting(1, &[|process| process.credits_come_back(true)]);
});

with_fault!(a_sleeper_without_a_fence_is_found, || {
    waiting(1, &[|process| process.credits_come_back(true)]);
});

must_fail!(credits_that_come_back_silently_are_found, DEADLOCK, || {
    waiting(1, &[|process| process.credits_come_back(false)]);
});

must_fail!(a_completion_without_a_ring_is_found, DEADLOCK, || {
    waiting(0, &[Process::message, |process| process.copy_outside(false)]);
});

must_fail!(
    /// The check leaves out the operation, and so misses its completion by another thread.
    a_check_for_messages_alone_is_found,
    DEADLOCK,
    || {
        let process = Process::new(0);
        let other = Arc::clone(&process);
        let other = thread::spawn(move || {
            {
                let _inside = other.backlog.lock().expect("not poisoned");
                other.finish(7);
            }
            other.doorbell.ring(Scope::Machine);
        });
        while !process.is_over() {
            if let Some(ticket) = process.doorbell.prepare_unless(Scope::Machine, || process.poll()) {
                ticket.park(None);
            }
        }
        other.join().expect("not panicked");
    }
);
