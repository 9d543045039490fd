//! The kinds of single locks.

use super::recipe::{self, Recipe, Visitor};
use super::rows::with_rows;

/// The order in which a lock serves its waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first thread after a release gets it.
    Overtaking,
    /// The order of its queue, but a running thread may come again for a while.
    Queue,
    /// The strict order of its queue: slow with more threads than cores.
    Strict,
}

macro_rules! kinds {
    ($($kind:ident = $name:literal, $meaning:literal: $lock:ty, $make:ident, $gives_up:ident, $order:ident, $class:ident;)*) => {
        /// A kind of lock.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LockKind {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $kind,)*
        }

        impl LockKind {
            /// Every kind.
            pub const ALL: &'static [LockKind] = &[$(LockKind::$kind),*];

            /// The kind's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(LockKind::$kind => $name,)*
                }
            }

            /// What the kind is.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(LockKind::$kind => $meaning,)*
                }
            }

            /// The order in which it serves its waiters.
            #[must_use]
            pub fn order(self) -> Order {
                match self {
                    $(LockKind::$kind => Order::$order,)*
                }
            }

            /// The kind that replaces it in a class of a two-level lock: its strict form.
            #[must_use]
            pub fn in_class(self) -> LockKind {
                match self {
                    $(LockKind::$kind => LockKind::$class,)*
                }
            }

            /// Returns true if its waiters can give up.
            #[must_use]
            pub fn is_timed(self) -> bool {
                match self {
                    $(LockKind::$kind => recipe::$kind::UNTIL.is_some(),)*
                }
            }

            /// Has `visitor` use this kind as a type.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(LockKind::$kind => visitor.visit::<recipe::$kind>(),)*
                }
            }
        }
    };
}

with_rows!(kinds);

impl LockKind {
    /// The kind with the name `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<LockKind> {
        LockKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The two kinds of a name `p-X-Y`.
    #[must_use]
    pub fn pair_from_name(name: &str) -> Option<(LockKind, LockKind)> {
        // Names of kinds contain hyphens, so try every hyphen as the one between the two names.
        let pair = name.strip_prefix("p-")?;
        pair.match_indices('-').find_map(|(at, _)| {
            Some((LockKind::from_name(&pair[..at])?, LockKind::from_name(&pair[at + 1..])?))
        })
    }
}
