//! A lock of the catalogue as a type: how it is made, and what it can do besides [`RawLock`].

use super::rows::with_rows;
use crate::hmcs::{Thresholds, Tree};
use crate::machine::topology;
use crate::two_level::{LOW_BOUND, TwoLevel};
use heddle_platform::Native;
use heddle_sync::{PriorityLock, RawLock, TimedLock, WaitPolicy};
use heddle_topology::NodeKind;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// The settings of a lock, chosen when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockSettings {
    /// How its waiters wait.
    pub policy: WaitPolicy,
    /// How many times in a row the lock is passed on within a cohort of each level, if it has cohorts.
    pub cohort_thresholds: Thresholds,
    /// How many critical sections of the high class may pass a waiter of the low class, if it has classes.
    pub low_bound: u32,
}

impl Default for LockSettings {
    fn default() -> Self {
        Self { policy: WaitPolicy::DEFAULT, cohort_thresholds: Thresholds::default(), low_bound: LOW_BOUND }
    }
}

impl LockSettings {
    /// The settings for the lock of a class, whose waiters stand behind the two-level lock's word.
    #[must_use]
    pub fn of_class(self) -> Self {
        Self { policy: self.policy.apart(), ..self }
    }

    /// The cohorts of this machine.
    fn tree(self) -> Tree {
        machine().clone().with_thresholds(self.cohort_thresholds.as_slice())
    }
}

/// This machine as a tree of cohorts; flat if its topology is unknown.
fn machine() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| match topology() {
        Some(topology) => Tree::from_places(topology.places(NodeKind::Core)),
        None => Tree::flat(),
    })
}

/// Waits for a lock until the clock shows a time in nanoseconds.
pub type AcquireUntil<L> = fn(&L, u64) -> Option<<L as RawLock>::Token>;

/// Acquisitions in the class that stands back.
pub struct LowClass<L: RawLock> {
    /// Waits for the lock.
    pub acquire: fn(&L) -> L::Token,
    /// Takes the lock if that needs no waiting.
    pub try_acquire: fn(&L) -> Option<L::Token>,
    /// Waits for the lock until a time, if its waiters can give up.
    pub until: Option<AcquireUntil<L>>,
}

impl<L: RawLock> Debug for LowClass<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LowClass").field("timed", &self.until.is_some()).finish_non_exhaustive()
    }
}

/// A lock of the catalogue, as a type.
pub trait Recipe: 'static {
    /// The lock.
    type Lock: RawLock<Platform = Native> + 'static;

    /// How its waiters give up at a time, if they can.
    const UNTIL: Option<AcquireUntil<Self::Lock>>;

    /// Its second class, if it has one.
    const LOW: Option<LowClass<Self::Lock>> = None;

    /// A free lock.
    fn make(settings: &LockSettings) -> Self::Lock;
}

/// Code that is compiled for each lock of the catalogue.
pub trait Visitor {
    /// The result for a lock.
    type Output;

    /// Uses the lock of the recipe `R`.
    fn visit<R: Recipe>(self) -> Self::Output;
}

macro_rules! make {
    ($lock:ty, alone, $settings:ident) => {
        <$lock>::new($settings.policy)
    };
    ($lock:ty, in_tree, $settings:ident) => {
        <$lock>::new(&$settings.tree(), $settings.policy)
    };
}

macro_rules! until {
    ($lock:ty, timed) => {
        Some(<$lock as TimedLock>::acquire_until)
    };
    ($lock:ty, untimed) => {
        None
    };
}

macro_rules! recipes {
    ($($kind:ident = $name:literal, $meaning:literal: $lock:ty, $make:ident, $gives_up:ident, $order:ident, $class:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $meaning, ".")]
            #[derive(Debug)]
            pub enum $kind {}

            impl Recipe for $kind {
                type Lock = $lock;
                const UNTIL: Option<AcquireUntil<$lock>> = until!($lock, $gives_up);

                fn make(settings: &LockSettings) -> $lock {
                    make!($lock, $make, settings)
                }
            }
        )*
    };
}

with_rows!(recipes);

/// Another lock with a bias towards the only thread that uses it.
#[derive(Debug)]
pub struct BiasedRecipe<R>(PhantomData<R>);

impl<R: Recipe> Recipe for BiasedRecipe<R> {
    type Lock = crate::biased::Biased<R::Lock>;
    const UNTIL: Option<AcquireUntil<Self::Lock>> = None;

    fn make(settings: &LockSettings) -> Self::Lock {
        crate::biased::Biased::new(R::make(settings), settings.policy)
    }
}

/// Another lock, biased to the core whose threads alone use it.
#[derive(Debug)]
pub struct CoreBiasedRecipe<R>(PhantomData<R>);

impl<R: Recipe> Recipe for CoreBiasedRecipe<R> {
    type Lock = crate::core_biased::CoreBiased<R::Lock>;
    const UNTIL: Option<AcquireUntil<Self::Lock>> = None;

    fn make(settings: &LockSettings) -> Self::Lock {
        crate::core_biased::CoreBiased::new(R::make(settings), settings.policy)
    }
}

/// Two classes: `H` is the lock of the class that goes first, `L` that of the class that stands back.
#[derive(Debug)]
pub struct Priority<H, L>(PhantomData<(H, L)>);

impl<H: Recipe, L: Recipe> Recipe for Priority<H, L> {
    type Lock = TwoLevel<H::Lock, L::Lock>;
    const UNTIL: Option<AcquireUntil<Self::Lock>> = None;
    const LOW: Option<LowClass<Self::Lock>> = Some(LowClass {
        acquire: <Self::Lock as PriorityLock>::acquire_low,
        try_acquire: <Self::Lock as PriorityLock>::try_acquire_low,
        until: None,
    });

    fn make(settings: &LockSettings) -> Self::Lock {
        let class = settings.of_class();
        TwoLevel::with_low_bound(H::make(&class), L::make(&class), settings.policy, settings.low_bound)
    }
}

/// Two classes whose waiters can give up.
#[derive(Debug)]
pub struct TimedPriority<H, L>(PhantomData<(H, L)>);

impl<H: Recipe, L: Recipe> Recipe for TimedPriority<H, L>
where
    H::Lock: TimedLock,
    L::Lock: TimedLock,
{
    type Lock = TwoLevel<H::Lock, L::Lock>;
    const UNTIL: Option<AcquireUntil<Self::Lock>> = Some(TwoLevel::acquire_high_until);
    const LOW: Option<LowClass<Self::Lock>> = Some(LowClass {
        acquire: <Self::Lock as PriorityLock>::acquire_low,
        try_acquire: <Self::Lock as PriorityLock>::try_acquire_low,
        until: Some(TwoLevel::acquire_low_until),
    });

    fn make(settings: &LockSettings) -> Self::Lock {
        Priority::<H, L>::make(settings)
    }
}
