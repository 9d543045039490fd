//! How a lock is made: most have a default, some need to know the machine.

use std::marker::PhantomData;
use std::sync::OnceLock;

use heddle_sync::hmcs::{StrictHmcs, Tree};
use heddle_sync::mcs::StrictMcs;
use heddle_sync::{Hmcs, RawLock, TwoLevel, WaitPolicy};
use heddle_topology::{Kind, Topology};

/// A way to make a lock.
pub(crate) trait Recipe: 'static {
    /// What is made.
    type Lock: RawLock + 'static;

    /// A free lock.
    fn make() -> Self::Lock;
}

impl<L: RawLock + Default + 'static> Recipe for L {
    type Lock = L;

    fn make() -> L {
        L::default()
    }
}

/// This machine for HMCS; flat if nothing is known of it.
fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| match Topology::of_machine() {
        Ok(topology) => Tree::from_places(topology.places(Kind::Core)),
        Err(_) => Tree::flat(),
    })
}

/// HMCS for this machine.
#[derive(Debug)]
pub(crate) struct HmcsHere;

impl Recipe for HmcsHere {
    type Lock = Hmcs;

    fn make() -> Hmcs {
        Hmcs::new(tree(), WaitPolicy::DEFAULT)
    }
}

/// The same in strict order.
#[derive(Debug)]
pub(crate) struct StrictHmcsHere;

impl Recipe for StrictHmcsHere {
    type Lock = StrictHmcs;

    fn make() -> Self::Lock {
        StrictHmcs::new(tree(), WaitPolicy::DEFAULT)
    }
}

/// MCS for a class of a two-level lock, whose word is before it as before a queue lock by itself.
#[derive(Debug)]
pub(crate) struct McsOfClass;

impl Recipe for McsOfClass {
    type Lock = StrictMcs;

    fn make() -> StrictMcs {
        StrictMcs::new(WaitPolicy::DEFAULT.apart())
    }
}

/// HMCS for a class of a two-level lock on this machine.
#[derive(Debug)]
pub(crate) struct HmcsOfClass;

impl Recipe for HmcsOfClass {
    type Lock = StrictHmcs;

    fn make() -> StrictHmcs {
        StrictHmcs::new(tree(), WaitPolicy::DEFAULT.apart())
    }
}

/// Two classes: the lock of the first, and that of the second.
#[derive(Debug)]
pub(crate) struct Classes<H, L>(PhantomData<(H, L)>);

impl<H: Recipe, L: Recipe> Recipe for Classes<H, L>
where
    L::Lock: RawLock<Platform = <H::Lock as RawLock>::Platform>,
{
    type Lock = TwoLevel<H::Lock, L::Lock>;

    fn make() -> Self::Lock {
        TwoLevel::new(H::make(), L::make(), WaitPolicy::DEFAULT)
    }
}
