//! The contenders: the locks of `heddle-locks`, the combining of `heddle-combining`, the other mutexes of
//! this machine, and queues that need no lock.
//!
//! The locks come from the catalogue of `heddle-locks`: a lock that is added there takes part by itself.

use std::any::type_name;
use std::sync::LazyLock;

use heddle_locks::kinds::recipe::{Mutex, Priority, StrictMcs};
use heddle_locks::kinds::{LockName, Order, Recipe, Visitor};

use super::combined::{Dsm, LockQ, Offloaded};
use super::experiments::{self, LockExperiment, Sample};
use super::guarded::{GuardKind, Ours, OursLow};
use super::peers::{ArrayFifo, ParkingLot, SegFifo, Std};
use super::pthread::{Pthread, Unlocked};
use super::team::TeamEffort;

/// The role of a contender: which targets it has, and whether it is compared or compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// A lock of Heddle that lets arrivals overtake.
    Mutex,
    /// A lock of Heddle that serves in some order, in which a running thread may come again for a while.
    Queue,
    /// A lock of Heddle with a strict order. Shown beside the others: such an order cannot be as
    /// fast, and has no targets.
    Strict,
    /// A lock of Heddle with two priority classes.
    TwoLevel,
    /// Operations are handed to the lock's holder, or to a thread.
    Combining,
    /// A mutex of another library: Heddle is compared with the best of these.
    Peer,
    /// Not a lock; shown beside the others.
    Reference,
}

impl Family {
    /// Its name in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Queue => "queue",
            Self::Strict => "strict",
            Self::TwoLevel => "two-level",
            Self::Combining => "combining",
            Self::Peer => "peer",
            Self::Reference => "reference",
        }
    }

    /// Returns true if it is Heddle's.
    pub(crate) fn is_ours(self) -> bool {
        !matches!(self, Self::Peer | Self::Reference)
    }
}

/// Measures one cell: an experiment with a number of threads. `None` if the experiment
/// makes no sense for this kind.
type Measure = fn(LockExperiment, usize, &TeamEffort) -> Option<Sample>;

/// One line of the list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contender {
    /// Its name in tables, the JSON file and on the command line.
    pub(crate) name: &'static str,
    /// Its role.
    pub(crate) family: Family,
    /// Its Rust type.
    pub(crate) type_name: fn() -> &'static str,
    measure: Measure,
}

impl Contender {
    /// Something that guards a value.
    const fn guarding<K: GuardKind>(name: &'static str, family: Family) -> Self {
        Self { name, family, type_name: type_name::<K>, measure: experiments::measure::<K> }
    }

    /// A queue that is safe by itself.
    const fn queue<Q: experiments::Fifo>(name: &'static str) -> Self {
        let measure = experiments::measure_queue::<Q>;
        Self { name, family: Family::Reference, type_name: type_name::<Q>, measure }
    }

    /// Measures one cell.
    pub(crate) fn measure(
        &self,
        experiment: LockExperiment,
        threads: usize,
        effort: &TeamEffort,
    ) -> Option<Sample> {
        (self.measure)(experiment, threads, effort)
    }

    /// The contender with that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CONTENDERS.iter().find(|contender| contender.name == name)
    }
}

/// All contenders, in the order of the tables.
pub(crate) static CONTENDERS: LazyLock<Vec<Contender>> =
    LazyLock::new(|| LockName::all().map(of_catalogue).chain(OTHERS.iter().copied()).collect());

/// A lock of the catalogue.
fn of_catalogue(lock: LockName) -> Contender {
    struct Guarding(&'static str, Family);
    impl Visitor for Guarding {
        type Output = Contender;

        fn visit<R: Recipe>(self) -> Contender {
            Contender { type_name: type_name::<R::Lock>, ..Contender::guarding::<Ours<R>>(self.0, self.1) }
        }
    }
    let family = match lock.order() {
        _ if lock.has_classes() => Family::TwoLevel,
        Order::Overtaking => Family::Mutex,
        Order::Queue => Family::Queue,
        Order::Strict => Family::Strict,
    };
    lock.visit(Guarding(lock.name(), family))
}

/// The contenders that are no locks of `heddle-locks`'s catalogue, or take another class of one.
const OTHERS: &[Contender] = &[
    Contender::guarding::<OursLow<Priority<StrictMcs, StrictMcs>>>("p-mcs-mcs-low", Family::TwoLevel),
    Contender::guarding::<Dsm>("dsm-synch", Family::Combining),
    Contender::guarding::<LockQ<Mutex>>("lockq-mutex", Family::Combining),
    Contender::guarding::<LockQ<StrictMcs>>("lockq-mcs", Family::Combining),
    Contender::guarding::<Offloaded>("offload", Family::Combining),
    Contender::guarding::<Pthread>("pthread", Family::Peer),
    Contender::guarding::<ParkingLot>("parking_lot", Family::Peer),
    Contender::guarding::<Std>("std", Family::Peer),
    Contender::guarding::<Unlocked>("no-lock", Family::Reference),
    Contender::queue::<SegFifo>("crossbeam-seg"),
    Contender::queue::<ArrayFifo>("crossbeam-array"),
];

/// The contenders that take part, by name; all if none is named. The `peers` take part besides.
pub(crate) fn chosen(names: &[String], peers: bool) -> Result<Vec<&'static Contender>, String> {
    if let Some(unknown) = names.iter().find(|name| Contender::named(name).is_none()) {
        let known: Vec<&str> = CONTENDERS.iter().map(|contender| contender.name).collect();
        return Err(format!("there is no lock {unknown:?}; there are {}", known.join(", ")));
    }
    let takes_part = |contender: &&Contender| match names.is_empty() {
        true => peers || contender.family.is_ours(),
        false => names.iter().any(|name| name == contender.name) || peers && contender.family == Family::Peer,
    };
    Ok(CONTENDERS.iter().filter(takes_part).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use heddle_locks::kinds::LockName;

    use super::{CONTENDERS, Contender, Family, chosen};

    #[test]
    fn names_are_different_and_found() {
        let names: HashSet<&str> = CONTENDERS.iter().map(|contender| contender.name).collect();
        assert_eq!(names.len(), CONTENDERS.len());
        assert!(names.iter().all(|name| Contender::named(name).is_some_and(|found| found.name == *name)));
        assert!(Contender::named("no such lock").is_none());
    }

    /// A name of the catalogue means the same lock here as for C and for the models.
    #[test]
    fn every_lock_of_the_catalogue_takes_part() {
        for lock in LockName::all() {
            let contender = Contender::named(lock.name()).expect("a lock of the catalogue");
            assert!(contender.family.is_ours());
            assert_eq!((contender.type_name)(), lock.type_name());
        }
    }

    #[test]
    fn whoever_is_named_takes_part() {
        let chosen = |names: &[&str], peers| -> Vec<&str> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            chosen(&names, peers).expect("known names").iter().map(|contender| contender.name).collect()
        };
        assert_eq!(chosen(&["pthread"], false), ["pthread"]);
        assert_eq!(chosen(&["strict-mcs"], true), ["strict-mcs", "pthread", "parking_lot", "std"]);
        assert!(!chosen(&[], false).contains(&"pthread") && chosen(&[], true).contains(&"no-lock"));
    }

    #[test]
    fn there_are_peers_to_compare_with() {
        assert_eq!(CONTENDERS.iter().filter(|contender| contender.family == Family::Peer).count(), 3);
    }
}
