//! Constructors of parts of arrays.

use super::construct::give;
use super::old_type;
use crate::argument::{Counts, List, Out, length_of};
use crate::error::Result;
use heddle_datatype::{Datatype, Distributed, Form};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_int;

fn wide(list: List<'_, c_int>, length: usize) -> Result<Vec<i64>> {
    Ok(list.slice(length)?.iter().map(|&value| i64::from(value)).collect())
}

fn all(counts: Counts<'_>, length: usize) -> Result<Vec<i64>> {
    Ok(counts.slice(length)?.iter().collect())
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn type_create_subarray(
    form: Form,
    ndims: c_int,
    sizes: Counts<'_>,
    subsizes: Counts<'_>,
    starts: Counts<'_>,
    order: c_int,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length_of(ndims)?, old_type(oldtype)?);
        let (sizes, subsizes, starts) = (all(sizes, length)?, all(subsizes, length)?, all(starts, length)?);
        Ok(Datatype::subarray(form, &sizes, &subsizes, &starts, order.into(), &old))
    })
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn type_create_darray(
    form: Form,
    size: c_int,
    rank: c_int,
    ndims: c_int,
    gsizes: Counts<'_>,
    distribs: List<'_, c_int>,
    dargs: List<'_, c_int>,
    psizes: List<'_, c_int>,
    order: c_int,
    oldtype: DatatypeHandle,
    newtype: Out<DatatypeHandle>,
) -> Result<()> {
    give(newtype, || {
        let (length, old) = (length_of(ndims)?, old_type(oldtype)?);
        let array = Distributed {
            size: size.into(),
            rank: rank.into(),
            global_sizes: &all(gsizes, length)?,
            distributions: &wide(distribs, length)?,
            arguments: &wide(dargs, length)?,
            process_sizes: &wide(psizes, length)?,
            order: order.into(),
        };
        Ok(Datatype::darray(form, &array, &old))
    })
}
