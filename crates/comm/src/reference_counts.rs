//! The references of requests, which `naive` and `suppress` count: by atomic additions, or inside a
//! critical section for each kind of object, as MPICH2 did before it had atomics (Balaji et al.,
//! IJHPCA 2010, section 5.3).

use crate::comm::COMMS;
use heddle_datatype::Datatype;
use heddle_message::request::{self, ReferenceCounts};
use heddle_model::counters::Section;
use heddle_model::{Guarded, Lifetime, Model, Path, ReferenceCounts as Choice, Sections};
use heddle_objects::table::{CountingSection, ObjectKind, Ref, count_in_sections, counting_section};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::CachePadded;
use std::sync::Arc;

/// The counts of predefined objects: two communicators, and the datatypes by their handles. No decision
/// depends on them, because these objects live as long as MPI: they are the cost of the paper's naive scheme.
static PREDEFINED: [CachePadded<AtomicU64>; COMMS_OF_MPI + TYPES_OF_MPI] =
    [const { CachePadded::new(AtomicU64::new(0)) }; COMMS_OF_MPI + TYPES_OF_MPI];
const COMMS_OF_MPI: usize = 2;
const TYPES_OF_MPI: usize = 256;

fn add(kind: ObjectKind, word: &AtomicU64, addend: u64) {
    match counting_section(kind) {
        None => word.fetch_add(addend, Ordering::AcqRel),
        Some(section) => section.add(word, addend),
    };
}

const UP: u64 = 1;
const DOWN: u64 = u64::MAX;

/// Applies the model's choice, before there are requests.
pub fn configure(model: &Model, sections: &Sections) {
    if model.reference_counts == Choice::Locked {
        count_in_sections(|| {
            Box::new(Locked(sections.guard_shared(Section::ReferenceCounts, ()))) as Box<dyn CountingSection>
        });
    }
    match model.lifetime {
        Lifetime::Naive => request::count_references(Box::new(Counts { predefined: true })),
        Lifetime::Suppress => request::count_references(Box::new(Counts { predefined: false })),
        Lifetime::Collect | Lifetime::Never => {}
    }
}

/// A critical section of the model in which counts change.
#[derive(Debug)]
struct Locked(Guarded<()>);

impl CountingSection for Locked {
    fn run(&self, change: &mut (dyn FnMut() + Send)) {
        self.0.with(Path::Main, |()| change());
    }
}

/// Counts the references of requests, those to predefined objects only under `naive`.
#[derive(Debug)]
struct Counts {
    predefined: bool,
}

fn is_predefined_comm(handle: usize) -> bool {
    handle <= mpi::MPI_COMM_SELF
}

impl ReferenceCounts for Counts {
    #[cold]
    fn keep_comm(&self, handle: usize) {
        if !is_predefined_comm(handle) {
            // SAFETY: no reference is taken over: this one is forgotten below, and the caller's
            // protection keeps the object.
            let held = unsafe { Ref::from_index(&COMMS, handle as u32) };
            held.clone().into_index();
            held.into_index();
        } else if self.predefined {
            add(ObjectKind::Comm, &PREDEFINED[handle - mpi::MPI_COMM_WORLD], UP);
        }
    }

    #[cold]
    fn let_comm_go(&self, handle: usize) {
        if !is_predefined_comm(handle) {
            // SAFETY: this gives up the reference that `keep_comm` made.
            drop(unsafe { Ref::from_index(&COMMS, handle as u32) });
        } else if self.predefined {
            add(ObjectKind::Comm, &PREDEFINED[handle - mpi::MPI_COMM_WORLD], DOWN);
        }
    }

    #[cold]
    unsafe fn keep_type(&self, datatype: *const Datatype) {
        // SAFETY: by the caller's promise.
        let Some(known) = (unsafe { datatype.as_ref() }) else { return };
        if known.is_predefined() {
            self.count_predefined(known, UP);
            return;
        }
        let address = datatype.expose_provenance();
        in_critical_section(move || {
            // SAFETY: by the caller's promise.
            unsafe { Arc::increment_strong_count(std::ptr::with_exposed_provenance::<Datatype>(address)) };
        });
    }

    #[cold]
    unsafe fn let_type_go(&self, datatype: *const Datatype) {
        // SAFETY: by the caller's promise.
        let Some(known) = (unsafe { datatype.as_ref() }) else { return };
        if known.is_predefined() {
            self.count_predefined(known, DOWN);
            return;
        }
        let address = datatype.expose_provenance();
        in_critical_section(move || {
            // SAFETY: by the caller's promise.
            unsafe { Arc::decrement_strong_count(std::ptr::with_exposed_provenance::<Datatype>(address)) };
        });
    }
}

impl Counts {
    fn count_predefined(&self, datatype: &Datatype, addend: u64) {
        if let (true, Some(basic)) = (self.predefined, datatype.predefined_basic()) {
            let word = COMMS_OF_MPI + (basic.handle - mpi::MPI_DATATYPE_NULL);
            add(ObjectKind::Datatype, &PREDEFINED[word], addend);
        }
    }
}

/// Runs a change of the count in an `Arc`, which is atomic in any case.
fn in_critical_section(change: impl FnOnce() + Send) {
    match counting_section(ObjectKind::Datatype) {
        None => change(),
        Some(section) => section.run(change),
    }
}
