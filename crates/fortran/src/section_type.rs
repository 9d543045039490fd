//! Datatypes for array sections with gaps.

use crate::constants::{MPI_DATATYPE_NULL, MPI_SUCCESS};
use crate::handle::Handle;
use crate::section::Section;
use crate::subroutines as c;
use std::ffi::c_int;

/// A datatype that is made here, and freed.
pub(crate) struct Datatype(Handle);

impl Datatype {
    fn made(make: impl FnOnce(&mut Handle) -> c_int) -> Option<Datatype> {
        let mut handle = MPI_DATATYPE_NULL;
        (make(&mut handle) == MPI_SUCCESS).then_some(Datatype(handle))
    }

    fn contiguous(count: i64, of: Handle) -> Option<Datatype> {
        // SAFETY: there is room for a handle.
        Datatype::made(|made| unsafe { c::PMPI_Type_contiguous_c(count, of, made) })
    }

    /// Elements of one type that begin `stride` bytes behind each other.
    fn strided(count: i64, stride: i64, of: &Datatype) -> Option<Datatype> {
        // SAFETY: there is room for a handle.
        Datatype::made(|made| unsafe { c::PMPI_Type_create_hvector_c(count, 1, stride, of.0, made) })
    }

    /// An element, and another one `behind` bytes behind it.
    fn joined(first: &Datatype, behind: i64, second: &Datatype) -> Option<Datatype> {
        let mut parts = ([1, 1], [0, behind], [first.0, second.0]);
        let (lengths, displacements, types) = &mut parts;
        // SAFETY: there are two of each, and room for a handle.
        Datatype::made(|made| unsafe {
            let [lengths, displacements] = [lengths.as_mut_ptr(), displacements.as_mut_ptr()];
            c::PMPI_Type_create_struct_c(2, lengths, displacements, types.as_mut_ptr(), made)
        })
    }

    fn resized(of: Handle, extent: isize) -> Option<Datatype> {
        // SAFETY: there is room for a handle.
        Datatype::made(|made| unsafe { c::PMPI_Type_create_resized(of, 0, extent, made) })
    }

    /// Its handle, of which the program's operation makes use.
    pub(crate) fn committed(&mut self) -> Option<Handle> {
        // SAFETY: it is a datatype.
        (unsafe { c::PMPI_Type_commit(&raw mut self.0) } == MPI_SUCCESS).then_some(self.0)
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        // SAFETY: it was made here. Operations that use it keep it.
        unsafe { c::PMPI_Type_free(&raw mut self.0) };
    }
}

/// The bytes of an element of a datatype, if it has no gaps and the next element follows at once.
fn bytes_without_gaps(datatype: Handle) -> Option<i64> {
    let (mut bytes, mut begin, mut extent, mut true_begin, mut true_extent) = (0, 0, 0, 0, 0);
    // SAFETY: there is room for each number.
    let code = unsafe { c::PMPI_Type_size_c(datatype, &raw mut bytes) };
    // SAFETY: the same.
    let extent_code = unsafe { c::PMPI_Type_get_extent(datatype, &raw mut begin, &raw mut extent) };
    // SAFETY: the same.
    let true_code =
        unsafe { c::PMPI_Type_get_true_extent(datatype, &raw mut true_begin, &raw mut true_extent) };
    let is_known = [code, extent_code, true_code] == [MPI_SUCCESS; 3];
    let has_no_gaps = (begin, true_begin) == (0, 0) && extent == true_extent && extent as i64 == bytes;
    (is_known && has_no_gaps && bytes > 0).then_some(bytes)
}

/// A datatype for a section.
pub(crate) enum Described {
    /// Each of its elements, which MPI counts as it counts those of the program's type.
    Element(Datatype),
    /// All of its elements together.
    Whole(Datatype),
    /// There are fewer elements in it than the program asks for.
    TooShort,
}

/// A datatype for the elements of a section. `count` is their number, if they belong to one message.
/// `None` if there is no such datatype.
pub(crate) fn describe(section: &Section, count: Option<i64>, datatype: Handle) -> Option<Described> {
    let bytes = bytes_without_gaps(datatype)?;
    let in_block = section.block as i64 / bytes;
    if in_block * bytes != section.block as i64 {
        return None;
    }
    let elements =
        section.dimensions.iter().map(|dimension| dimension.extent as i64).product::<i64>() * in_block;
    if count.is_some_and(|count| count > elements) {
        return Some(Described::TooShort);
    }
    match (&*section.dimensions, count) {
        ([dimension], _) if in_block == 1 && dimension.stride > 0 => {
            Datatype::resized(datatype, dimension.stride).map(Described::Element)
        }
        (_, Some(count)) => {
            first(section, section.dimensions.len(), in_block, datatype, count).map(Described::Whole)
        }
        _ => None,
    }
}

/// All elements of the first `rank` dimensions.
fn all(section: &Section, rank: usize, in_block: i64, datatype: Handle) -> Option<Datatype> {
    let mut all = Datatype::contiguous(in_block, datatype)?;
    for dimension in &section.dimensions[..rank] {
        all = Datatype::strided(dimension.extent as i64, dimension.stride as i64, &all)?;
    }
    Some(all)
}

/// The first `count` elements of the first `rank` dimensions: whole steps of the last of these, and a rest
/// within a step.
fn first(section: &Section, rank: usize, in_block: i64, datatype: Handle, count: i64) -> Option<Datatype> {
    let Some((last, inner)) = section.dimensions[..rank].split_last() else {
        return Datatype::contiguous(count, datatype);
    };
    let in_step = inner.iter().map(|dimension| dimension.extent as i64).product::<i64>() * in_block;
    let (steps, rest) = (count / in_step, count % in_step);
    let stride = last.stride as i64;
    let whole = Datatype::strided(steps, stride, &all(section, rank - 1, in_block, datatype)?)?;
    if rest == 0 {
        return Some(whole);
    }
    Datatype::joined(&whole, steps * stride, &first(section, rank - 1, in_block, datatype, rest)?)
}
