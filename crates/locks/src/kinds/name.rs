//! All locks of the catalogue that have a name.

use super::kind::{LockKind, Order};
use super::recipe::{
    BiasedRecipe, CoreBiasedRecipe, Mutex, Priority, Recipe, StrictAbortableMcs, StrictHmcs, StrictMcs,
    TimedPriority, Visitor,
};

/// A lock that the models, the C interface and the benchmarks offer by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockName {
    /// A single lock.
    Single(LockKind),
    /// Two or more locks as one.
    Composed(Composed),
}

macro_rules! composed {
    ($($name:ident = $text:literal, $meaning:literal: $recipe:ty, $order:ident;)*) => {
        /// A lock made of others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Composed {
            $(#[doc = concat!("`", $text, "`: ", $meaning, ".")] $name,)*
        }

        impl Composed {
            const ALL: &'static [Composed] = &[$(Composed::$name),*];

            fn name(self) -> &'static str {
                match self {
                    $(Composed::$name => $text,)*
                }
            }

            fn meaning(self) -> &'static str {
                match self {
                    $(Composed::$name => $meaning,)*
                }
            }

            fn order(self) -> Order {
                match self {
                    $(Composed::$name => Order::$order,)*
                }
            }

            fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Composed::$name => visitor.visit::<$recipe>(),)*
                }
            }
        }
    };
}

composed! {
    BiasedMutex = "biased-mutex", "a mutex that costs nearly nothing while one thread uses it":
        BiasedRecipe<Mutex>, Overtaking;
    CoreBiasedMutex = "core-biased-mutex", "a mutex that costs nearly nothing while the threads of one core use it":
        CoreBiasedRecipe<Mutex>, Overtaking;
    MutexMutex = "p-mutex-mutex", "two classes, each with a mutex":
        TimedPriority<Mutex, Mutex>, Queue;
    McsMcs = "p-mcs-mcs", "two classes, each with an MCS queue":
        Priority<StrictMcs, StrictMcs>, Queue;
    HmcsMcs = "p-hmcs-mcs", "two classes: HMCS for the first, MCS for the one that stands back":
        Priority<StrictHmcs, StrictMcs>, Queue;
    HmcsAbortableMcs = "p-hmcs-abortable-mcs", "two classes whose waiters can give up":
        TimedPriority<StrictHmcs, StrictAbortableMcs>, Queue;
}

impl LockName {
    /// The whole catalogue, in the order in which tables show it.
    pub fn all() -> impl Iterator<Item = LockName> {
        let composed = |wanted: fn(&Composed) -> bool| {
            Composed::ALL.iter().copied().filter(wanted).map(LockName::Composed)
        };
        let single = |wanted: fn(&LockKind) -> bool| {
            LockKind::ALL.iter().copied().filter(wanted).map(LockName::Single)
        };
        single(|kind| kind.order() == Order::Overtaking)
            .chain(composed(|lock| lock.order() == Order::Overtaking))
            .chain(single(|kind| kind.order() != Order::Overtaking))
            .chain(composed(|lock| lock.order() != Order::Overtaking))
    }

    /// The lock with the name `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<LockName> {
        LockName::all().find(|known| known.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LockName::Single(kind) => kind.name(),
            LockName::Composed(lock) => lock.name(),
        }
    }

    /// What it is.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            LockName::Single(kind) => kind.meaning(),
            LockName::Composed(lock) => lock.meaning(),
        }
    }

    /// The order in which it serves its waiters; of a lock with classes, the order in each class.
    #[must_use]
    pub fn order(self) -> Order {
        match self {
            LockName::Single(kind) => kind.order(),
            LockName::Composed(lock) => lock.order(),
        }
    }

    /// Returns true if its waiters can give up.
    #[must_use]
    pub fn is_timed(self) -> bool {
        struct IsTimed;
        impl Visitor for IsTimed {
            type Output = bool;

            fn visit<R: Recipe>(self) -> bool {
                R::UNTIL.is_some()
            }
        }
        self.visit(IsTimed)
    }

    /// Returns true if it has two classes.
    #[must_use]
    pub fn has_classes(self) -> bool {
        struct HasClasses;
        impl Visitor for HasClasses {
            type Output = bool;

            fn visit<R: Recipe>(self) -> bool {
                R::LOW.is_some()
            }
        }
        self.visit(HasClasses)
    }

    /// The name of its Rust type.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        struct TypeName;
        impl Visitor for TypeName {
            type Output = &'static str;

            fn visit<R: Recipe>(self) -> &'static str {
                std::any::type_name::<R::Lock>()
            }
        }
        self.visit(TypeName)
    }

    /// Has `visitor` use this lock as a type.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            LockName::Single(kind) => kind.visit(visitor),
            LockName::Composed(lock) => lock.visit(visitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::any_lock::{AnyLock, pair_of};
    use super::super::recipe::LockSettings;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_lead_to_locks_and_back() {
        let names: BTreeSet<&str> = LockName::all().map(LockName::name).collect();
        assert_eq!(names.len(), LockKind::ALL.len() + Composed::ALL.len());
        for lock in LockName::all() {
            assert_eq!(LockName::from_name(lock.name()), Some(lock));
            assert!(!lock.meaning().is_empty());
        }
        assert_eq!(LockName::from_name("no such lock"), None);
    }

    /// A lock named `p-X-Y` has the type that [`pair_of`] makes of the kinds X and Y.
    #[test]
    fn a_pair_is_made_of_the_kinds_in_its_name() {
        let settings = LockSettings::default();
        let type_of = |kind: LockKind| AnyLock::new(kind, &settings).type_name();
        let mut pairs = 0;
        for lock in LockName::all().filter(|lock| lock.has_classes()) {
            let (high, low) = LockKind::pair_from_name(lock.name()).expect("a name p-X-Y");
            let pair = pair_of(high, low, &settings);
            assert_eq!(lock.type_name(), pair_name(&pair.high().type_name(), &pair.low().type_name()));
            assert_eq!(pair.high().type_name(), type_of(high.in_class()));
            assert_eq!(pair.low().type_name(), type_of(low.in_class()));
            pairs += 1;
        }
        assert_eq!(pairs, 4);
        assert!(!LockName::Composed(Composed::BiasedMutex).has_classes());
    }

    fn pair_name(high: &str, low: &str) -> String {
        format!("heddle_locks::two_level::TwoLevel<{high}, {low}>")
    }

    /// A class's lock is always strict, and nothing is stricter.
    #[test]
    fn a_class_takes_the_strict_form() {
        for kind in LockKind::ALL {
            let class = kind.in_class();
            assert_eq!(class.in_class(), class);
            match kind.order() {
                Order::Overtaking => assert_eq!(class, *kind),
                Order::Strict => assert_eq!(class, *kind),
                Order::Queue => assert_eq!(class.name(), format!("strict-{}", kind.name())),
            }
        }
    }
}
