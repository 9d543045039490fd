//! Many runs of bytes in the memory of a process of this machine that is not mapped here.
//!
//! They go by lists, which the kernel takes in one system call. It still looks up the page of each run, so
//! runs that lie close together are read with what lies between them, in one piece, and taken from there.
//! Written they never are in this way: what lies between them is not this process's.

use heddle_datatype::{Datatype, Run};
use heddle_message::buffer::zeroed;
use heddle_transport::single_copy::{self, Piece, piece};
use std::io;

/// The most runs of a list.
const MOST: usize = 1024;
/// Runs are read with what lies between them if there are this many or more,
const FEWEST: usize = 4;
/// if at least this part of what is read is data,
const DENSEST: usize = 8;
/// and if it all has at most so many bytes.
const LONGEST: usize = 256 << 10;

/// Passes the first `len` bytes of `count` items of a datatype, list by list, to `copy`: the runs, and where
/// they begin in the packed bytes. `address_of` gives a run's address.
///
/// # Errors
/// That of `copy`, which is not called again after it.
pub(crate) fn by_lists(
    (datatype, count): (&Datatype, i64),
    len: usize,
    address_of: impl Fn(i64) -> u64,
    mut copy: impl FnMut(&[Piece], usize) -> io::Result<()>,
) -> io::Result<()> {
    let piece =
        |run: &Run| piece(std::ptr::with_exposed_provenance_mut(address_of(run.offset) as usize), run.len);
    let fill = |at: usize, runs: &mut [Run]| datatype.fill_runs(count, at as i64, len - at, runs);
    let mut first = [Run { offset: 0, len: 0 }];
    if let (1, bytes) = fill(0, &mut first)
        && bytes == len
    {
        return copy(&[piece(&first[0])], 0);
    }
    let (mut runs, mut at) = (vec![first[0]; MOST], 0);
    let mut pieces = Vec::with_capacity(MOST);
    while at < len {
        let (filled, bytes) = fill(at, &mut runs);
        if filled == 0 {
            break;
        }
        pieces.clear();
        pieces.extend(runs[..filled].iter().map(piece));
        copy(&pieces, at)?;
        at += bytes;
    }
    Ok(())
}

/// Copies runs of the memory of process `pid`, one behind the other, to `here`, if they lie close together.
/// Returns false if they do not, or if what lies between them cannot be read; they may be readable all the
/// same.
///
/// # Safety
/// `here` is valid for writes of all the runs' bytes.
pub(crate) unsafe fn read_dense(pid: u32, runs: &[Piece], here: *mut u8) -> bool {
    let Some((first, len)) = dense_span(runs) else { return false };
    let Ok(mut bytes) = zeroed(len) else { return false };
    // SAFETY: the vector has that length.
    if unsafe { single_copy::read(pid, first as u64, bytes.as_mut_ptr(), len) }.is_err() {
        return false;
    }
    let mut to = here;
    for run in runs {
        let from = bytes[run.iov_base.addr() - first..][..run.iov_len].as_ptr();
        // SAFETY: `here` has room for all runs.
        unsafe { to.copy_from_nonoverlapping(from, run.iov_len) };
        to = to.wrapping_add(run.iov_len);
    }
    true
}

/// The address and the length of all that lies from the first run to the last, if they are worth to be read
/// so.
fn dense_span(runs: &[Piece]) -> Option<(usize, usize)> {
    let end = |run: &Piece| run.iov_base.addr() + run.iov_len;
    let first = runs.iter().map(|run| run.iov_base.addr()).min()?;
    let len = runs.iter().map(end).max()? - first;
    let data: usize = runs.iter().map(|run| run.iov_len).sum();
    (runs.len() >= FEWEST && len <= LONGEST && len / DENSEST <= data).then_some((first, len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_datatype::{Form, types};

    fn run(address: usize, len: usize) -> Piece {
        piece(std::ptr::without_provenance_mut(address), len)
    }

    #[test]
    fn runs_that_lie_close_together_have_a_span_whatever_their_order() {
        let four = |stride: usize| [3, 0, 2, 1].map(|index| run(1000 + index * stride, 4));
        assert_eq!(dense_span(&four(32)), Some((1000, 100)));
        assert_eq!(dense_span(&four(64)), None, "too far apart");
        assert_eq!(dense_span(&four(8)[..3]), None, "too few");
        assert_eq!(dense_span(&[0, 1, 2, 3].map(|index| run(index << 20, 1 << 20))), None, "too long");
        assert_eq!(dense_span(&[]), None);
    }

    #[test]
    fn many_runs_go_by_few_lists_and_one_run_by_itself() {
        let every_other =
            Datatype::vector(Form::Small, 2500, 1, 2, &(&types::MPI_INT).into()).expect("a type");
        let lists = |datatype: &Datatype, count, len| {
            let (mut lists, mut next) = (Vec::new(), 0);
            let copy = |runs: &[Piece], at: usize| {
                assert_eq!(at, next, "the lists follow each other");
                next += runs.iter().map(|run| run.iov_len).sum::<usize>();
                lists.push(runs.len());
                Ok(())
            };
            by_lists((datatype, count), len, |offset| 1000 + offset as u64, copy).expect("no copy fails");
            assert_eq!(next, len);
            lists
        };
        // The last run of an item touches the first of the next one.
        assert_eq!(lists(&every_other, 1, 10_000), [1024, 1024, 452]);
        assert_eq!(lists(&every_other, 2, 20_000).len(), 5);
        assert_eq!(lists(&every_other, 1, 4100), [1024, 1], "less than there is room for");
        assert_eq!(lists(&types::MPI_INT, 100, 400), [1]);
        assert_eq!(lists(&types::MPI_INT, 100, 0), [0usize; 0]);
        let failed = by_lists((&every_other, 1), 10_000, |_| 0, |_, _| Err(io::ErrorKind::Other.into()));
        assert!(failed.is_err());
    }
}
