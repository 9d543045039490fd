//! Constructors of parts of arrays.

use super::construct::give;
use super::old_type;
use crate::argument::{Counts, List, TypeCreateDarrayArguments, TypeCreateSubarrayArguments, length_of};
use crate::error::Result;
use heddle_datatype::{Datatype, Distributed, Form};
use std::ffi::c_int;

fn wide(list: List<'_, c_int>, length: usize) -> Result<Vec<i64>> {
    Ok(list.slice(length)?.iter().map(|&value| i64::from(value)).collect())
}

fn all(counts: Counts<'_>, length: usize) -> Result<Vec<i64>> {
    Ok(counts.slice(length)?.iter().collect())
}

pub(crate) fn type_create_subarray(form: Form, call: TypeCreateSubarrayArguments<'_>) -> Result<()> {
    give(call.newtype, || {
        let (length, old) = (length_of(call.ndims)?, old_type(call.oldtype)?);
        let sizes = all(call.array_of_sizes, length)?;
        let subsizes = all(call.array_of_subsizes, length)?;
        let starts = all(call.array_of_starts, length)?;
        Ok(Datatype::subarray(form, &sizes, &subsizes, &starts, call.order.into(), &old))
    })
}

pub(crate) fn type_create_darray(form: Form, call: TypeCreateDarrayArguments<'_>) -> Result<()> {
    give(call.newtype, || {
        let (length, old) = (length_of(call.ndims)?, old_type(call.oldtype)?);
        let array = Distributed {
            size: call.size.into(),
            rank: call.rank.into(),
            global_sizes: &all(call.array_of_gsizes, length)?,
            distributions: &wide(call.array_of_distribs, length)?,
            arguments: &wide(call.array_of_dargs, length)?,
            process_sizes: &wide(call.array_of_psizes, length)?,
            order: call.order.into(),
        };
        Ok(Datatype::darray(form, &array, &old))
    })
}
