//! A machine whose threads are threads of the host that wait for the token.

use super::ByHand;
use crate::shared::{SUPERVISOR, SharedLab, State};
use crate::thread::Thread;
use heddle_platform::atomic::{AtomicBool, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// What a thread does in its turns.
pub(crate) type Program = Box<dyn FnOnce(&mut Running<'_>) + Send>;

/// A thread in its turn.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    pub(crate) thread: &'a mut Thread,
    pub(crate) lab: &'a mut SharedLab,
}

/// The token comes back sooner on any host; a test that would wait for ever fails.
const LONGEST: Duration = Duration::from_secs(120);

struct Address(*mut SharedLab);
// SAFETY: the machine is used by the holder of the token.
unsafe impl Send for Address {}

/// Runs the programs on `lab`, each in a thread near its core that begins at its time, until all have ended.
pub(crate) fn run(lab: &mut ByHand, programs: Vec<(u32, u64, Program)>) {
    let has_failed = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::new();
    for (core, at, program) in programs {
        let slot = lab.thread(core, at);
        let (address, has_failed) = (Address(lab.for_real_threads().lab()), Arc::clone(&has_failed));
        threads.push(std::thread::spawn(move || {
            let address = address;
            // SAFETY: mapped until all threads have ended. As a program's threads do, this one uses it while
            // it has the token.
            let lab = unsafe { &mut *address.0 };
            let mut thread = Thread::new(slot, 0);
            thread.begin(lab);
            let body = || program(&mut Running { thread: &mut thread, lab });
            if catch_unwind(AssertUnwindSafe(body)).is_ok() {
                thread.end(lab);
            } else {
                has_failed.store(true, Ordering::Release);
                lab.token.hand_to(SUPERVISOR);
            }
        }));
    }
    supervise(lab, &has_failed);
    for thread in threads {
        thread.join().expect("programs catch their panics");
    }
}

fn supervise(lab: &mut ByHand, has_failed: &AtomicBool) {
    loop {
        for slot in 0..lab.used {
            if lab.slots[slot as usize].state == State::Outside {
                lab.ask(slot);
                await_token(lab, has_failed);
            }
        }
        lab.end_asking();
        let earliest = lab.earliest().map_or(0, |(_, clock)| clock);
        lab.asked = lab.asked.max(lab.now).max(earliest);
        if !lab.let_run() {
            if lab.outside > 0 {
                continue;
            }
            let left: Vec<u32> =
                (0..lab.used).filter(|slot| lab.slots[*slot as usize].state != State::Free).collect();
            assert!(left.is_empty(), "nobody can run, and {left:?} have not ended");
            return;
        }
        await_token(lab, has_failed);
    }
}

fn await_token(lab: &SharedLab, has_failed: &AtomicBool) {
    let has_come = lab.token.wait_for(SUPERVISOR, LONGEST);
    assert!(!has_failed.load(Ordering::Acquire), "a thread has failed: its message is above");
    assert!(has_come, "the token has not come back from {}", lab.token.holder());
}
