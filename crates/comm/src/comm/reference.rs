//! Communicators in use.

use super::object::{COMMS, Comm};
use super::predefined;
use crate::error::{Error, Result};
use heddle_objects::lifetime::hazard::{KeptSlot, Protection};
use heddle_objects::table::Ref;
use heddle_spec::constants as mpi;
use std::ops::Deref;
use std::ptr::NonNull;

/// A communicator in use by a call, in the call's thread. It is usually not counted: predefined ones live as
/// long as MPI, and the thread has a `Protection` for others.
#[derive(Debug)]
pub struct CommRef {
    comm: NonNull<Comm>,
    handle: usize,
    protection: Protection,
}

// SAFETY: `Comm` is `Sync`; the call's thread protects the communicator while other threads
// use it, and it never moves.
unsafe impl Sync for CommRef {}

/// A communicator that outlives the call: counted, or kept by a request.
#[derive(Debug)]
pub struct KeptComm(CommRef);

// SAFETY: it holds a counted reference or none, and never a thread's hazard slot.
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
        // SAFETY: predefined communicators are never freed, and the protection keeps others.
        unsafe { self.comm.as_ref() }
    }
}

impl Drop for CommRef {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.protection.release() {
            self.give_up_counted();
        }
    }
}

impl CommRef {
    /// Out of line, so that the rest of the drop can be in line.
    #[cold]
    #[inline(never)]
    fn give_up_counted(&self) {
        // SAFETY: this owns the reference and gives it up once.
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
        KeptComm(CommRef { comm: address, handle, protection: Protection::COUNTED })
    }
}

impl CommRef {
    /// The communicator of a handle.
    ///
    /// # Errors
    /// `MPI_ERR_COMM` for anything that is not a live communicator's handle, and for the predefined ones
    /// outside of `MPI_Init` and `MPI_Finalize`; `MPI_ERR_OTHER` if MPI is not in use.
    #[inline(always)]
    pub fn from_handle(handle: usize) -> Result<CommRef> {
        if handle == mpi::MPI_COMM_WORLD {
            return CommRef::world();
        }
        if handle == mpi::MPI_COMM_SELF {
            return CommRef::comm_self();
        }
        match COMMS.protect(handle, KeptSlot::Comm) {
            Some(held) => Ok(CommRef { comm: held.value, handle, protection: held.protection }),
            None => Err(bad_handle(handle)),
        }
    }

    /// Passes the communicator of a handle to `read` at the least cost, if the handle is
    /// predefined or is the one that the calling thread used last. Otherwise it does nothing.
    /// `read` must use no other communicator.
    #[inline(always)]
    pub fn peek<R>(handle: usize, read: impl FnOnce(&Comm) -> R) -> Option<R> {
        let comm = match handle {
            mpi::MPI_COMM_WORLD => predefined::peek_world()?,
            mpi::MPI_COMM_SELF => predefined::peek_self()?,
            _ if predefined::is_running() => COMMS.peek(handle, KeptSlot::Comm)?,
            _ => return None,
        };
        // SAFETY: predefined communicators are never freed. The thread's hazard slot names any other one, and
        // keeps it until the thread uses another one.
        Some(read(unsafe { comm.as_ref() }))
    }

    /// The same communicator with a counted reference, to keep it longer than the call.
    #[must_use]
    pub fn keep(&self) -> KeptComm {
        if self.is_predefined() {
            return KeptComm(CommRef { comm: self.comm, handle: self.handle, protection: Protection::NONE });
        }
        // SAFETY: no reference is taken over: this one is forgotten, and the protection keeps the object.
        let held = unsafe { Ref::from_index(&COMMS, index_of(self.handle)) };
        let kept = KeptComm::from((self.handle, held.clone()));
        held.into_index();
        kept
    }

    /// The same communicator for a request, which keeps it alive by naming it.
    ///
    /// # Safety
    /// The result is used only while a live request names the communicator.
    pub unsafe fn kept_by_request(&self) -> KeptComm {
        KeptComm(CommRef { comm: self.comm, handle: self.handle, protection: Protection::NONE })
    }

    /// `MPI_COMM_WORLD`.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if MPI is not in use; `MPI_ERR_COMM` if it is used by sessions alone.
    #[inline(always)]
    pub fn world() -> Result<CommRef> {
        let comm = predefined::world()?;
        Ok(CommRef { comm, handle: mpi::MPI_COMM_WORLD, protection: Protection::NONE })
    }

    /// `MPI_COMM_SELF`.
    ///
    /// # Errors
    /// The same as for [`world`](Self::world).
    pub fn comm_self() -> Result<CommRef> {
        let comm = predefined::comm_self()?;
        Ok(CommRef { comm, handle: mpi::MPI_COMM_SELF, protection: Protection::NONE })
    }

    /// The communicator of all processes on which the messages travel that make communicators without a
    /// parent, and requests without a communicator. Their errors are `MPI_COMM_WORLD`'s.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if MPI is not in use.
    pub fn creations() -> Result<CommRef> {
        let comm = predefined::creations()?;
        Ok(CommRef { comm, handle: mpi::MPI_COMM_WORLD, protection: Protection::NONE })
    }

    /// The handle by which the call named the communicator. The program may have freed it since.
    #[inline(always)]
    pub fn handle(&self) -> usize {
        self.handle
    }

    /// Returns true if it is `MPI_COMM_WORLD` or `MPI_COMM_SELF`.
    #[inline(always)]
    pub fn is_predefined(&self) -> bool {
        self.handle <= mpi::MPI_COMM_SELF
    }

    /// Of an intercommunicator: the communicator of its local group.
    pub fn local(&self) -> Option<KeptComm> {
        self.local.as_ref().map(|(handle, comm)| KeptComm::from((*handle, comm.clone())))
    }

    /// `MPI_IDENT` for the same communicator, else as their groups compare,
    /// `MPI_CONGRUENT` if those are identical.
    pub fn compare(&self, other: &CommRef) -> i32 {
        if self.handle() == other.handle() {
            return mpi::MPI_IDENT;
        }
        if self.is_inter() != other.is_inter() {
            return mpi::MPI_UNEQUAL;
        }
        match (self.group.compare(&other.group), self.peers.compare(&other.peers)) {
            (mpi::MPI_IDENT, mpi::MPI_IDENT) => mpi::MPI_CONGRUENT,
            (mpi::MPI_UNEQUAL, _) | (_, mpi::MPI_UNEQUAL) => mpi::MPI_UNEQUAL,
            _ => mpi::MPI_SIMILAR,
        }
    }
}

impl KeptComm {
    /// The communicator that a live request names, even if the program has freed it since.
    pub fn of_request(handle: usize) -> Option<KeptComm> {
        match COMMS.get_while_it_exists(handle) {
            Some(comm) => Some(KeptComm::from((handle, comm))),
            None => CommRef::from_handle(handle).ok().map(|comm| comm.keep()),
        }
    }

    /// The communicator whose error handler is responsible for an error, if the error has an owner.
    pub fn of_error(error: &Error) -> Option<&KeptComm> {
        error.owner().and_then(|owner| owner.downcast_ref())
    }
}

/// The error for a handle that names no communicator: `MPI_ERR_COMM`.
#[cold]
pub fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_COMM_NULL {
        "MPI_COMM_NULL is not a communicator to work with".to_owned()
    } else {
        format!("{handle:#x} is not a communicator: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_COMM, what)
}
