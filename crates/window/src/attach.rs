//! Regions of memory that a process attaches to a dynamic window (MPI 5.0, section 12.2.4).
//! Displacements are addresses.
//!
//! A process lists its regions in its window block, where others find out whether an access lies in one.
//! Only the process itself changes the list; the program detaches no region that others still access.

use crate::geometry::{Geometry, REGIONS, WordAt};
use crate::remote::Remote;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::sync::{Mutex, PoisonError};

/// Keeps threads of this process from attaching at the same time.
static ATTACHING: Mutex<()> = Mutex::new(());

#[cold]
fn failed(message: String) -> Error {
    Error::new(mpi::MPI_ERR_RMA_ATTACH, message)
}

/// Adds a region to this process's list.
///
/// # Errors
/// `MPI_ERR_BASE` if it begins at a null pointer; `MPI_ERR_RMA_ATTACH` if it overlaps an attached region,
/// ends beyond all addresses, or if the list is full.
pub(crate) fn attach(remote: &impl Remote, own: usize, address: u64, len: u64) -> Result<()> {
    if address == 0 && len > 0 {
        let message = format!("{len} bytes of memory are to be attached at a null pointer");
        return Err(Error::new(mpi::MPI_ERR_BASE, message));
    }
    // Displacements are signed, so no region ends beyond 63 bits.
    if address.checked_add(len).is_none_or(|end| end > i64::MAX as u64) {
        return Err(failed(format!("the {len} bytes at {address:#x} end beyond all addresses")));
    }
    let _alone = ATTACHING.lock().unwrap_or_else(PoisonError::into_inner);
    let used = remote.load(own, remote.geometry().regions_used()) as usize;
    let mut free = used;
    for index in 0..used {
        let (first, size) = read(remote, own, index);
        if size == 0 {
            free = index;
        } else if address < first + size && first < address + len.max(1) {
            return Err(failed(format!(
                "the {len} bytes at {address:#x} overlap the {size} bytes at {first:#x}, which are attached already"
            )));
        }
    }
    if len == 0 {
        return Ok(());
    }
    if free == REGIONS {
        return Err(failed(format!("{REGIONS} regions are attached; detach one before you attach another")));
    }
    let [first, size] = remote.geometry().region(free);
    remote.store(own, first, address);
    // A process that reads the length also reads the address.
    remote.store(own, size, len);
    if free == used {
        remote.store(own, remote.geometry().regions_used(), used as u64 + 1);
    }
    Ok(())
}

/// Removes the region that begins at `address`.
///
/// # Errors
/// `MPI_ERR_RMA_ATTACH` if there is none.
pub(crate) fn detach(remote: &impl Remote, own: usize, address: u64) -> Result<()> {
    let _alone = ATTACHING.lock().unwrap_or_else(PoisonError::into_inner);
    let used = remote.load(own, remote.geometry().regions_used()) as usize;
    match (0..used).find(|index| matches!(read(remote, own, *index), (first, 1..) if first == address)) {
        Some(index) => {
            remote.store(own, remote.geometry().region(index)[1], 0);
            Ok(())
        }
        None => Err(failed(format!("no region that begins at {address:#x} is attached to this window"))),
    }
}

/// Returns true if the bytes lie in a region that the process has attached, whose words `load` reads.
pub(crate) fn is_in_region(
    geometry: &Geometry,
    load: impl Fn(WordAt) -> u64,
    address: u64,
    len: u64,
) -> bool {
    let used = load(geometry.regions_used()) as usize;
    (0..used.min(REGIONS)).any(|index| {
        let (first, size) = region(geometry, &load, index);
        first <= address && address - first <= size && len <= size - (address - first)
    })
}

fn read(remote: &impl Remote, rank: usize, index: usize) -> (u64, u64) {
    region(remote.geometry(), |word| remote.load(rank, word), index)
}

fn region(geometry: &Geometry, load: impl Fn(WordAt) -> u64, index: usize) -> (u64, u64) {
    let [first, size] = geometry.region(index);
    // The length first: `attach` stores it last.
    let size = load(size);
    (load(first), size)
}
