//! Communicators: a group and a context that keeps its messages apart (MPI 5.0, chapter 7.4).
//!
//! A **context id** is made by a leader, the group's rank 0, from its own counter and its world rank, and told to the
//! others. So ids are unique in the job without any agreement, threads can make communicators at the same time, and
//! an id is never used twice: freeing a communicator while messages are under way harms nobody.
//!
//! Each communicator has several **planes**, contexts of their own for different kinds of messages.
//!
//! | file | idea |
//! |---|---|
//! | `context.rs` | how the members of a new communicator learn its context |
//! | `mapping.rs` | which VNI carries a message |
//! | `own.rs` | which VNI carries a message of a process to itself |
//! | `dup.rs`, `idup.rs` | duplicates, blocking and not |
//! | `create.rs`, `split.rs` | communicators of a group, of a colour, of a machine |
//! | `free.rs` | the end of a communicator |
//! | `hints.rs` | the info hints that communicators know |

mod context;
mod create;
mod dup;
mod free;
mod hints;
mod idup;
mod mapping;
mod own;
mod split;

pub(crate) use create::of_group;
pub use create::{create, create_group};
pub use dup::{dup, dup_with_info};
pub use free::{disconnect, free};
pub use idup::{idup, idup_with_info};
pub(crate) use mapping::{Choice, context_id};
pub use split::{split, split_type};

use crate::attribute::Attributes;
use crate::errhandler::{self, ErrhandlerCell};
use crate::error::{Error, Result};
use crate::group::Group;
use crate::lifetime;
use crate::lifetime::hold::{Hold, KeptPlace};
use crate::object_table::{Kind, Ref, Table};
use crate::own::Layout;
use crate::p2p::Attached;
use crate::process::{self, Process};
use crate::topology::Topology;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Which kind of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Plane {
    /// The program's own.
    PointToPoint = 0,
    /// Those inside of collective operations.
    Collective = 1,
    /// Those of `MPI_Comm_create_group`, told apart by the user's tag.
    CreateGroup = 2,
}

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    context: AtomicU64,
    vni: AtomicU32,
    /// Where its messages of this process to itself are.
    own: Layout,
    /// The processes.
    pub group: Arc<Group>,
    rank: usize,
    name: Mutex<String>,
    /// Its error handler.
    pub errhandler: ErrhandlerCell,
    /// Cached attributes.
    pub attributes: Attributes,
    /// Hints that do not concern the VNIs, or were given too late to do so.
    pub info: Mutex<Vec<(String, String)>>,
    /// Virtual topology.
    pub topology: Option<Topology>,
    /// The buffer attached to it for buffered sends.
    pub(crate) bsend_buffer: Mutex<Option<Arc<Attached>>>,
}

/// All communicators but the predefined ones.
// SAFETY: the only table of this kind.
pub static COMMS: Table<Comm> = unsafe { Table::collected(Kind::Comm) };

impl Comm {
    /// A communicator with a context id that the leader gave away.
    pub fn new(context: u64, group: Arc<Group>, rank: usize, vnis: usize) -> Comm {
        let comm = Comm {
            context: AtomicU64::new(0),
            vni: AtomicU32::new(0),
            own: Layout::settled(),
            group,
            rank,
            name: Mutex::default(),
            errhandler: ErrhandlerCell::default(),
            attributes: Attributes::default(),
            info: Mutex::default(),
            topology: None,
            bsend_buffer: Mutex::default(),
        };
        comm.set_context(context, vnis);
        comm
    }

    /// A new communicator with the error handler of this one.
    fn child(&self, process: &Process, context: u64, group: Arc<Group>, rank: usize) -> Comm {
        let comm = Comm::new(context, group, rank, process.fabric().vnis());
        let handler = self.errhandler.share();
        comm.errhandler.set(handler);
        // The share was only to keep the handler alive until here; of a live handler it can be given back.
        let _ = errhandler::free(handler);
        comm
    }

    /// Sets the context: at once, or when a nonblocking duplication has learnt it.
    pub(crate) fn set_context(&self, context: u64, vnis: usize) {
        self.vni.store(mapping::home(context, vnis), Ordering::Relaxed);
        self.context.store(context, Ordering::Relaxed);
        self.own.begin(own::may_move(context, vnis));
    }

    /// The context id of a plane.
    #[inline(always)]
    pub(crate) fn context(&self, plane: Plane) -> u64 {
        self.context.load(Ordering::Relaxed) | plane as u64
    }

    /// The VNI where it is at home: that of all its messages, unless they are [spread](mapping).
    #[inline(always)]
    pub(crate) fn vni(&self) -> u32 {
        self.vni.load(Ordering::Relaxed)
    }

