//! The catalogue of locks for C: its names, and a lock of each.

use crate::held::{AnyLock, Held};
use heddle_locks::kinds::{LockName, LockSettings, Recipe, Visitor};
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

/// A new lock with that name.
#[must_use]
pub fn make(name: LockName) -> Box<dyn AnyLock> {
    struct Make;
    impl Visitor for Make {
        type Output = Box<dyn AnyLock>;

        fn visit<R: Recipe>(self) -> Box<dyn AnyLock> {
            Box::new(Held::<R>::new(&LockSettings::default()))
        }
    }
    name.visit(Make)
}

/// All names, separated by blanks.
pub(crate) fn names() -> &'static CStr {
    static NAMES: OnceLock<CString> = OnceLock::new();
    NAMES.get_or_init(|| {
        let names: Vec<&str> = LockName::all().map(LockName::name).collect();
        CString::new(names.join(" ")).expect("names have no NUL")
    })
}

#[cfg(test)]
mod tests {
    use super::{make, names};
    use crate::Status;
    use crate::held::WaitClass;
    use heddle_c_interface::Patience;
    use heddle_locks::kinds::LockName;

    #[test]
    fn the_names_for_c_are_those_of_the_catalogue() {
        let known: Vec<&str> = LockName::all().map(LockName::name).collect();
        assert_eq!(names().to_str(), Ok(known.join(" ").as_str()));
    }

    #[test]
    fn the_header_names_every_kind() {
        let header = include_str!("../include/heddle_sync.h");
        let (comment, _) = header.split_once("heddle_lock_kinds").expect("the function");
        for name in LockName::all().map(LockName::name) {
            // `strict-X` and `p-X-Y` are described together.
            if !name.starts_with("strict-") && !name.starts_with("p-") {
                assert!(
                    comment.contains(&format!("`{name}`")),
                    "the comment of heddle_lock_kinds (crates/sync-c/src/lock.rs) says nothing of {name}, or the \
                     header is older: HEDDLE_UPDATE_HEADER=1 cargo test -p heddle-sync-c --test header"
                );
            }
        }
    }

    #[test]
    fn every_kind_knows_its_holder() {
        for kind in LockName::all() {
            let lock = make(kind);
            for class in [WaitClass::High, WaitClass::Low] {
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
        for kind in LockName::all() {
            let lock = make(kind);
            assert!(lock.acquire(WaitClass::High, Patience::Endless).is_ok());
            std::thread::scope(|scope| {
                scope.spawn(|| match lock.acquire(WaitClass::High, Patience::Until(0)) {
                    Ok(status) => assert_eq!((status, kind.is_timed()), (Status::TimedOut, true)),
                    Err(failure) => {
                        assert_eq!((failure.status, kind.is_timed()), (Status::NotSupported, false));
                        assert!(failure.words.contains("abortable-mcs"), "{}", failure.words);
                    }
                });
            });
            assert!(lock.release().is_ok());
        }
    }
}
