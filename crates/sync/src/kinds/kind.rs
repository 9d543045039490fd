//! The kinds of single locks.

use super::recipe::{self, Recipe, Visitor};
use super::rows::with_rows;

/// In which order a lock serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Whoever comes first after a release.
    Overtaking,
    /// By its queue, in which a thread that runs may come again for a while.
    Queue,
    /// By its queue alone: slow with more threads than cores.
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

            /// What it is.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(LockKind::$kind => $meaning,)*
                }
            }

            /// In which order it serves.
            #[must_use]
            pub fn order(self) -> Order {
                match self {
                    $(LockKind::$kind => Order::$order,)*
                }
            }

            /// The kind that stands for it in a class of a two-level lock: its strict form.
            #[must_use]
            pub fn in_class(self) -> LockKind {
                match self {
                    $(LockKind::$kind => LockKind::$class,)*
                }
            }

            /// Whether its waiters can give up.
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
    /// The kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<LockKind> {
        LockKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The two kinds of a name `p-X-Y`.
    #[must_use]
    pub fn pair_from_name(name: &str) -> Option<(LockKind, LockKind)> {
        // Names of kinds have hyphens themselves: try every one as the hyphen between the two.
        let pair = name.strip_prefix("p-")?;
        pair.match_indices('-').find_map(|(at, _)| {
            Some((LockKind::from_name(&pair[..at])?, LockKind::from_name(&pair[at + 1..])?))
        })
    }
}
