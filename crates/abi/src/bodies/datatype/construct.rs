//! Constructors.

use super::{old_type, type_error};
use crate::argument::{Counts, List, Out};
use crate::error::{Error, Result};
use heddle_comm::datatype;
use heddle_datatype::{Constructed, Datatype, Form, TypeRef};
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;

/// Stores the handle of a new datatype.
pub(super) fn give(
    newtype: Out<DatatypeHandle>,
    construct: impl FnOnce() -> Result<Constructed>,
) -> Result<()> {
    let newtype = newtype.variable()?;
    let datatype = construct()?.map_err(type_error)?;
    newtype.0 = datatype::insert(datatype);
    Ok(())
}

/// The length of the arrays.
fn length(count: i64) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| Error::new(mpi::MPI_ERR_COUNT, format!("count is {count}, but it may not be negative")))
}

fn all(counts: Counts<'_>, length: usize) -> Result<Vec<i64>> {
    Ok(counts.slice(length)?.iter().collect())
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
        Ok(Datatype::indexed(form, &all(blocklengths, length)?, &all(displacements, length)?, &old))
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
        Ok(Datatype::hindexed(form, &all(blocklengths, length)?, displacements.slice(length)?, &old))
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
        Ok(Datatype::indexed_block(form, blocklength, &all(displacements, length)?, &old))
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
        let types: Result<Vec<TypeRef>> =
            types.slice(length)?.iter().map(|&handle| old_type(handle)).collect();
        Ok(Datatype::structure(form, &all(blocklengths, length)?, displacements.slice(length)?, &types?))
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
