//! Constructors.

use super::old_type;
use crate::argument::{Counts, List, Out};
use crate::error::{Error, Result};
use heddle_comm::datatype;
use heddle_datatype::{Constructed, Datatype, Form, TypeRef};
use heddle_platform::allocate::try_collected;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;

/// Stores the handle of a new datatype.
pub(super) fn give(
    newtype: Out<DatatypeHandle>,
    construct: impl FnOnce() -> Result<Constructed>,
) -> Result<()> {
    let newtype = newtype.variable()?;
    let datatype = construct()?.map_err(datatype::not_made)?;
    newtype.0 = datatype::insert(datatype);
    Ok(())
}

/// The length of the arrays.
fn length(count: i64) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| Error::new(mpi::MPI_ERR_COUNT, format!("count is {count}, but it may not be negative")))
}

pub(crate) fn type_contiguous(
    form: Form,
    count: i64,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || Ok(Datatype::contiguous(form, count, &old_type(oldtype)?)))
}

pub(crate) fn type_vector(
    form: Form,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || Ok(Datatype::vector(form, count, blocklength, stride, &old_type(oldtype)?)))
}

pub(crate) fn type_create_hvector(
    form: Form,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || Ok(Datatype::hvector(form, count, blocklength, stride, &old_type(oldtype)?)))
}

pub(crate) fn type_indexed(
    form: Form,
    count: i64,
    blocklengths: Counts<'_>,
    displacements: Counts<'_>,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length(count)?, old_type(oldtype)?);
        let (blocklengths, displacements) = (blocklengths.widened(length)?, displacements.widened(length)?);
        Ok(Datatype::indexed(form, &blocklengths, &displacements, &old))
    })
}

pub(crate) fn type_create_hindexed(
    form: Form,
    count: i64,
    blocklengths: Counts<'_>,
    displacements: List<'_, i64>,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length(count)?, old_type(oldtype)?);
        Ok(Datatype::hindexed(form, &blocklengths.widened(length)?, displacements.slice(length)?, &old))
    })
}

pub(crate) fn type_create_indexed_block(
    form: Form,
    count: i64,
    blocklength: i64,
    displacements: Counts<'_>,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length(count)?, old_type(oldtype)?);
        Ok(Datatype::indexed_block(form, blocklength, &displacements.widened(length)?, &old))
    })
}

pub(crate) fn type_create_hindexed_block(
    form: Form,
    count: i64,
    blocklength: i64,
    displacements: List<'_, i64>,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length(count)?, old_type(oldtype)?);
        Ok(Datatype::hindexed_block(form, blocklength, displacements.slice(length)?, &old))
    })
}

pub(crate) fn type_create_struct(
    form: Form,
    count: i64,
    blocklengths: Counts<'_>,
    displacements: List<'_, i64>,
    types: List<'_, DatatypeHandle>,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let length = length(count)?;
        let types: Vec<TypeRef> = try_collected(types.slice(length)?.iter().map(|&old| old_type(old)))?;
        let (blocklengths, displacements) = (blocklengths.widened(length)?, displacements.slice(length)?);
        Ok(Datatype::structure(form, &blocklengths, displacements, &types))
    })
}

pub(crate) fn type_create_resized(
    form: Form,
    oldtype: DatatypeHandle,
    lb: i64,
    extent: i64,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || Ok(Datatype::resized(form, lb, extent, &old_type(oldtype)?)))
}
