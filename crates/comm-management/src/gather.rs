//! Lists of all processes, gathered by each.

use heddle_collective::{Part, Parts, allgather, allgatherv, run};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_comm::error::Result;
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
/// Those of the messages.
pub(crate) fn lists(comm: &CommRef, own: &[i32]) -> Result<Vec<Vec<i32>>> {
    let lengths = words(comm, [own.len() as i32])?;
    let lengths: Vec<i64> = lengths.into_iter().map(|[length]| i64::from(length)).collect();
    let starts: Vec<i64> =
        lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect();
    let mut all = vec![0; lengths.iter().sum::<i64>() as usize];
    let range = |rank: usize| starts[rank] as usize..(starts[rank] + lengths[rank]) as usize;
    all[range(comm.rank())].copy_from_slice(own);
    let word = datatype::from_handle(mpi::MPI_INT32_T)?;
    // SAFETY: the counts are those of the vector, which outlives the call.
    let receive = unsafe { Parts::new(all.as_mut_ptr().cast(), &lengths, &starts, &word) }?;
    run(comm, |talk| allgatherv(talk, None, receive))?;
    Ok((0..comm.size()).map(|rank| all[range(rank)].to_vec()).collect())
}