    /// This process's rank.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of processes.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names it; what is longer than `MPI_MAX_OBJECT_NAME` allows is cut off.
    pub fn set_name(&self, name: &str) {
        let name = &name[..name.floor_char_boundary(mpi::MPI_MAX_OBJECT_NAME as usize - 1)];
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A communicator in use by a call, in the call's thread. It is not counted, as a rule: predefined ones live as long as MPI,
/// and for others the thread has a `Hold`.
#[derive(Debug)]
pub struct CommRef {
    comm: NonNull<Comm>,
    handle: usize,
    hold: Hold,
}

// SAFETY: others may use the communicator while the call's thread holds it; it stays where it is.
unsafe impl Sync for CommRef {}

/// A communicator that something else than a call uses: counted, or kept by a request.
#[derive(Debug)]
pub struct KeptComm(CommRef);

// SAFETY: no hold of a thread is in it, but a counted reference or none.
unsafe impl Send for KeptComm {}

impl Deref for KeptComm {
    type Target = CommRef;

    fn deref(&self) -> &CommRef {
        &self.0
    }
}

impl Clone for KeptComm {
    fn clone(&self) -> KeptComm {
        self.0.keep()
    }
}

impl PartialEq for KeptComm {
    fn eq(&self, other: &KeptComm) -> bool {
        self.0 == other.0
    }
}

impl Eq for KeptComm {}

impl PartialEq for CommRef {
    fn eq(&self, other: &CommRef) -> bool {
        self.handle == other.handle
    }
}

impl Eq for CommRef {}

impl Deref for CommRef {
    type Target = Comm;

    #[inline(always)]
    fn deref(&self) -> &Comm {
        // SAFETY: predefined communicators stay, and others are held.
        unsafe { self.comm.as_ref() }
    }
}

impl Drop for CommRef {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.hold.give_up() {
            self.give_up_counted();
        }
    }
}

impl CommRef {
    /// Out of line, so that the rest of the drop can be in line.
    #[cold]
    #[inline(never)]
    fn give_up_counted(&self) {
        // SAFETY: the reference that this owns, which is given up once.
        drop(unsafe { Ref::from_index(&COMMS, index_of(self.handle)) });
    }
}

/// The slot that a handle names in its lower half.
#[inline(always)]
fn index_of(handle: usize) -> u32 {
    handle as u32
}

impl From<(usize, Ref<Comm>)> for KeptComm {
    fn from((handle, comm): (usize, Ref<Comm>)) -> KeptComm {
        let address = NonNull::from(&*comm);
        let index = comm.into_index();
        debug_assert_eq!(index, index_of(handle));
        KeptComm(CommRef { comm: address, handle, hold: Hold::COUNTED })
    }
}

impl CommRef {
    /// The communicator of a handle.
    ///
    /// # Errors
    /// `MPI_ERR_COMM` for anything that is not a live communicator's handle; `MPI_ERR_OTHER` if MPI is not running.
    #[inline(always)]
    pub fn from_handle(handle: usize) -> Result<CommRef> {
        if handle == mpi::MPI_COMM_WORLD {
            return process::current().map(CommRef::world);
        }
        if handle == mpi::MPI_COMM_SELF {
            return process::current().map(CommRef::own);
        }
        match COMMS.hold(handle, KeptPlace::Comm) {
            Some(held) => Ok(CommRef { comm: held.value, handle, hold: held.hold }),
            None => Err(bad_handle(handle)),
        }
    }

    /// The communicator that a live request names: also if the program has freed it since.
    pub(crate) fn of_request(handle: usize) -> Option<KeptComm> {
        match COMMS.get_while_it_exists(handle) {
            Some(comm) => Some(KeptComm::from((handle, comm))),
            None => CommRef::from_handle(handle).ok().map(|comm| comm.keep()),
        }
    }

    /// The same communicator, counted, for longer than the call.
    #[must_use]
    pub fn keep(&self) -> KeptComm {
        if self.is_predefined() {
            return KeptComm(CommRef { comm: self.comm, handle: self.handle, hold: Hold::NOTHING });
        }
        // SAFETY: no reference is taken: this one is forgotten, and the hold keeps the object.
        let held = unsafe { Ref::from_index(&COMMS, index_of(self.handle)) };
        let kept = KeptComm::from((self.handle, held.clone()));
        held.into_index();
        kept
    }

    /// The same communicator for a request, which keeps it in its own way.
    ///
    /// # Safety
    /// It is used only as long as a live request names the communicator.
    pub(crate) unsafe fn kept_by_request(&self) -> KeptComm {
        KeptComm(CommRef { comm: self.comm, handle: self.handle, hold: Hold::NOTHING })
    }

    /// `MPI_COMM_WORLD`.
    #[inline(always)]
    pub fn world(process: &'static Process) -> CommRef {
        let comm = NonNull::from(process.world_comm());
        CommRef { comm, handle: mpi::MPI_COMM_WORLD, hold: Hold::NOTHING }
    }

    /// `MPI_COMM_SELF`.
    pub fn own(process: &'static Process) -> CommRef {
        let comm = NonNull::from(process.self_comm());
        CommRef { comm, handle: mpi::MPI_COMM_SELF, hold: Hold::NOTHING }
    }

    /// The handle that led here. The program may have freed it since.
    #[inline(always)]
    pub fn handle(&self) -> usize {
        self.handle
    }

    /// Whether it is `MPI_COMM_WORLD` or `MPI_COMM_SELF`.
    #[inline(always)]
    pub fn is_predefined(&self) -> bool {
        self.handle <= mpi::MPI_COMM_SELF
    }

    /// `MPI_IDENT` for the same communicator, else as their groups compare, `MPI_CONGRUENT` if those are identical.
    pub fn compare(&self, other: &CommRef) -> i32 {
        if self.handle() == other.handle() {
            return mpi::MPI_IDENT;
        }
        match self.group.compare(&other.group) {
            mpi::MPI_IDENT => mpi::MPI_CONGRUENT,
            result => result,
        }
    }
}

/// Puts a new communicator into the table; returns its handle.
fn insert(comm: Comm) -> usize {
    lifetime::before_creation();
    COMMS.insert(comm)
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_COMM_NULL {
        "MPI_COMM_NULL is not a communicator to work with".to_owned()
    } else {
        format!("{handle:#x} is not a communicator: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_COMM, what)
}

/// Deletes the attributes of `MPI_COMM_SELF`, the one set last first, as the first thing in `MPI_Finalize` (MPI 5.0,
/// section 11.2.4), and then those of `MPI_COMM_WORLD`.
pub(crate) fn run_delete_callbacks_of_self(process: &'static Process) -> Result<()> {
    process.self_comm().attributes.delete_all(mpi::MPI_COMM_SELF)?;
    process.world_comm().attributes.delete_all(mpi::MPI_COMM_WORLD)
}
