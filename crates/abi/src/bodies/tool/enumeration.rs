//! Enumerations: the names that a control variable can have. An item's value is its index.

use crate::argument::{Out, TextOut};
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_tool::{self as tool, Control, Type};
use std::ffi::c_int;

/// The handle of the first control variable's enumeration would be this.
const FIRST: usize = 0x100;

/// The handle of the enumeration of the control variable with that index.
pub(super) fn handle(cvar_index: c_int) -> usize {
    FIRST + cvar_index as usize
}

fn of(enumtype: usize) -> Result<&'static Control> {
    tool::check()?;
    let control = enumtype.checked_sub(FIRST).and_then(|index| tool::controls().get(index));
    control
        .filter(|control| control.kind == Type::Item)
        .ok_or_else(|| Error::new(mpi::MPI_T_ERR_INVALID_HANDLE, format!("{enumtype:#x} is no enumeration")))
}

pub(crate) fn t_enum_get_info(
    enumtype: usize,
    num: Out<c_int>,
    name: TextOut,
    name_len: Out<c_int>,
) -> Result<()> {
    let control = of(enumtype)?;
    num.offer(control.items.len() as c_int);
    name.offer(&format!("{}_values", control.name), name_len);
    Ok(())
}

pub(crate) fn t_enum_get_item(
    enumtype: usize,
    indx: c_int,
    value: Out<c_int>,
    name: TextOut,
    name_len: Out<c_int>,
) -> Result<()> {
    let item = tool::at(&of(enumtype)?.items, indx)?;
    value.offer(indx);
    name.offer(item, name_len);
    Ok(())
}
