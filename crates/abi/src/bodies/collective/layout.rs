//! Buffers with a block for each rank, or for each edge of a topology.

use crate::argument::{Counts, List};
use crate::error::Result;
use heddle_collective::{Numbers, Parts, TypedParts};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_platform::allocate::try_collected;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

/// The counts and displacements of a buffer with a block for each rank.
#[derive(Clone, Copy)]
pub(in crate::bodies) struct Layout<'a> {
    counts: Numbers<'a>,
    displs: Numbers<'a>,
}

impl<'a> Layout<'a> {
    pub(in crate::bodies) fn new(counts: Counts<'a>, displs: Counts<'a>, ranks: usize) -> Result<Layout<'a>> {
        Ok(Layout { counts: counts.numbers(ranks)?, displs: displs.numbers(ranks)? })
    }

    /// With displacements that have one type in both forms.
    pub(in crate::bodies) fn in_bytes(
        counts: Counts<'a>,
        displs: List<'a, i64>,
        edges: usize,
    ) -> Result<Layout<'a>> {
        Layout::new(counts, Counts::Large(displs), edges)
    }

    pub(in crate::bodies) fn new_if(
        count: bool,
        counts: Counts<'a>,
        displs: Counts<'a>,
        ranks: usize,
    ) -> Result<Option<Layout<'a>>> {
        count.then(|| Layout::new(counts, displs, ranks)).transpose()
    }

    pub(in crate::bodies) fn parts(
        &self,
        address: *const c_void,
        datatype: &'a TypeInUse,
    ) -> Result<Parts<'a>> {
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { Parts::new(address.cast_mut().cast(), self.counts, self.displs, datatype) }
    }

    pub(in crate::bodies) fn typed(
        &self,
        address: *const c_void,
        datatypes: &'a [TypeInUse],
    ) -> Result<TypedParts<'a>> {
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { TypedParts::new(address.cast_mut().cast(), self.counts, self.displs, datatypes) }
    }
}

/// A buffer with a block for each rank, unless the standard ignores it.
pub(in crate::bodies) fn parts_if<'a>(
    address: *const c_void,
    layout: Option<Layout<'a>>,
    datatype: Option<&'a TypeInUse>,
) -> Result<Option<Parts<'a>>> {
    layout.zip(datatype).map(|(layout, datatype)| layout.parts(address, datatype)).transpose()
}

pub(in crate::bodies) fn datatypes(
    handles: List<'_, DatatypeHandle>,
    ranks: usize,
) -> Result<Vec<TypeInUse>> {
    try_collected(handles.slice(ranks)?.iter().map(|handle| datatype::for_communication(handle.0)))
}
