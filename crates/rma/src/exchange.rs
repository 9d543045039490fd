//! Processes that make a window tell each other a value of fixed length.

use heddle_collective::{Part, allgather, run};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_comm::error::{Error, Result};
use heddle_message::domain::Domain;
use heddle_spec::constants as mpi;
use heddle_window::{WindowOffer, far};

/// A value that travels as its bytes.
///
/// # Safety
/// It has no gaps, and any bytes are a value.
pub(crate) unsafe trait Bytes: Copy {}

// SAFETY: an offer consists of words.
unsafe impl Bytes for WindowOffer {}

/// Tells all processes the value of each.
pub(crate) fn exchange<T: Bytes>(comm: &CommRef, own: T) -> Result<Vec<T>> {
    let mut values = vec![own; comm.size()];
    let byte = datatype::from_handle(mpi::MPI_BYTE)?;
    let address = values.as_mut_ptr().cast::<u8>();
    // SAFETY: the vector has a value for each rank and outlives the call; any bytes are a value.
    let all = unsafe { Part::new(address, size_of::<T>() as i64, &byte) }?;
    run(comm, |talk| allgather(talk, None, all))?;
    Ok(values)
}

/// The longest address of a port.
const LONGEST_ADDRESS: usize = 1016;

/// The address of a process's port for windows; empty if it has none.
#[repr(C)]
#[derive(Clone, Copy)]
struct Address {
    len: u64,
    text: [u8; LONGEST_ADDRESS],
}

// SAFETY: a word and bytes whose number is a multiple of 8.
unsafe impl Bytes for Address {}

impl Address {
    fn new(text: &str) -> Result<Address> {
        let mut address = Address { len: text.len() as u64, text: [0; LONGEST_ADDRESS] };
        let Some(room) = address.text.get_mut(..text.len()) else {
            let message = format!("the network's address is longer than {LONGEST_ADDRESS} bytes: {text}");
            return Err(Error::new(mpi::MPI_ERR_OTHER, message));
        };
        room.copy_from_slice(text.as_bytes());
        Ok(address)
    }

    fn text(&self) -> Option<&str> {
        let bytes = self.text.get(..self.len as usize).filter(|bytes| !bytes.is_empty())?;
        std::str::from_utf8(bytes).ok()
    }
}

/// Opens the ports by which processes on different machines reach each other's part of a window, and tells
/// each process the others'.
pub(crate) fn introduce(domain: &'static Domain, comm: &CommRef, processes: &[u32]) -> Result<()> {
    let opened = far::open(domain).and_then(|text| Address::new(&text));
    let none = Address { len: 0, text: [0; LONGEST_ADDRESS] };
    let addresses = exchange(comm, *opened.as_ref().unwrap_or(&none))?;
    opened?;
    for (rank, (address, process)) in addresses.iter().zip(processes).enumerate() {
        let Some(text) = address.text() else {
            let message = format!("rank {rank} has no port for windows, and has reported the reason");
            return Err(Error::new(mpi::MPI_ERR_OTHER, message));
        };
        if !domain.fabric().is_local(*process as usize) {
            far::meet(domain, *process as usize, text)?;
        }
    }
    Ok(())
}
