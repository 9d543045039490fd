//! `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which exist between `MPI_Init` and `MPI_Finalize`, and a
//! communicator of all processes for the library alone, which is there while the library is in use.

use super::object::Comm;
use crate::errhandler::{self, ErrhandlerCell};
use crate::error::{Error, Result};
use heddle_message::domain;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

heddle_platform::per_process! {
    /// These communicators, made once and never freed.
    static MADE: OnceLock<[Comm; 2]> = OnceLock::new();

    static MADE_CREATIONS: OnceLock<Comm> = OnceLock::new();

    /// The communicators while calls may use them.
    static WORLD: AtomicPtr<Comm> = AtomicPtr::new(null_mut());

    static SELF: AtomicPtr<Comm> = AtomicPtr::new(null_mut());

    static CREATIONS: AtomicPtr<Comm> = AtomicPtr::new(null_mut());
}

/// Makes the library's own communicator visible, for the first time or again. It has all processes: on it
/// travel the messages that make communicators without a parent.
pub fn open_creations(creations: impl FnOnce() -> Comm) {
    let creations = MADE_CREATIONS.get_or_init(creations);
    // Release: pairs with the Acquire in `find`.
    CREATIONS.store(std::ptr::from_ref(creations).cast_mut(), Ordering::Release);
}

/// Hides it.
pub fn close_creations() {
    CREATIONS.store(null_mut(), Ordering::Release);
}

/// Makes `MPI_COMM_WORLD` and `MPI_COMM_SELF` visible to calls.
pub fn open_predefined(mut world: Comm, mut comm_self: Comm) {
    for comm in [&mut world, &mut comm_self] {
        comm.errhandler = ErrhandlerCell::new(errhandler::initial());
    }
    world.set_name("MPI_COMM_WORLD");
    comm_self.set_name("MPI_COMM_SELF");
    let [world, comm_self] = MADE.get_or_init(|| [world, comm_self]);
    // Release: pairs with the Acquire in `find`.
    WORLD.store(std::ptr::from_ref(world).cast_mut(), Ordering::Release);
    SELF.store(std::ptr::from_ref(comm_self).cast_mut(), Ordering::Release);
}

/// Hides them.
pub fn close_predefined() {
    WORLD.store(null_mut(), Ordering::Release);
    SELF.store(null_mut(), Ordering::Release);
}

#[inline(always)]
fn find(pointer: &AtomicPtr<Comm>) -> Result<NonNull<Comm>> {
    // Acquire: pairs with the Release in `open_predefined` and `open_creations`.
    NonNull::new(pointer.load(Ordering::Acquire)).ok_or_else(not_there)
}

#[cold]
fn not_there() -> Error {
    match domain::current() {
        Err(error) => error,
        Ok(_) => {
            let message = "MPI_COMM_WORLD and MPI_COMM_SELF exist between MPI_Init and MPI_Finalize only; \
                           MPI_Comm_create_from_group makes communicators of a session's groups";
            Error::new(mpi::MPI_ERR_COMM, message)
        }
    }
}

impl Comm {
    /// Returns true for `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    pub(super) fn is_predefined(&self) -> bool {
        MADE.get().is_some_and(|made| made.iter().any(|known| std::ptr::eq(known, self)))
    }
}

/// Returns true if the library is in use.
#[inline(always)]
pub(super) fn is_running() -> bool {
    // Acquire: pairs with the Release in `open_creations`.
    !CREATIONS.load(Ordering::Acquire).is_null()
}

/// `MPI_COMM_WORLD`, if MPI is initialised and not finalized.
#[inline(always)]
pub(super) fn peek_world() -> Option<NonNull<Comm>> {
    // Acquire: pairs with the Release in `open_predefined`.
    NonNull::new(WORLD.load(Ordering::Acquire))
}

/// `MPI_COMM_SELF`, if MPI is initialised and not finalized.
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
