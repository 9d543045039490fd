//! Probers under the model checker: each sleeper is signalled, once, and no thread signals a watcher that is
//! gone.

use super::{Asleep, Probers};
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WaitPolicy, Watcher};
use loom::sync::{Arc, Mutex};
use loom::thread::{self, JoinHandle};

/// The matching of a VNI: messages that have come, and threads that wait for them.
#[derive(Default)]
struct Matching {
    messages: Vec<u32>,
    probers: Probers<u32>,
}

type Section = Arc<Mutex<Matching>>;

fn inside<R>(section: &Section, operation: impl FnOnce(&mut Matching) -> R) -> R {
    operation(&mut section.lock().expect("not poisoned"))
}

fn arrive(section: &Section, message: u32) {
    inside(section, |matching| {
        matching.messages.push(message);
        matching.probers.tell(|key| *key == message);
    });
}

/// Sleeps until the message comes, or does not wait for it.
fn probe(section: &Section, key: u32, waits: bool) {
    let watcher = Watcher::for_all();
    let add = |prober| {
        inside(section, |matching| {
            let wait = !matching.messages.contains(&key);
            if wait {
                // SAFETY: expected; and removed below, before it leaves and goes.
                unsafe { matching.probers.add(key, prober) };
            }
            wait
        })
    };
    if Asleep::watch(&watcher, add) == Watch::Set && waits {
        watcher.counter().wait(&WaitPolicy::PARK_AT_ONCE);
    }
    if waits {
        inside(section, |matching| assert!(matching.messages.contains(&key), "woken for nothing"));
    }
    Asleep::unwatch(&watcher, |prober| inside(section, |matching| matching.probers.remove(prober)));
    watcher.leave(&WaitPolicy::PARK_AT_ONCE);
    assert_eq!(watcher.counter().missing(), 0);
}

/// Messages come, one after the other, while probers wait for message 1 or give up.
fn probers_and_messages(messages: &'static [u32], others: &'static [bool], waits: bool) {
    let section = Section::default();
    let others: Vec<JoinHandle<()>> = others
        .iter()
        .map(|waits| {
            let section = Arc::clone(&section);
            thread::spawn(move || probe(&section, 1, *waits))
        })
        .collect();
    let sender = Arc::clone(&section);
    let sender = thread::spawn(move || messages.iter().for_each(|message| arrive(&sender, *message)));
    probe(&section, 1, waits);
    sender.join().expect("sender");
    others.into_iter().for_each(|other| other.join().expect("prober"));
}

#[test]
fn a_prober_is_told() {
    explore(None, || probers_and_messages(&[1], &[], true));
    explore(Some(3), || probers_and_messages(&[2, 1, 1], &[], true));
    explore(Some(3), || probers_and_messages(&[1], &[true], true));
}

#[test]
fn a_prober_gives_up() {
    explore(None, || probers_and_messages(&[1, 1], &[], false));
    explore(Some(3), || probers_and_messages(&[1], &[true], false));
}

with_fault!(a_signal_expected_late_is_found, || {
    probers_and_messages(&[1], &[], true);
});

with_fault!(a_signalled_prober_that_is_excused_is_found, || {
    probers_and_messages(&[1], &[], false);
});

with_fault!(a_prober_signalled_twice_is_found, || {
    probers_and_messages(&[1, 1], &[], true);
});
