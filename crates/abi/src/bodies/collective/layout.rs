//! Buffers with a block for each rank, or for each edge of a topology.

use crate::argument::{Counts, List};
use crate::error::Result;
use heddle_collective::{Parts, TypedParts};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_platform::allocate::{reserve, try_collected};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

/// The counts and displacements of a buffer with a block for each rank.
pub(in crate::bodies) struct Layout {
    /// The counts, and then the displacements.
    numbers: Vec<i64>,
    blocks: usize,
}

impl Layout {
    pub(in crate::bodies) fn new(counts: Counts<'_>, displs: Counts<'_>, ranks: usize) -> Result<Layout> {
        let mut numbers = Vec::new();
        reserve(&mut numbers, 2 * ranks)?;
        counts.append_to(&mut numbers, ranks)?;
        displs.append_to(&mut numbers, ranks)?;
        Ok(Layout { numbers, blocks: ranks })
    }

    /// With displacements that have one type in both forms.
    pub(in crate::bodies) fn in_bytes(
        counts: Counts<'_>,
        displs: List<'_, i64>,
        edges: usize,
    ) -> Result<Layout> {
        Layout::new(counts, Counts::Large(displs), edges)
    }

    pub(in crate::bodies) fn new_if(
        count: bool,
        counts: Counts<'_>,
        displs: Counts<'_>,
        ranks: usize,
    ) -> Result<Option<Layout>> {
        count.then(|| Layout::new(counts, displs, ranks)).transpose()
    }

    pub(in crate::bodies) fn parts<'a>(
        &'a self,
        address: *const c_void,
        datatype: &'a TypeInUse,
    ) -> Result<Parts<'a>> {
        let (counts, displs) = self.numbers.split_at(self.blocks);
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { Parts::new(address.cast_mut().cast(), counts, displs, datatype) }
    }

    pub(in crate::bodies) fn typed<'a>(
        &'a self,
        address: *const c_void,
        datatypes: &'a [TypeInUse],
    ) -> Result<TypedParts<'a>> {
        let (counts, displs) = self.numbers.split_at(self.blocks);
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { TypedParts::new(address.cast_mut().cast(), counts, displs, datatypes) }
    }
}

/// A buffer with a block for each rank, unless the standard ignores it.
pub(in crate::bodies) fn parts_if<'a>(
    address: *const c_void,
    layout: Option<&'a Layout>,
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
