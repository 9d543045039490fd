//! Constructors of parts of arrays.

use super::construct::give;
use super::old_type;
use crate::argument::{Counts, TypeCreateDarrayArguments, TypeCreateSubarrayArguments, length_of};
use crate::error::Result;
use heddle_datatype::{Datatype, Distributed, Form};

pub(crate) fn type_create_subarray(form: Form, call: TypeCreateSubarrayArguments<'_>) -> Result<()> {
    give(call.newtype, || {
        let (length, old) = (length_of(call.ndims)?, old_type(call.oldtype)?);
        let sizes = call.array_of_sizes.widened(length)?;
        let subsizes = call.array_of_subsizes.widened(length)?;
        let starts = call.array_of_starts.widened(length)?;
        Ok(Datatype::subarray(form, &sizes, &subsizes, &starts, call.order.into(), &old))
    })
}

pub(crate) fn type_create_darray(form: Form, call: TypeCreateDarrayArguments<'_>) -> Result<()> {
    give(call.newtype, || {
        let (length, old) = (length_of(call.ndims)?, old_type(call.oldtype)?);
        let array = Distributed {
            size: call.size.into(),
            rank: call.rank.into(),
            global_sizes: &call.array_of_gsizes.widened(length)?,
            distributions: &Counts::Int(call.array_of_distribs).widened(length)?,
            arguments: &Counts::Int(call.array_of_dargs).widened(length)?,
            process_sizes: &Counts::Int(call.array_of_psizes).widened(length)?,
            order: call.order.into(),
        };
        Ok(Datatype::darray(form, &array, &old))
    })
}
