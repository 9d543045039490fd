//! `MPI_COMM_WORLD`, `MPI_COMM_SELF`, and a communicator of all processes for the library alone.

use super::object::Comm;
use crate::error::{Error, Result};
use heddle_message::domain;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

/// These communicators, made once and never freed.
static MADE: OnceLock<[Comm; 3]> = OnceLock::new();

/// The communicators while MPI is initialised and not finalized.
static WORLD: AtomicPtr<Comm> = AtomicPtr::new(null_mut());
static SELF: AtomicPtr<Comm> = AtomicPtr::new(null_mut());
static CREATIONS: AtomicPtr<Comm> = AtomicPtr::new(null_mut());

/// Makes these communicators visible to calls.
/// `creations` has all processes: on it travel the messages that make communicators without a parent.
pub fn open_predefined(world: Comm, comm_self: Comm, creations: Comm) {
    world.set_name("MPI_COMM_WORLD");
    comm_self.set_name("MPI_COMM_SELF");
    let [world, comm_self, creations] = MADE.get_or_init(|| [world, comm_self, creations]);
    // Release: pairs with the Acquire in `find`.
    WORLD.store(std::ptr::from_ref(world).cast_mut(), Ordering::Release);
    SELF.store(std::ptr::from_ref(comm_self).cast_mut(), Ordering::Release);
    CREATIONS.store(std::ptr::from_ref(creations).cast_mut(), Ordering::Release);
}

/// Hides the communicators from calls.
pub fn close_predefined() {
    WORLD.store(null_mut(), Ordering::Release);
    SELF.store(null_mut(), Ordering::Release);
    CREATIONS.store(null_mut(), Ordering::Release);
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

pub(super) fn creations() -> Result<NonNull<Comm>> {
    find(&CREATIONS)
}

#[inline(always)]
pub(super) fn comm_self() -> Result<NonNull<Comm>> {
    find(&SELF)
}
