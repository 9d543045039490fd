//! `MPI_COMM_WORLD` and `MPI_COMM_SELF`.

use super::object::Comm;
use crate::error::{Error, Result};
use heddle_message::domain;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

/// Both communicators, made once and never freed.
static MADE: OnceLock<[Comm; 2]> = OnceLock::new();

/// The communicators while MPI is initialised and not finalized.
static WORLD: AtomicPtr<Comm> = AtomicPtr::new(null_mut());
static SELF: AtomicPtr<Comm> = AtomicPtr::new(null_mut());

/// Makes these communicators visible to calls.
pub fn open_predefined(world: Comm, comm_self: Comm) {
    world.set_name("MPI_COMM_WORLD");
    comm_self.set_name("MPI_COMM_SELF");
    let [world, comm_self] = MADE.get_or_init(|| [world, comm_self]);
    // Release: pairs with the Acquire in `find`.
    WORLD.store(std::ptr::from_ref(world).cast_mut(), Ordering::Release);
    SELF.store(std::ptr::from_ref(comm_self).cast_mut(), Ordering::Release);
}

/// Hides the communicators from calls.
pub fn close_predefined() {
    WORLD.store(null_mut(), Ordering::Release);
    SELF.store(null_mut(), Ordering::Release);
}

#[inline(always)]
fn find(pointer: &AtomicPtr<Comm>) -> Result<NonNull<Comm>> {
    // Acquire: pairs with the Release in `open_predefined`.
    NonNull::new(pointer.load(Ordering::Acquire)).ok_or_else(not_running)
}

#[cold]
fn not_running() -> Error {
    match domain::current() {
        Err(error) => error,
        Ok(_) => Error::new(mpi::MPI_ERR_OTHER, "MPI is being initialised or finalized by another thread"),
    }
}

/// The communicator of all processes, if MPI is running.
#[inline(always)]
pub(super) fn peek_world() -> Option<NonNull<Comm>> {
    // Acquire: pairs with the Release in `open_predefined`.
    NonNull::new(WORLD.load(Ordering::Acquire))
}

/// The communicator of this process alone, if MPI is running.
#[inline(always)]
pub(super) fn peek_self() -> Option<NonNull<Comm>> {
    // Acquire: pairs with the Release in `open_predefined`.
    NonNull::new(SELF.load(Ordering::Acquire))
}

#[inline(always)]
pub(super) fn world() -> Result<NonNull<Comm>> {
    find(&WORLD)
}

#[inline(always)]
pub(super) fn comm_self() -> Result<NonNull<Comm>> {
    find(&SELF)
}
