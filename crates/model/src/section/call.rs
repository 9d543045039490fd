//! The critical section that every MPI call enters.

use super::lock::{SectionLock, SectionToken};
use crate::choice::{Granularity, Model};
use crate::counters::{Row, Section, work};
use crate::path::Path;
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    /// The number of MPI calls that this thread is inside of: user callbacks may call MPI again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The thread's entry into the call section, while it holds it.
    static ENTRY: Cell<Option<Entry>> = const { Cell::new(None) };
}

/// An entry into the call section.
struct Entry {
    token: SectionToken,
    path: Path,
    /// The work that the thread had done before the entry.
    work_before: u64,
}

/// The critical section that every MPI call enters: a lock under the `global` granularity, nothing otherwise.
#[derive(Debug)]
pub struct CallSection {
    lock: Option<SectionLock>,
}

impl Model {
    /// The critical section that every MPI call enters. `threads` is true if several
    /// threads may call at once.
    pub fn call_section(&self, threads: bool) -> CallSection {
        CallSection::new(
            (threads && self.granularity == Granularity::Global)
                .then(|| SectionLock::new(self, Row::of(Section::Call))),
        )
    }
}

impl CallSection {
    fn new(lock: Option<SectionLock>) -> CallSection {
        CallSection { lock }
    }

    /// Returns true if there is a lock. Then a call that waits inside keeps all other calls out.
    #[inline(always)]
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Runs the body of a call inside the critical section. Calls may be nested: user
    /// callbacks may call MPI again.
    #[inline(always)]
    pub fn inside<R>(&self, body: impl FnOnce() -> R) -> R {
        if let Some(lock) = &self.lock {
            enter(lock);
        }
        let result = body();
        // The lock is tested a second time. Otherwise the compiler makes two copies of the body, one for each
        // result of the test, or calls the body as a function because it is large.
        if let Some(lock) = black_box(&self.lock) {
            leave(lock);
        }
        result
    }

    /// Runs `wait`, in which the thread uses no state of the library, outside of the critical section.
    /// Afterwards the thread enters again on the progress path.
    #[inline(always)]
    pub fn outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        match &self.lock {
            Some(lock) if DEPTH.get() > 0 => {
                release(lock);
                let result = wait();
                acquire(lock, Path::Progress);
                result
            }
            _ => wait(),
        }
    }

    /// Runs `poll` inside the critical section again, on the progress path. The caller is inside of
    /// [`outside`](Self::outside).
    #[inline(always)]
    pub fn back_inside<R>(&self, poll: impl FnOnce() -> R) -> R {
        match &self.lock {
            Some(lock) if DEPTH.get() > 0 => {
                acquire(lock, Path::Progress);
                let result = poll();
                release(lock);
                result
            }
            _ => poll(),
        }
    }
}

fn enter(lock: &SectionLock) {
    let depth = DEPTH.get();
    if depth == 0 {
        acquire(lock, Path::Main);
    }
    DEPTH.set(depth + 1);
}

fn leave(lock: &SectionLock) {
    let depth = DEPTH.get() - 1;
    DEPTH.set(depth);
    if depth == 0 {
        release(lock);
    }
}

fn acquire(lock: &SectionLock, path: Path) {
    let token = lock.enter(path, Row::of(Section::Call));
    ENTRY.set(Some(Entry { token, path, work_before: work() }));
}

fn release(lock: &SectionLock) {
    let entry = ENTRY.take().expect("a thread inside a call holds the lock");
    Row::of(Section::Call).left_call(entry.path, work() != entry.work_before);
    // SAFETY: the token is that of this thread's entry, which it has not left yet: `ENTRY` held it.
    unsafe { lock.leave(entry.token) };
}
