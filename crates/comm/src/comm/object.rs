//! The communicator itself.

use crate::attached_buffer::Attached;
use crate::attribute::Attributes;
use crate::errhandler::ErrhandlerCell;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::machines::Machines;
use crate::session::Session;
use crate::topology::VirtualTopology;
use heddle_blackboard::BoardPlace;
use heddle_message::context::Context;
use heddle_objects::table::{ObjectKind, Ref, Table};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_spec::constants as mpi;
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    context: Context,
    /// The processes; of an intercommunicator those of the local group.
    pub group: Arc<Group>,
    /// The processes that the ranks of messages name: the group, or the remote group of an intercommunicator.
    pub peers: Arc<Group>,
    /// Of an intercommunicator: a communicator of the local group, for the library's messages, and its
    /// handle.
    pub local: Option<(usize, Ref<Comm>)>,
    name: Mutex<String>,
    /// Its error handler.
    pub errhandler: ErrhandlerCell,
    /// Cached attributes.
    pub attributes: Attributes,
    /// Hints that do not concern VNIs, or came too late to take effect.
    pub info: Mutex<Vec<(String, String)>>,
    /// Virtual topology.
    pub topology: Option<VirtualTopology>,
    /// The numbers of its collective operations.
    pub operations: Operations,
    /// Its blackboard.
    pub blackboard: BoardPlace,
    /// Its machines, if there are several, and leaders are of use. Its processes learn of them when they
    /// agree that it has no blackboard.
    pub machines: OnceLock<Box<Machines>>,
    /// The buffer attached to it for buffered sends.
    pub bsend_buffer: Mutex<Option<Arc<Attached>>>,
    /// The offers that its partitioned receives expect (`p2p`).
    pub offers: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// How many collective operations this process has begun on a communicator. All its processes begin them in
/// the same order, so they count alike.
#[derive(Debug, Default)]
pub struct Operations {
    blocking: AtomicU32,
    nonblocking: AtomicU32,
    persistent: AtomicU32,
}

impl Operations {
    /// The number of the next blocking operation that could use a blackboard. It wraps.
    pub fn next_blocking(&self) -> u32 {
        self.blocking.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next nonblocking operation. It wraps.
    pub fn next_nonblocking(&self) -> u32 {
        self.nonblocking.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next persistent operation. It wraps.
    pub fn next_persistent(&self) -> u32 {
        self.persistent.fetch_add(1, Ordering::Relaxed)
    }
}

/// All communicators but the predefined ones.
// SAFETY: the only table of this kind.
pub static COMMS: Table<Comm> = unsafe { Table::collected(ObjectKind::Comm) };

impl Comm {
    /// A communicator.
    pub fn new(context: Context, group: Arc<Group>) -> Comm {
        Comm {
            context,
            peers: group.clone(),
            group,
            local: None,
            name: Mutex::default(),
            errhandler: ErrhandlerCell::default(),
            attributes: Attributes::default(),
            info: Mutex::default(),
            topology: None,
            operations: Operations::default(),
            blackboard: BoardPlace::default(),
            machines: OnceLock::new(),
            bsend_buffer: Mutex::default(),
            offers: OnceLock::new(),
        }
    }

    /// A new communicator with the error handler of this one, in its session.
    pub fn child(&self, context: Context, group: Arc<Group>) -> Comm {
        let comm = Comm::new(context, group.in_session(self.session()));
        comm.errhandler.inherit(&self.errhandler);
        comm
    }

    /// Makes it an intercommunicator with a remote group, with a communicator of the local group.
    #[must_use]
    pub fn between_groups(self, remote: Arc<Group>, local: (usize, Ref<Comm>)) -> Comm {
        Comm { peers: remote.in_session(self.session()), local: Some(local), ..self }
    }

    /// The session that it comes from, if it comes from one.
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.group.session()
    }

    /// Returns true for an intercommunicator.
    #[inline(always)]
    pub fn is_inter(&self) -> bool {
        self.local.is_some()
    }

    /// Checks that it is no intercommunicator.
    ///
    /// # Errors
    /// `MPI_ERR_COMM`.
    pub fn check_intra(&self) -> Result<()> {
        if self.is_inter() {
            let message = "this operation needs a communicator with one group, not an intercommunicator";
            return Err(Error::new(mpi::MPI_ERR_COMM, message));
        }
        Ok(())
    }

    /// The message path's part of it.
    #[inline(always)]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The default VNI.
    #[inline(always)]
    pub fn vni(&self) -> u32 {
        self.context.vni()
    }

    /// This process's rank.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.context.rank()
    }

    /// Number of processes; of an intercommunicator those of the local group.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The name, or nothing while another thread sets or reads it: for a thread that must not wait.
    pub fn name_at_once(&self) -> Option<String> {
        self.name.try_lock().ok().map(|name| name.clone())
    }

    /// Names it; a name longer than `MPI_MAX_OBJECT_NAME` allows is cut off.
    pub fn set_name(&self, name: &str) {
        let name = &name[..name.floor_char_boundary(mpi::MPI_MAX_OBJECT_NAME as usize - 1)];
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
