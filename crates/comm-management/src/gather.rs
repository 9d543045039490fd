//! Lists of all processes, gathered by each.

use crate::memory::if_all;
use heddle_collective::{Numbers, Part, Parts, allgather, allgatherv, run};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_comm::error::{Error, Result};
use heddle_platform::allocate::{OutOfMemory, copied, filled, try_collected};
use heddle_spec::constants as mpi;

/// The words of each process, as many from each, by rank. Collective.
///
/// # Errors
/// Those of the messages.
pub(crate) fn words<const N: usize>(comm: &CommRef, own: [i32; N]) -> Result<Vec<[i32; N]>> {
    let word = datatype::from_handle(mpi::MPI_INT32_T)?;
    let mut all = vec![[0; N]; comm.size()];
    all[comm.rank()] = own;
    // SAFETY: the vector has `N` words for each rank and outlives the call.
    let receive = unsafe { Part::new(all.as_mut_ptr().cast(), N as i64, &word) }?;
    run(comm, |talk| allgather(talk, None, receive))?;
    Ok(all)
}

/// The lists of all processes, by rank. Collective.
///
/// # Errors
/// Those of the messages; `MPI_ERR_NO_MEM`, in all processes if one lacks memory.
pub(crate) fn lists(comm: &CommRef, own: Result<Vec<i32>>) -> Result<Vec<Vec<i32>>> {
    let length = |own: Vec<i32>| match i32::try_from(own.len()) {
        Ok(length) => Ok((own, length)),
        Err(_) => Err(OutOfMemory { bytes: size_of_val(&own[..]) }.into()),
    };
    let (own, length) = if_all(comm, own.and_then(length))?;
    let lengths = words(comm, [length])?;
    let lengths: Vec<i64> = lengths.into_iter().map(|[length]| i64::from(length)).collect();
    let starts: Vec<i64> =
        lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect();
    let mut all = if_all(comm, filled(lengths.iter().sum::<i64>() as usize, 0).map_err(Error::from))?;
    let range = |rank: usize| starts[rank] as usize..(starts[rank] + lengths[rank]) as usize;
    all[range(comm.rank())].copy_from_slice(&own);
    let word = datatype::from_handle(mpi::MPI_INT32_T)?;
    // SAFETY: the counts are those of the vector, which outlives the call.
    let receive = unsafe {
        Parts::new(all.as_mut_ptr().cast(), Numbers::Large(&lengths), Numbers::Large(&starts), &word)
    }?;
    // If one has no memory for what it publishes, or to read what others do, not all learn of it.
    if_all(comm, run(comm, |talk| allgatherv(talk, None, receive)))?;
    try_collected((0..comm.size()).map(|rank| Ok(copied(&all[range(rank)])?)))
}
