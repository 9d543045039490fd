//! The section that every MPI call enters.

use super::lock::{SectionLock, SectionToken};
use crate::choice::{Granularity, Model};
use crate::counters::{Row, Section, work};
use crate::path::Path;
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    /// How many MPI calls this thread is inside of: user callbacks may call MPI again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// How the call section was entered, while this thread holds it.
    static ENTRY: Cell<Option<Entry>> = const { Cell::new(None) };
}

/// An entry into the call section.
struct Entry {
    token: SectionToken,
    path: Path,
    /// The work that this thread had done before.
    work_before: u64,
}

/// The section that every MPI call enters: a lock under the `global` granularity, nothing otherwise.
#[derive(Debug)]
pub struct CallSection {
    lock: Option<SectionLock>,
}

impl Model {
    /// The section that every MPI call enters. `threads` says whether several threads may call at once.
    pub fn call_section(&self, threads: bool) -> CallSection {
        CallSection::new((threads && self.granularity == Granularity::Global).then(|| SectionLock::new(self)))
    }
}

impl CallSection {
    fn new(lock: Option<SectionLock>) -> CallSection {
        CallSection { lock }
    }

    /// Whether there is a lock: a call that waits keeps the others out as long as it stays inside.
    #[inline(always)]
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Runs the body of a call inside. Calls may be nested: user callbacks may call MPI again.
    #[inline(always)]
    pub fn inside<R>(&self, body: impl FnOnce() -> R) -> R {
        if let Some(lock) = &self.lock {
            enter(lock);
        }
        let result = body();
        // Asked anew: otherwise the compiler makes two copies of the body, for either answer, or calls it for
        // its size.
        if let Some(lock) = black_box(&self.lock) {
            leave(lock);
        }
        result
    }

    /// Runs `wait`, during which this thread needs nothing of the library, outside of the section. It comes
    /// back as one that waits for progress.
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

    /// Within [`outside`](Self::outside): runs `look` inside again, as a thread that waits for progress.
    #[inline(always)]
    pub fn back_inside<R>(&self, look: impl FnOnce() -> R) -> R {
        match &self.lock {
            Some(lock) if DEPTH.get() > 0 => {
                acquire(lock, Path::Progress);
                let result = look();
                release(lock);
                result
            }
            _ => look(),
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
    // SAFETY: the token stands for this thread's entry.
    unsafe { lock.leave(entry.token) };
}
