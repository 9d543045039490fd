//! The kinds of locks by name. To offer a lock to C is to add a line to [`KINDS`].

use crate::held::{AnyLock, Held};
use heddle_sync::{AbortableMcs, Biased, Clh, Fissile, Mcs, Mutex, RawLock, Ticket, TimedLock, TwoLevel};
use std::ffi::CStr;

/// A kind of lock.
#[derive(Debug)]
pub struct LockKind {
    /// Its name.
    pub name: &'static str,
    /// Whether its waiters may give up.
    pub is_timed: bool,
    make: fn() -> Box<dyn AnyLock>,
}

impl LockKind {
    const fn plain<L: RawLock + Default + 'static>(name: &'static str) -> Self {
        Self { name, is_timed: false, make: || Box::new(Held::<L>::plain()) }
    }

    const fn timed<L: TimedLock + Default + 'static>(name: &'static str) -> Self {
        Self { name, is_timed: true, make: || Box::new(Held::<L>::timed()) }
    }

    const fn classes<H, L>(name: &'static str) -> Self
    where
        H: RawLock + Default + 'static,
        L: RawLock<Platform = H::Platform> + Default + 'static,
    {
        Self { name, is_timed: false, make: || Box::new(Held::<TwoLevel<H, L>>::classes()) }
    }

    const fn timed_classes<H, L>(name: &'static str) -> Self
    where
        H: TimedLock + Default + 'static,
        L: TimedLock<Platform = H::Platform> + Default + 'static,
    {
        Self { name, is_timed: true, make: || Box::new(Held::<TwoLevel<H, L>>::timed_classes()) }
    }

    /// A new lock of this kind.
    #[must_use]
    pub fn make(&self) -> Box<dyn AnyLock> {
        (self.make)()
    }
}

/// All kinds.
pub const KINDS: &[LockKind] = &[
    LockKind::plain::<Mutex>("mutex"),
    LockKind::plain::<Biased<Mutex>>("biased-mutex"),
    LockKind::plain::<Ticket>("ticket"),
    LockKind::plain::<Mcs>("mcs"),
    LockKind::timed::<Clh>("clh"),
    LockKind::timed::<AbortableMcs>("abortable-mcs"),
    LockKind::plain::<Fissile<Mcs>>("fissile-mcs"),
    LockKind::classes::<Mutex, Mutex>("p-mutex-mutex"),
    LockKind::classes::<Mcs, Mcs>("p-mcs-mcs"),
    LockKind::timed_classes::<AbortableMcs, AbortableMcs>("p-abortable-mcs-abortable-mcs"),
];

/// The names of those kinds that `which` picks, for a sentence.
pub(crate) fn names(which: impl Fn(&LockKind) -> bool) -> String {
    let names: Vec<&str> = KINDS.iter().filter(|kind| which(kind)).map(|kind| kind.name).collect();
    names.join(", ")
}

/// The names in [`KINDS`], for C.
pub const NAMES: &CStr = c"mutex biased-mutex ticket mcs clh abortable-mcs fissile-mcs p-mutex-mutex p-mcs-mcs p-abortable-mcs-abortable-mcs";

#[cfg(test)]
mod tests {
    use super::{KINDS, NAMES};
    use crate::Status;
    use crate::held::{Class, Patience};

    #[test]
    fn the_names_for_c_are_those_of_the_list() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(NAMES.to_str(), Ok(names.join(" ").as_str()));
    }

    #[test]
    fn every_kind_knows_its_holder() {
        for kind in KINDS {
            let lock = kind.make();
            for class in [Class::High, Class::Low] {
                assert!(matches!(lock.acquire(class, Patience::Endless), Ok(Status::Ok)));
                assert!(lock.is_held());
                assert!(matches!(lock.acquire(class, Patience::None), Ok(Status::Busy)));
                let again = lock.acquire(class, Patience::Endless).expect_err("it is held by this thread");
                assert_eq!(again.status, Status::WouldDeadlock);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        assert!(matches!(lock.acquire(class, Patience::None), Ok(Status::Busy)));
                        let failure = lock.release().expect_err("it is held by another thread");
                        assert_eq!(failure.status, Status::NotHolder);
                    });
                });
                assert!(lock.release().is_ok());
                assert!(lock.release().is_err());
                assert!(!lock.is_held());
            }
        }
    }

    #[test]
    fn a_kind_waits_for_a_time_or_says_that_it_cannot() {
        for kind in KINDS {
            let lock = kind.make();
            assert!(lock.acquire(Class::High, Patience::Endless).is_ok());
            std::thread::scope(|scope| {
                scope.spawn(|| match lock.acquire(Class::High, Patience::Until(0)) {
                    Ok(status) => assert_eq!((status, kind.is_timed), (Status::TimedOut, true)),
                    Err(failure) => {
                        assert_eq!((failure.status, kind.is_timed), (Status::NotSupported, false));
                        assert!(failure.words.contains("abortable-mcs"), "{}", failure.words);
                    }
                });
            });
            assert!(lock.release().is_ok());
        }
    }
}
