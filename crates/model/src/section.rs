//! The lock of a section: what a model's arbitration and bias make of it.

use crate::choice::{Arbitration, Model};
use crate::counters::Row;
use crate::lock::AnyLock;
use heddle_platform::clock;
use heddle_sync::two_level::Class;
use heddle_sync::{Biased, RawLock, TwoLevel, WaitPolicy};
use std::sync::Arc;

/// Why a section is entered. A two-level priority lock treats the two differently (Amer et al., TOPC 2019, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// To issue an operation.
    Main,
    /// To wait for one.
    Progress,
}

/// A section's lock. Copies stand for the same section.
#[derive(Clone, Debug)]
pub(crate) enum SectionLock {
    Biased(Arc<Biased<AnyLock>>),
    Plain(Arc<AnyLock>),
    Priority(Arc<TwoLevel<AnyLock, AnyLock>>),
}

/// What an entry hands to the exit: how the lock was acquired. One byte, since every operation keeps it while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionToken {
    /// By the bias.
    Owner,
    /// The lock below the bias.
    Under,
    Plain,
    /// In the high class of a two-level lock: as the head of its class, or behind one.
    HighHead,
    High,
    LowHead,
    Low,
}

impl SectionToken {
    #[inline(always)]
    fn of_biased(token: Option<()>) -> SectionToken {
        if token.is_none() { SectionToken::Owner } else { SectionToken::Under }
    }

    fn of_class(class: Class<(), ()>) -> SectionToken {
        match class {
            Class::High(Some(())) => SectionToken::HighHead,
            Class::High(None) => SectionToken::High,
            Class::Low(Some(())) => SectionToken::LowHead,
            Class::Low(None) => SectionToken::Low,
        }
    }

    fn class(self) -> Option<Class<(), ()>> {
        match self {
            SectionToken::HighHead => Some(Class::High(Some(()))),
            SectionToken::High => Some(Class::High(None)),
            SectionToken::LowHead => Some(Class::Low(Some(()))),
            SectionToken::Low => Some(Class::Low(None)),
            _ => None,
        }
    }
}

impl SectionLock {
    pub(crate) fn new(model: &Model) -> SectionLock {
        let policy = WaitPolicy::DEFAULT;
        let lock = |kind| AnyLock::new(kind, policy, model.cohort_threshold);
        match model.arbitration {
            Arbitration::One(kind) if model.bias => {
                SectionLock::Biased(Arc::new(Biased::new(lock(kind), policy)))
            }
            Arbitration::One(kind) => SectionLock::Plain(Arc::new(lock(kind))),
            Arbitration::Priority(main, progress) => SectionLock::Priority(Arc::new(
                TwoLevel::with_low_bound(lock(main), lock(progress), policy, model.low_bound),
            )),
        }
    }

    /// Waits for the section, which is counted in `row`.
    #[inline(always)]
    pub(crate) fn enter(&self, path: Path, row: Row) -> SectionToken {
        let token = match self {
            SectionLock::Biased(lock) => SectionToken::of_biased(lock.acquire_by(|under| {
                row.contend(|| under.try_acquire(), || under.acquire());
            })),
            _ => self.enter_unbiased(path, row),
        };
        row.entered(path);
        token
    }

    #[inline(never)]
    fn enter_unbiased(&self, path: Path, row: Row) -> SectionToken {
        match (self, path) {
            (SectionLock::Biased(lock), _) => SectionToken::of_biased(lock.acquire()),
            (SectionLock::Plain(lock), _) => {
                row.contend(|| lock.try_acquire(), || lock.acquire());
                SectionToken::Plain
            }
            (SectionLock::Priority(lock), Path::Main) => {
                SectionToken::of_class(row.contend(|| lock.try_acquire_high(), || lock.acquire_high()))
            }
            (SectionLock::Priority(lock), Path::Progress) => {
                SectionToken::of_class(row.contend(|| lock.try_acquire_low(), || lock.acquire_low()))
            }
        }
    }

    /// Enters if that needs no waiting.
    #[inline(always)]
    pub(crate) fn try_enter(&self, path: Path, row: Row) -> Option<SectionToken> {
        let token = self.try_enter_uncounted(path, row);
        if token.is_some() {
            row.entered(path);
        }
        token
    }

    /// As [`try_enter`](Self::try_enter), and the entry is not counted.
    #[inline(always)]
    pub(crate) fn try_enter_uncounted(&self, path: Path, row: Row) -> Option<SectionToken> {
        let token = match self {
            SectionLock::Biased(lock) => lock.try_acquire().map(SectionToken::of_biased),
            _ => self.try_enter_unbiased(path),
        };
        if token.is_none() {
            row.refused();
        }
        token
    }

    #[inline(never)]
    fn try_enter_unbiased(&self, path: Path) -> Option<SectionToken> {
        match (self, path) {
            (SectionLock::Biased(lock), _) => lock.try_acquire().map(SectionToken::of_biased),
            (SectionLock::Plain(lock), _) => lock.try_acquire().map(|()| SectionToken::Plain),
            (SectionLock::Priority(lock), Path::Main) => lock.try_acquire_high().map(SectionToken::of_class),
            (SectionLock::Priority(lock), Path::Progress) => {
                lock.try_acquire_low().map(SectionToken::of_class)
            }
        }
    }

    /// As [`try_enter`](Self::try_enter) on the progress path, by who looks in now and then ([`Biased::try_visit`]).
    pub(crate) fn try_visit(&self, row: Row) -> Option<SectionToken> {
        let SectionLock::Biased(lock) = self else { return self.try_enter(Path::Progress, row) };
        let Some(token) = lock.try_visit() else {
            row.refused();
            return None;
        };
        row.entered(Path::Progress);
        Some(SectionToken::of_biased(token))
    }

    /// Waits for at most so long, where the kind of lock lets its waiters give up; else only tries.
    pub(crate) fn enter_within(&self, path: Path, patience_ns: u64, row: Row) -> Option<SectionToken> {
        let SectionLock::Plain(lock) = self else { return self.try_enter(path, row) };
        let wait = || lock.acquire_until(clock::now_ns() + patience_ns);
        if row.contend(|| lock.try_acquire().map(Some), wait).is_none() {
            row.refused();
            return None;
        }
        row.entered(path);
        Some(SectionToken::Plain)
    }

    /// # Safety
    ///
    /// The calling thread is in the section by the entry that gave it `token`.
    #[inline(always)]
    pub(crate) unsafe fn leave(&self, token: SectionToken) {
        match (self, token) {
            // SAFETY: the caller's promise.
            (SectionLock::Biased(lock), SectionToken::Owner) => unsafe { lock.release(None) },
            // SAFETY: as above.
            (_, token) => unsafe { self.leave_otherwise(token) },
        }
    }

    /// # Safety
    ///
    /// As [`leave`](Self::leave).
    #[inline(never)]
    unsafe fn leave_otherwise(&self, token: SectionToken) {
        match (self, token, token.class()) {
            // SAFETY: the caller's promise.
            (SectionLock::Biased(lock), SectionToken::Under, _) => unsafe { lock.release(Some(())) },
            // SAFETY: as above.
            (SectionLock::Plain(lock), SectionToken::Plain, _) => unsafe { lock.release(()) },
            // SAFETY: as above.
            (SectionLock::Priority(lock), _, Some(class)) => unsafe { lock.release(class) },
            _ => unreachable!("a token of another section"),
        }
    }
}
