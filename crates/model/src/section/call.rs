//! The critical section that every MPI call enters.

use super::lock::{SectionLock, SectionToken};
use crate::choice::{Granularity, Model};
use crate::counters::{Row, Section, work};
use crate::path::Path;
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    /// The number of MPI calls that this thread is inside of. In a function of the program that a call runs
    /// it counts from 0 again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The thread's entry into the call section, while it holds it.
    static ENTRY: Cell<Option<CallEntry>> = const { Cell::new(None) };
}

/// An entry into the call section.
struct CallEntry {
    token: SectionToken,
    path: Path,
    /// The work that the thread had done before the entry.
    work_before: u64,
}

/// The critical section that every MPI call enters: a lock under the `global` granularity, nothing otherwise.
#[derive(Debug)]
pub struct CallSection {
    lock: Option<SectionLock>,
    /// For how long a test waits before it gives up; 0: it waits until it is inside, like every call.
    test_patience_ns: u64,
}

impl Model {
    /// The critical section that every MPI call enters. `threads` is true if several
    /// threads may call at once.
    pub fn call_section(&self, threads: bool) -> CallSection {
        let lock = (threads && self.granularity == Granularity::Global)
            .then(|| SectionLock::new(self, Row::of(Section::Call)));
        CallSection { lock, test_patience_ns: self.test_patience_ns() }
    }
}

impl CallSection {
    /// Returns true if there is a lock. Then a call that waits inside keeps all other calls out.
    #[inline(always)]
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Runs the body of a call inside the critical section. Calls may be nested: callbacks of events, which
    /// run inside, may call MPI again.
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

    /// Does the same as [`inside`](Self::inside) for a test. If the model lets tests give up and another
    /// thread stays inside for longer than that, runs nothing and returns `None`; but if `must_enter`
    /// returns true, waits.
    #[inline(always)]
    pub fn inside_in_time<R>(
        &self,
        must_enter: impl FnOnce() -> bool,
        body: impl FnOnce() -> R,
    ) -> Option<R> {
        if let Some(lock) = &self.lock {
            if self.test_patience_ns == 0 || must_enter() {
                enter(lock);
            } else if !enter_within(lock, self.test_patience_ns) {
                return None;
            }
        }
        let result = body();
        // As in `inside`.
        if let Some(lock) = black_box(&self.lock) {
            leave(lock);
        }
        Some(result)
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

    /// Runs a function of the program outside of the critical section, as if the thread were in no call: MPI
    /// calls of the function enter it by themselves. Afterwards the thread enters again on the path by which
    /// it was inside.
    #[inline]
    pub fn for_program<R>(&self, function: impl FnOnce() -> R) -> R {
        match (&self.lock, DEPTH.get()) {
            (Some(lock), 1..) => left(lock, function),
            _ => function(),
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

/// Does the same as [`enter`], but returns false if another thread stays inside for `patience_ns`.
fn enter_within(lock: &SectionLock, patience_ns: u64) -> bool {
    let depth = DEPTH.get();
    if depth == 0 {
        let Some(token) = lock.enter_within(Path::Main, patience_ns, Row::of(Section::Call)) else {
            return false;
        };
        ENTRY.set(Some(CallEntry { token, path: Path::Main, work_before: work() }));
    }
    DEPTH.set(depth + 1);
    true
}

fn leave(lock: &SectionLock) {
    let depth = DEPTH.get() - 1;
    DEPTH.set(depth);
    if depth == 0 {
        release(lock);
    }
}

fn left<R>(lock: &SectionLock, function: impl FnOnce() -> R) -> R {
    let depth = DEPTH.replace(0);
    // None for a thread that is outside already, because it waits within its call.
    let path = ENTRY.take().map(|entry| {
        let path = entry.path;
        ENTRY.set(Some(entry));
        release(lock);
        path
    });
    let result = function();
    if let Some(path) = path {
        acquire(lock, path);
    }
    DEPTH.set(depth);
    result
}

fn acquire(lock: &SectionLock, path: Path) {
    let token = lock.enter(path, Row::of(Section::Call));
    ENTRY.set(Some(CallEntry { token, path, work_before: work() }));
}

fn release(lock: &SectionLock) {
    let entry = ENTRY.take().expect("a thread inside a call holds the lock");
    Row::of(Section::Call).left_call(entry.path, work() != entry.work_before);
    // SAFETY: the token is that of this thread's entry, which it has not left yet: `ENTRY` held it.
    unsafe { lock.leave(entry.token) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Bias;
    use crate::counters::{self, CountedEvent};

    fn global() -> CallSection {
        Model { granularity: Granularity::Global, ..Model::default() }.call_section(true)
    }

    /// Makes an MPI call in another thread; returns when it is over.
    fn call_elsewhere(calls: &CallSection) {
        std::thread::scope(|scope| scope.spawn(|| calls.inside(|| ())).join().expect("the call ends"));
    }

    #[test]
    fn a_function_of_the_program_keeps_no_other_thread_out() {
        let calls = global();
        calls.inside(|| {
            calls.for_program(|| call_elsewhere(&calls));
            assert!(ENTRY.take().map(|entry| ENTRY.set(Some(entry))).is_some(), "the thread is inside again");
        });
        call_elsewhere(&calls);
    }

    #[test]
    fn a_test_gives_up_while_another_thread_stays_inside() {
        let model = Model { granularity: Granularity::Global, bias: Bias::None, ..Model::default() };
        let calls = Model { test_patience_us: 1, ..model }.call_section(true);
        let test = || calls.inside_in_time(|| false, || DEPTH.get());
        calls.inside(|| {
            let refused = std::thread::scope(|scope| scope.spawn(test).join().expect("the test ends"));
            assert_eq!(refused, None);
            assert_eq!(test(), Some(2), "a thread that is inside needs not wait");
        });
        assert_eq!(test(), Some(1));
        call_elsewhere(&calls);
    }

    #[test]
    fn a_call_of_such_a_function_enters_by_itself() {
        let calls = global();
        calls.inside(|| {
            calls.for_program(|| {
                assert_eq!(DEPTH.get(), 0);
                calls.inside(|| {
                    assert_eq!(DEPTH.get(), 1);
                    calls.for_program(|| call_elsewhere(&calls));
                });
                call_elsewhere(&calls);
            });
            assert_eq!(DEPTH.get(), 1);
        });
    }

    #[test]
    fn a_call_is_fruitless_unless_it_makes_completes_or_frees_something() {
        let calls = global();
        // In a thread, whose counts no other test changes.
        let test = || {
            let fruitless = || counters::by_place()[counters::place_here()].count(counters::Entry::Fruitless);
            let before = fruitless();
            for event in [CountedEvent::Work, CountedEvent::RequestTaken, CountedEvent::RequestReleased] {
                calls.inside(|| counters::count(event, 1));
                assert_eq!(fruitless(), before, "{event:?}");
            }
            calls.inside(|| ());
            assert_eq!(fruitless(), before + 1);
        };
        std::thread::scope(|scope| scope.spawn(test).join().expect("it does not fail"));
    }

    #[test]
    fn a_thread_that_waits_outside_stays_there() {
        let calls = global();
        calls.inside(|| calls.outside(|| calls.for_program(|| call_elsewhere(&calls))));
        call_elsewhere(&calls);
    }
}
