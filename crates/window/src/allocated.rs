//! The memory of `MPI_Alloc_mem`: shared from the start, so that a window made over it later can be
//! mapped by other processes.

use crate::memory::allocate_untouched;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_transport::{SharedMemory, SharedRange};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The blocks, by the addresses that the program has.
static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

struct Block {
    memory: SharedMemory,
    /// Bytes that the program may use.
    len: usize,
}

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates `len` bytes at a multiple of `alignment`, a power of two.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub fn alloc(domain: &Domain, len: usize, alignment: usize) -> Result<*mut u8> {
    // A mapping begins on a page; for more than that the beginning is moved.
    let spare = if alignment > 4096 { alignment } else { 0 };
    let memory = allocate_untouched(domain, len.saturating_add(spare))?;
    let address = memory.as_ptr().wrapping_add(memory.as_ptr().align_offset(alignment));
    blocks().insert(address.addr(), Block { memory, len });
    Ok(address)
}

/// Frees a block.
///
/// # Errors
/// `MPI_ERR_BASE` if no block begins at this address.
pub fn free(address: *mut u8) -> Result<()> {
    match blocks().remove(&address.addr()) {
        Some(_) => Ok(()),
        None => {
            let message = format!(
                "{address:p} is not the address of memory from MPI_Alloc_mem, or it was freed already"
            );
            Err(Error::new(mpi::MPI_ERR_BASE, message))
        }
    }
}

/// The range of the job's file in which `len` bytes at an address lie, and where in it they begin; `None`
/// if others cannot map them.
pub(crate) fn find(address: usize, len: usize) -> Option<(Option<SharedRange>, usize)> {
    let blocks = blocks();
    let (first, block) = blocks.range(..=address).next_back()?;
    let inside = address.checked_add(len).is_some_and(|end| end <= first + block.len);
    inside.then(|| (block.memory.range(), address - block.memory.as_ptr().addr()))
}
