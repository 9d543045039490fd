//! Memory for the program.

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::{domain, info};
use heddle_spec::constants as mpi;
use heddle_spec::handle::InfoHandle;
use heddle_window::allocated;
use std::ffi::c_void;

/// A cache line, so that data which threads and processes share has its cache lines to itself.
const ALIGNMENT: usize = 64;

/// `baseptr` is a pointer to the pointer that receives the address.
pub(crate) fn alloc_mem(size: i64, info: InfoHandle, baseptr: *mut c_void) -> Result<()> {
    // SAFETY: the program passes the address of a pointer.
    let variable = unsafe { Out::<*mut c_void>::new(baseptr.cast()) };
    let variable = variable.variable()?;
    let bytes = usize::try_from(size).map_err(|_| {
        Error::new(mpi::MPI_ERR_ARG, format!("the size of the memory is {size}, but it may not be negative"))
    })?;
    let alignment = wanted_alignment(info)?;
    *variable = allocated::alloc(domain::current()?, bytes, alignment)?.cast();
    Ok(())
}

/// The alignment that the hint `mpi_minimum_memory_alignment` asks for, in bytes; a cache line at least.
fn wanted_alignment(info: InfoHandle) -> Result<usize> {
    let hints = info::hints(info.0)?;
    let wanted = hints.iter().find(|(key, _)| key == "mpi_minimum_memory_alignment");
    let wanted = wanted.and_then(|(_, value)| value.trim().parse::<usize>().ok());
    Ok(wanted.filter(|wanted| wanted.is_power_of_two()).unwrap_or(0).max(ALIGNMENT))
}

pub(crate) fn free_mem(base: *mut c_void) -> Result<()> {
    if base.is_null() { Ok(()) } else { allocated::free(base.cast()) }
}
