//! References that requests count, under `naive` and `suppress`: by atomic additions, or inside a section for each kind of
//! object, as MPICH2 did before it had the former (Balaji et al., IJHPCA 2010, section 5.3).

use super::section::section;
use crate::comm::COMMS;
use crate::object_table::{Kind, Ref};
use heddle_datatype::Datatype;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::CachePadded;
use std::sync::Arc;

/// The counts of predefined objects: two communicators, and the datatypes by their handles. They decide nothing, for these
/// objects live as long as MPI: they are what the paper's naive scheme pays.
static PREDEFINED: [CachePadded<AtomicU64>; COMMS_OF_MPI + TYPES_OF_MPI] =
    [const { CachePadded::new(AtomicU64::new(0)) }; COMMS_OF_MPI + TYPES_OF_MPI];
const COMMS_OF_MPI: usize = 2;
const TYPES_OF_MPI: usize = 256;

fn add(kind: Kind, word: &AtomicU64, addend: u64) {
    match section(kind) {
        None => word.fetch_add(addend, Ordering::AcqRel),
        Some(section) => section.add(word, addend),
    };
}

const UP: u64 = 1;
const DOWN: u64 = u64::MAX;

/// Whether requests count a communicator.
#[inline(always)]
pub(crate) fn counts_comm(handle: usize) -> bool {
    super::requests_count() && (super::predefined_count() || !is_predefined_comm(handle))
}

/// Whether requests count a datatype.
///
/// # Safety
/// Null, or a datatype that exists.
#[inline(always)]
pub(crate) unsafe fn counts_type(datatype: *const Datatype) -> bool {
    // SAFETY: the caller's promise.
    let derived = || unsafe { datatype.as_ref() }.is_some_and(|datatype| !datatype.is_predefined());
    super::requests_count() && (super::predefined_count() || derived())
}

/// A request begins to use a communicator, which its caller holds.
#[cold]
#[inline(never)]
pub(crate) fn keep_comm(handle: usize) {
    if !is_predefined_comm(handle) {
        // SAFETY: no reference is taken: this one is forgotten below, and the caller's hold keeps the object.
        let held = unsafe { Ref::from_index(&COMMS, handle as u32) };
        held.clone().into_index();
        held.into_index();
    } else if super::predefined_count() {
        add(Kind::Comm, &PREDEFINED[handle - mpi::MPI_COMM_WORLD], UP);
    }
}

/// A request has ended that used a communicator.
#[cold]
#[inline(never)]
pub(crate) fn let_comm_go(handle: usize) {
    if !is_predefined_comm(handle) {
        // SAFETY: the reference that `keep_comm` made.
        drop(unsafe { Ref::from_index(&COMMS, handle as u32) });
    } else if super::predefined_count() {
        add(Kind::Comm, &PREDEFINED[handle - mpi::MPI_COMM_WORLD], DOWN);
    }
}

fn is_predefined_comm(handle: usize) -> bool {
    handle <= mpi::MPI_COMM_SELF
}

/// A request begins to use a datatype.
///
/// # Safety
/// Null, or a predefined datatype, or one in an `Arc` that is held.
#[cold]
#[inline(never)]
pub(crate) unsafe fn keep_type(datatype: *const Datatype) {
    // SAFETY: by the caller's promise.
    let Some(known) = (unsafe { datatype.as_ref() }) else { return };
    if known.is_predefined() {
        count_predefined(known, UP);
        return;
    }
    let address = datatype.expose_provenance();
    in_section(move || {
        // SAFETY: by the caller's promise.
        unsafe { Arc::increment_strong_count(std::ptr::with_exposed_provenance::<Datatype>(address)) };
    });
}

/// A request has ended that used a datatype.
///
/// # Safety
/// As for [`keep_type`], which was called for it.
#[cold]
#[inline(never)]
pub(crate) unsafe fn let_type_go(datatype: *const Datatype) {
    // SAFETY: by the caller's promise.
    let Some(known) = (unsafe { datatype.as_ref() }) else { return };
    if known.is_predefined() {
        count_predefined(known, DOWN);
        return;
    }
    let address = datatype.expose_provenance();
    in_section(move || {
        // SAFETY: by the caller's promise.
        unsafe { Arc::decrement_strong_count(std::ptr::with_exposed_provenance::<Datatype>(address)) };
    });
}

/// Runs a change of the count in an `Arc`, which is atomic in any case.
fn in_section(change: impl FnOnce() + Send) {
    match section(Kind::Datatype) {
        None => change(),
        Some(section) => section.run(change),
    }
}

fn count_predefined(datatype: &Datatype, addend: u64) {
    if let (true, Some(basic)) = (super::predefined_count(), datatype.named_basic()) {
        let word = COMMS_OF_MPI + (basic.handle - mpi::MPI_DATATYPE_NULL);
        add(Kind::Datatype, &PREDEFINED[word], addend);
    }
}
