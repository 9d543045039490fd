//! The lock of a section: what a model's arbitration and bias make of it.

use crate::choice::{Arbitration, Model};
use crate::counters::Row;
use crate::path::Path;
use heddle_platform::clock;
use heddle_sync::kinds::{AnyLock, LockSettings, pair_of};
use heddle_sync::two_level::Class;
use heddle_sync::{Biased, RawLock, TwoLevel, WaitPolicy};
use std::sync::Arc;

/// A section's lock. Copies stand for the same section.
#[derive(Clone, Debug)]
pub(crate) enum SectionLock {
    Biased(Arc<Biased<AnyLock>>),
    Plain(Arc<AnyLock>),
    Priority(Arc<TwoLevel<AnyLock, AnyLock>>),
}

/// What an entry hands to the exit: how the lock was acquired. One byte, since every operation keeps it while
/// it runs.
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
        let settings = LockSettings {
            policy: WaitPolicy::DEFAULT,
            cohort_threshold: model.cohort_threshold,
            low_bound: model.low_bound,
        };
        match model.arbitration {
            Arbitration::One(kind) if model.bias => {
                SectionLock::Biased(Arc::new(Biased::new(AnyLock::new(kind, &settings), settings.policy)))
            }
            Arbitration::One(kind) => SectionLock::Plain(Arc::new(AnyLock::new(kind, &settings))),
            Arbitration::Priority(main, progress) => {
                SectionLock::Priority(Arc::new(pair_of(main, progress, &settings)))
            }
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
        let token = self.attempt(path);
        if token.is_none() {
            row.refused();
        }
        token
    }

    /// As [`try_enter`](Self::try_enter), and neither success nor failure is counted.
    #[inline(always)]
    pub(crate) fn attempt(&self, path: Path) -> Option<SectionToken> {
        match self {
            SectionLock::Biased(lock) if lock.enter_as_owner() => Some(SectionToken::Owner),
            _ => self.attempt_unbiased(path),
        }
    }

    #[inline(never)]
    fn attempt_unbiased(&self, path: Path) -> Option<SectionToken> {
        match (self, path) {
            (SectionLock::Biased(lock), _) => lock.try_acquire().map(SectionToken::of_biased),
            (SectionLock::Plain(lock), _) => lock.try_acquire().map(|()| SectionToken::Plain),
            (SectionLock::Priority(lock), Path::Main) => lock.try_acquire_high().map(SectionToken::of_class),
            (SectionLock::Priority(lock), Path::Progress) => {
                lock.try_acquire_low().map(SectionToken::of_class)
            }
        }
    }

    /// As [`try_enter`](Self::try_enter) on the progress path, by a thread that polls now and then
    /// ([`Biased::try_visit`]).
    pub(crate) fn try_visit(&self, row: Row) -> Option<SectionToken> {
        let SectionLock::Biased(lock) = self else { return self.try_enter(Path::Progress, row) };
        let Some(token) = lock.try_visit() else {
            row.refused();
            return None;
        };
        row.entered(Path::Progress);
        Some(SectionToken::of_biased(token))
    }

    /// Waits for at most `patience_ns`, where the kind of lock lets its waiters give up; else only tries.
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
            // SAFETY: the caller's promise.
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
            // SAFETY: the caller's promise.
            (SectionLock::Plain(lock), SectionToken::Plain, _) => unsafe { lock.release(()) },
            // SAFETY: the caller's promise.
            (SectionLock::Priority(lock), _, Some(class)) => unsafe { lock.release(class) },
            _ => unreachable!("a token of another section"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_sync::kinds::LockName;

    /// The type of the lock that a model has, written as [`LockName::type_name`] writes it.
    fn type_name(lock: &SectionLock) -> String {
        match lock {
            SectionLock::Biased(lock) => {
                format!("heddle_sync::locks::biased::Biased<{}>", lock.under().type_name())
            }
            SectionLock::Plain(lock) => lock.type_name().to_owned(),
            SectionLock::Priority(lock) => {
                let (high, low) = (lock.high().type_name(), lock.low().type_name());
                format!("heddle_sync::locks::two_level::TwoLevel<{high}, {low}>")
            }
        }
    }

    /// A name of the catalogue means the same lock here as for C and for the benchmarks.
    #[test]
    fn a_model_can_have_every_lock_of_the_catalogue() {
        for lock in LockName::all() {
            let (bias, name) = match lock.name().strip_prefix("biased-") {
                Some(under) => (true, under),
                None => (false, lock.name()),
            };
            let arbitration = name.parse().expect("an arbitration");
            let model = Model { arbitration, bias, ..Model::default() };
            assert_eq!(type_name(&SectionLock::new(&model)), lock.type_name(), "{}", lock.name());
        }
    }
}
