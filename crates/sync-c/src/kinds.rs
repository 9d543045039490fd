//! The kinds of locks by name. To offer a lock to C is to add a line to [`KINDS`].

use crate::held::{AnyLock, Held};
use heddle_sync::abortable_mcs::StrictAbortableMcs;
use heddle_sync::clh::StrictClh;
use heddle_sync::hmcs::{StrictHmcs, Tree};
use heddle_sync::mcs::StrictMcs;
use heddle_sync::ticket::StrictTicket;
use heddle_sync::{
    AbortableMcs, Biased, Clh, Hmcs, Mcs, Mutex, Native, RawLock, Ticket, TwoLevel, WaitPolicy,
};
use heddle_topology::{Kind, Topology};
use std::ffi::CStr;
use std::sync::OnceLock;

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
    /// A new lock of this kind.
    #[must_use]
    pub fn make(&self) -> Box<dyn AnyLock> {
        (self.make)()
    }
}

/// A line of the list: name, what [`Held`] makes of the lock, and the lock.
macro_rules! kind {
    ($name:literal, plain, $lock:expr) => {
        LockKind { name: $name, is_timed: false, make: || Box::new(Held::plain($lock)) }
    };
    ($name:literal, timed, $lock:expr) => {
        LockKind { name: $name, is_timed: true, make: || Box::new(Held::timed($lock)) }
    };
    ($name:literal, classes, $high:expr, $low:expr) => {
        LockKind { name: $name, is_timed: false, make: || Box::new(Held::classes(two($high, $low))) }
    };
    ($name:literal, timed_classes, $high:expr, $low:expr) => {
        LockKind { name: $name, is_timed: true, make: || Box::new(Held::timed_classes(two($high, $low))) }
    };
}

fn two<H: RawLock, L: RawLock<Platform = H::Platform>>(high: H, low: L) -> TwoLevel<H, L> {
    TwoLevel::new(high, low, WaitPolicy::DEFAULT)
}

/// This machine for HMCS, or one of which nothing is known.
fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| match Topology::of_machine() {
        Ok(topology) => Tree::from_places(topology.places(Kind::Core)),
        Err(_) => Tree::flat(),
    })
}

fn hmcs() -> Hmcs {
    Hmcs::new(tree(), WaitPolicy::DEFAULT)
}

/// How to wait in the locks of the two classes, which have the two-level lock's word before them.
const APART: WaitPolicy = WaitPolicy::DEFAULT.apart();

fn class_mcs() -> StrictMcs<Native> {
    StrictMcs::new(APART)
}

fn class_hmcs() -> StrictHmcs<Native> {
    StrictHmcs::new(tree(), APART)
}

/// All kinds.
pub const KINDS: &[LockKind] = &[
    kind!("mutex", timed, Mutex::default()),
    kind!("biased-mutex", plain, Biased::<Mutex>::default()),
    kind!("ticket", plain, Ticket::default()),
    kind!("mcs", plain, Mcs::default()),
    kind!("clh", timed, Clh::default()),
    kind!("abortable-mcs", timed, AbortableMcs::default()),
    kind!("hmcs", timed, hmcs()),
    kind!("strict-ticket", plain, StrictTicket::<Native>::default()),
    kind!("strict-mcs", plain, StrictMcs::<Native>::default()),
    kind!("strict-clh", timed, StrictClh::<Native>::default()),
    kind!("strict-abortable-mcs", timed, StrictAbortableMcs::<Native>::default()),
    kind!("strict-hmcs", timed, StrictHmcs::<Native>::new(tree(), WaitPolicy::DEFAULT)),
    kind!("p-mutex-mutex", timed_classes, Mutex::default(), Mutex::default()),
    kind!("p-mcs-mcs", classes, class_mcs(), class_mcs()),
    kind!("p-hmcs-mcs", classes, class_hmcs(), class_mcs()),
    kind!("p-hmcs-abortable-mcs", timed_classes, class_hmcs(), StrictAbortableMcs::<Native>::new(APART)),
];

/// The names of those kinds that `which` picks, for a sentence.
pub(crate) fn names(which: impl Fn(&LockKind) -> bool) -> String {
    let names: Vec<&str> = KINDS.iter().filter(|kind| which(kind)).map(|kind| kind.name).collect();
    names.join(", ")
}

/// The names in [`KINDS`], for C.
pub const NAMES: &CStr =
    c"mutex biased-mutex ticket mcs clh abortable-mcs hmcs strict-ticket strict-mcs strict-clh strict-abortable-mcs \
      strict-hmcs p-mutex-mutex p-mcs-mcs p-hmcs-mcs p-hmcs-abortable-mcs";

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
