//! The place of a critical section in the blocks of all threads, and how its entries are counted.

use super::block::{Block, Count};
use super::counted::{CountedEvent, Entry};
use super::registry;
use super::section::Section;
use crate::path::Path;
use heddle_locks::bias::BiasObserver;
use heddle_locks::counted::Near;
use heddle_platform::clock;

/// The place where a critical section is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The offset in bytes of the critical section's line in a block. Invariant: it came
    /// from [`Block::offset_of`].
    offset: u32,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Entries.
    Entries,
    /// Work alone: the critical section is that of the whole call.
    Work,
    /// Nothing, since there are no critical sections.
    Nothing,
}

/// One in `SAMPLED` operations that may be combined is timed: reading a clock for each would cost
/// more than the operation.
const SAMPLED: u64 = 64;

impl Row {
    /// The place where the entries of `section` are counted.
    pub fn of(section: Section) -> Row {
        Row { offset: Block::offset_of(section), what: What::Entries }
    }

    /// The place for state that the critical section of the whole call guards.
    pub fn within_call() -> Row {
        Row { offset: Block::offset_of(Section::Call), what: What::Work }
    }

    /// The place for state that no critical section guards.
    pub fn without_section() -> Row {
        Row { offset: Block::offset_of(Section::Call), what: What::Nothing }
    }

    #[inline(always)]
    fn count(self, entry: Entry) -> &'static Count {
        // SAFETY: the offset came from `Block::offset_of` (its invariant).
        unsafe { registry::mine().entry(self.offset, entry) }
    }

    /// Counts that the calling thread has entered on `path`.
    #[inline(always)]
    pub(crate) fn entered(self, path: Path) {
        let entry = match path {
            Path::Main => Entry::Main,
            Path::Progress => Entry::Progress,
        };
        self.count(entry).add(1);
    }

    /// Counts that the calling thread has only polled, on the main path.
    #[inline]
    pub(crate) fn only_polled(self) {
        if self.what == What::Entries {
            self.count(Entry::Fruitless).add(1);
        }
    }

    /// Counts that the calling thread has found the critical section taken, and goes away.
    #[cold]
    pub(crate) fn refused(self) {
        self.count(Entry::Refused).add(1);
    }

    /// Counts that the calling thread has left out a poll.
    #[cold]
    pub(crate) fn left_out(self) {
        self.count(Entry::LeftOut).add(1);
    }

    /// Enters on `path`, by `attempt` or else by `wait`, which is then timed.
    #[inline(always)]
    pub(crate) fn contend<T>(
        self,
        path: Path,
        attempt: impl FnOnce() -> Option<T>,
        wait: impl FnOnce() -> T,
    ) -> T {
        match attempt() {
            Some(entered) => entered,
            None => self.timed(path, wait),
        }
    }

    /// Enters on `path`, by `wait`, a critical section that was found taken.
    #[inline(never)]
    pub(crate) fn timed<T>(self, path: Path, wait: impl FnOnce() -> T) -> T {
        let since = clock::ticks();
        let entered = wait();
        let waited = clock::ticks().wrapping_sub(since);
        self.count(Entry::contended(path)).add(1);
        self.count(Entry::waited(path)).add(waited);
        entered
    }

    /// Runs `combined`, which runs an operation given to it on `path`, or has another thread run it and waits
    /// for that; `combined` returns which of the two happened.
    #[inline(always)]
    pub(crate) fn combine<R>(self, path: Path, combined: impl FnOnce(&mut bool) -> R) -> R {
        let timed = self.count(Entry::Main).get().is_multiple_of(SAMPLED);
        let since = if timed { clock::ticks() } else { 0 };
        let mut by_another = false;
        let result = combined(&mut by_another);
        if by_another {
            self.count(Entry::contended(path)).add(1);
            if timed {
                self.count(Entry::waited(path)).add(clock::ticks().wrapping_sub(since) * SAMPLED);
            }
        }
        result
    }

    /// Counts that the calling thread has entered after another one, which ran as near as `near` says.
    pub(super) fn handed_over(self, near: Near) {
        self.count(match near {
            Near::HardwareThread | Near::Core => Entry::HandoverCore,
            Near::L3 | Near::Numa | Near::Package => Entry::HandoverPackage,
            Near::Machine => Entry::HandoverMachine,
        })
        .add(1);
    }

    /// Counts that the calling thread has run an operation of another thread.
    #[inline]
    pub(crate) fn ran_for_another(self) {
        self.count(Entry::ForOthers).add(1);
    }

    /// Counts that the last entry of the calling thread, on the progress path, has completed an operation.
    #[inline]
    pub fn completed_something(self) {
        match self.what {
            What::Entries => self.count(Entry::Productive).add(1),
            What::Work => registry::mine().event(CountedEvent::Work).add(1),
            What::Nothing => {}
        }
    }

    /// Counts `times` polls of the calling thread on the progress path; `completed` is true if the last
    /// one completed an operation.
    #[inline(always)]
    pub(crate) fn polled(self, times: u32, completed: bool) {
        match self.what {
            What::Entries => {
                self.count(Entry::Progress).add(u64::from(times));
                self.count(Entry::Productive).add(u64::from(completed));
            }
            What::Work => registry::mine().event(CountedEvent::Work).add(u64::from(completed)),
            What::Nothing => {}
        }
    }

    /// Counts that an operation was issued in state without a separate critical section.
    #[inline]
    pub(crate) fn issued_without_section(self, path: Path) {
        if self.what == What::Work && path == Path::Main {
            registry::mine().event(CountedEvent::Work).add(1);
        }
    }

    /// Counts that the calling thread leaves the critical section of its call, entered on `path`; `worked` is
    /// true if it did anything.
    pub(crate) fn left_call(self, path: Path, worked: bool) {
        match (path, worked) {
            (Path::Progress, true) => self.count(Entry::Productive).add(1),
            (Path::Main, false) => self.count(Entry::Fruitless).add(1),
            _ => {}
        }
    }
}

/// The changes of a lock's bias are counted with the entries.
impl BiasObserver for Row {
    #[cold]
    fn given(&self) {
        self.count(Entry::BiasGiven).add(1);
    }

    #[cold]
    fn revoked(&self) {
        self.count(Entry::BiasRevoked).add(1);
    }
}
