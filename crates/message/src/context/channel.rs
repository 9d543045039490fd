//! The context of a living communicator.

use super::used::{self, VniSet};
use crate::history::History;
use crate::mapping::{self, BY_SOURCE, BY_TAG, NAMED, PLANE, UNKNOWN, is_plain};
use crate::matching::Key;
use crate::vni::Vni;
use heddle_objects::resharding::Sharding;
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use std::sync::Arc;

/// The kind of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Plane {
    /// The program's point-to-point messages.
    PointToPoint = 0,
    /// The messages inside of collective operations.
    Collective = 1,
    /// The messages of `MPI_Comm_create_group`, which the user's tag tells apart.
    CreateGroup = 2,
    /// Those of `MPI_Intercomm_create`, likewise.
    CreateInter = 3,
    /// The messages by which partitioned operations find each other, likewise.
    Partitioned = 4,
    /// The partitions themselves, between machines.
    Partitions = 5,
}

/// A receive or probe with a wildcard, in a context whose program promised to use none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenPromise {
    /// `MPI_ANY_TAG`.
    AnyTag,
    /// `MPI_ANY_SOURCE`.
    AnySource,
}

/// The message path's part of a communicator.
#[derive(Debug)]
pub struct Context {
    id: AtomicU64,
    vni: AtomicU32,
    /// The VNI whose number is `vni`.
    default_vni: AtomicPtr<Vni>,
    /// Says whether the self messages are sharded or pinned.
    pub(crate) self_messages: Sharding,
    rank: usize,
    /// The rank of messages to oneself; none has it in an intercommunicator, whose ranks are of the other
    /// group.
    self_rank: i32,
    /// The collective operations that this process has begun.
    history: Arc<History>,
}

impl Context {
    /// A context with the id that a leader made, or [`UNKNOWN`] until [`set_id`](Self::set_id), in a process
    /// with these VNIs and the rank `rank` in the communicator.
    pub fn new(id: u64, rank: usize, vnis: &'static [Vni]) -> Context {
        let context = Context {
            id: AtomicU64::new(UNKNOWN),
            vni: AtomicU32::new(0),
            default_vni: AtomicPtr::new(std::ptr::from_ref(&vnis[0]).cast_mut()),
            self_messages: Sharding::pinned(),
            rank,
            self_rank: rank as i32,
            history: Arc::default(),
        };
        context.set_id(id, vnis);
        context
    }

    /// The context of an intercommunicator, in a process with the rank `rank` in its own group. Its messages
    /// are between two groups, so there are none to oneself.
    pub fn between_groups(id: u64, rank: usize, vnis: &'static [Vni]) -> Context {
        let context = Context { self_rank: i32::MIN, ..Context::new(UNKNOWN, rank, vnis) };
        context.set_id(id, vnis);
        context
    }

    /// Sets the id, at once or when a nonblocking duplication receives it. A context that has an id keeps it.
    pub fn set_id(&self, id: u64, vnis: &'static [Vni]) {
        // Relaxed, here and below: the program orders the completion of a duplication before
        // the communicator's uses.
        if self.id.load(Ordering::Relaxed) != UNKNOWN {
            return;
        }
        let vni = mapping::default_vni(id, vnis.len());
        if id != UNKNOWN {
            used::mark(if is_plain(id) { VniSet::one(vni) } else { VniSet::first(vnis.len()) });
        }
        self.vni.store(vni, Ordering::Relaxed);
        self.default_vni.store(std::ptr::from_ref(&vnis[vni as usize]).cast_mut(), Ordering::Relaxed);
        let has_self = self.self_rank >= 0;
        self.self_messages.begin(has_self && vnis.len() > 1 && id & (BY_TAG | BY_SOURCE | NAMED) == 0);
        self.id.store(id, Ordering::Relaxed);
    }

    /// The collective operations that this process has begun.
    #[inline(always)]
    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// The context id of a plane.
    #[inline(always)]
    pub fn id(&self, plane: Plane) -> u64 {
        self.id.load(Ordering::Relaxed) | plane as u64
    }

    /// The number of the default VNI, which carries all messages unless they are sharded (`mapping`).
    #[inline(always)]
    pub fn vni(&self) -> u32 {
        self.vni.load(Ordering::Relaxed)
    }

    /// The default VNI.
    #[inline(always)]
    pub fn default_vni(&self) -> &'static Vni {
        // SAFETY: one of the VNIs given to `new` or `set_id`, which stay.
        unsafe { &*self.default_vni.load(Ordering::Relaxed) }
    }

    /// This process's rank in the communicator.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The rank that a message to oneself has.
    #[inline(always)]
    pub fn self_rank(&self) -> i32 {
        self.self_rank
    }

    /// Returns true if all messages of a plane, given by its id, are on the default VNI. Self
    /// messages are not considered.
    #[inline(always)]
    pub fn is_plain(id: u64) -> bool {
        is_plain(id)
    }

    /// The VNI of a message from the rank `source`, with a tag, in a process with `vnis` VNIs.
    /// `id` is that of a plane.
    #[inline(always)]
    pub fn vni_of(&self, vnis: usize, id: u64, source: i32, tag: i32) -> u32 {
        if is_plain(id) {
            self.vni()
        } else {
            mapping::sharded_vni(self.vni(), id, (source, tag), vnis as u32)
        }
    }

    /// The VNI of the messages that a receive or probe with this key matches.
    ///
    /// # Errors
    /// The same as those of [`check_promises`](Self::check_promises).
    #[inline(always)]
    pub fn vni_wanted(&self, vnis: usize, key: &Key) -> Result<u32, BrokenPromise> {
        if is_plain(key.context) {
            return Ok(self.vni());
        }
        self.check_promises(key)?;
        Ok(mapping::sharded_vni(self.vni(), key.context, (key.source(), key.tag()), vnis as u32))
    }

    /// Checks a receive or probe with this key against the communicator's hints.
    ///
    /// # Errors
    /// The hint that the key breaks.
    #[inline(always)]
    pub fn check_promises(&self, key: &Key) -> Result<(), BrokenPromise> {
        if is_plain(key.context) { Ok(()) } else { check_wildcards(key) }
    }
}

#[cold]
fn check_wildcards(key: &Key) -> Result<(), BrokenPromise> {
    if key.context & PLANE != 0 {
        return Ok(());
    }
    if key.context & BY_TAG != 0 && key.tag() == MPI_ANY_TAG {
        return Err(BrokenPromise::AnyTag);
    }
    if key.context & BY_SOURCE != 0 && key.source() == MPI_ANY_SOURCE {
        return Err(BrokenPromise::AnySource);
    }
    Ok(())
}
