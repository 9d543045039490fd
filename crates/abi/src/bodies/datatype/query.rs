//! Sizes, bounds, and how a datatype was made.

use super::found;
use crate::argument::{CountOut, List, Out, TypeGetContentsArguments, bytes_of};
use crate::error::{Error, Result};
use heddle_comm::datatype;
use heddle_datatype::{Combiner, Contents, Form, TypeRef};
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_int;

pub(crate) fn type_size(datatype: DatatypeHandle, size: CountOut) -> Result<()> {
    size.set(found(datatype)?.size())
}

pub(crate) fn type_size_x(datatype: DatatypeHandle, size: Out<i64>) -> Result<()> {
    size.set(found(datatype)?.size())
}

pub(crate) fn type_get_extent(datatype: DatatypeHandle, lb: Out<i64>, extent: Out<i64>) -> Result<()> {
    let datatype = found(datatype)?;
    lb.set(datatype.lb())?;
    extent.set(datatype.extent())
}

pub(crate) fn type_get_extent_x(datatype: DatatypeHandle, lb: Out<i64>, extent: Out<i64>) -> Result<()> {
    type_get_extent(datatype, lb, extent)
}

pub(crate) fn type_get_true_extent(
    datatype: DatatypeHandle,
    true_lb: Out<i64>,
    true_extent: Out<i64>,
) -> Result<()> {
    let datatype = found(datatype)?;
    true_lb.set(datatype.true_lb())?;
    true_extent.set(datatype.true_extent())
}

pub(crate) fn type_get_true_extent_x(
    datatype: DatatypeHandle,
    true_lb: Out<i64>,
    true_extent: Out<i64>,
) -> Result<()> {
    type_get_true_extent(datatype, true_lb, true_extent)
}

fn elements(status: List<'_, Status>, datatype: DatatypeHandle) -> Result<i64> {
    let datatype = found(datatype)?;
    Ok(datatype.get_elements(bytes_of(status.only()?)).unwrap_or(mpi::MPI_UNDEFINED.into()))
}

pub(crate) fn get_elements(
    status: List<'_, Status>,
    datatype: DatatypeHandle,
    count: CountOut,
) -> Result<()> {
    count.set(elements(status, datatype)?)
}

pub(crate) fn get_elements_x(
    status: List<'_, Status>,
    datatype: DatatypeHandle,
    count: Out<i64>,
) -> Result<()> {
    count.set(elements(status, datatype)?)
}

/// The form of a query without large counts cannot describe a datatype that was made with them.
fn check_form(contents: &Contents, is_small: bool) -> Result<()> {
    if !is_small || contents.counts.is_empty() {
        return Ok(());
    }
    let message =
        "the datatype was made with large counts: call the form of this function whose name ends in _c";
    Err(Error::new(mpi::MPI_ERR_TYPE, message))
}

pub(crate) fn type_get_envelope(
    datatype: DatatypeHandle,
    num_integers: CountOut,
    num_addresses: CountOut,
    num_large_counts: CountOut,
    num_datatypes: CountOut,
    combiner: Out<c_int>,
) -> Result<()> {
    let datatype = found(datatype)?;
    let contents = datatype.contents();
    check_form(contents, num_large_counts.is_absent())?;
    num_integers.set(contents.integers.len() as i64)?;
    num_addresses.set(contents.addresses.len() as i64)?;
    num_large_counts.set(contents.counts.len() as i64)?;
    num_datatypes.set(contents.types.len() as i64)?;
    combiner.set(contents.combiner as c_int)
}

/// The number of values to store in an array with room for `room`.
fn fitting(what: &str, needed: usize, room: i64) -> Result<usize> {
    if needed as i64 <= room {
        return Ok(needed);
    }
    let message = format!("there are {needed} {what}, but the array has room for {room}");
    Err(Error::new(mpi::MPI_ERR_ARG, message))
}

pub(crate) fn type_get_contents(form: Form, call: TypeGetContentsArguments<'_>) -> Result<()> {
    let datatype = found(call.datatype)?;
    let contents = datatype.contents();
    if contents.combiner == Combiner::Named {
        let message = "a predefined datatype has no contents: ask MPI_Type_get_envelope first";
        return Err(Error::new(mpi::MPI_ERR_TYPE, message));
    }
    check_form(contents, form == Form::Small)?;
    let integers = fitting("integers", contents.integers.len(), call.max_integers)?;
    let integers = call.array_of_integers.slice(integers)?;
    let addresses = fitting("addresses", contents.addresses.len(), call.max_addresses)?;
    let addresses = call.array_of_addresses.slice(addresses)?;
    let counts = fitting("large counts", contents.counts.len(), call.max_large_counts)?;
    let counts = call.array_of_large_counts.slice(counts)?;
    let datatypes = fitting("datatypes", contents.types.len(), call.max_datatypes)?;
    let datatypes = call.array_of_datatypes.slice(datatypes)?;
    for (to, from) in integers.iter_mut().zip(&contents.integers) {
        *to = *from as c_int;
    }
    addresses.copy_from_slice(&contents.addresses);
    counts.copy_from_slice(&contents.counts);
    for (to, from) in datatypes.iter_mut().zip(&contents.types) {
        *to = DatatypeHandle(handle_of(from));
    }
    Ok(())
}

/// A handle for a part of a datatype. Unless the part is predefined, the handle is new and
/// the program must free it.
fn handle_of(part: &TypeRef) -> usize {
    match part {
        TypeRef::Predefined(part) => {
            part.predefined_basic().map_or(mpi::MPI_DATATYPE_NULL, |basic| basic.handle)
        }
        TypeRef::Derived(part) => {
            datatype::handle_of_unnamed(part).unwrap_or_else(|| datatype::insert(part.clone()))
        }
    }
}
