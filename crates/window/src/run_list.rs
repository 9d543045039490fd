//! A list of short runs in the bounce buffer of a window thread, which copies between the runs and the data
//! that follows the list.
//!
//! ```text
//!  addresses   8 bytes a run
//!  lengths     4 bytes a run
//!  data        the runs' bytes, one behind the other
//! ```

use crate::geometry::BOUNCE;
use heddle_transport::single_copy::Piece;

/// Bytes of a run in the list, besides its data.
const ENTRY: usize = size_of::<u64>() + size_of::<u32>();

/// The longest run that is worth a place in a list.
const LONGEST: usize = 256;

/// Returns true if there is no long run among them.
pub(crate) fn are_short(runs: &[Piece]) -> bool {
    runs.iter().all(|run| run.iov_len <= LONGEST)
}

/// The first of the runs, as many as have room in a buffer with their data, and the length of that data.
pub(crate) fn fitting(runs: &[Piece]) -> (&[Piece], usize) {
    let (mut count, mut data) = (0, 0);
    for run in runs {
        if (count + 1) * ENTRY + data + run.iov_len > BOUNCE {
            break;
        }
        count += 1;
        data += run.iov_len;
    }
    (&runs[..count], data)
}

/// Writes the list of runs that [fit](fitting). Returns where its data is.
///
/// # Safety
/// `bounce` is a bounce buffer that nobody else uses, at a multiple of 8.
pub(crate) unsafe fn write(bounce: *mut u8, runs: &[Piece]) -> *mut u8 {
    let (addresses, lengths, data) = parts(bounce, runs.len());
    for (index, run) in runs.iter().enumerate() {
        // SAFETY: the list has room for the run.
        unsafe { addresses.wrapping_add(index).write(run.iov_base.expose_provenance() as u64) };
        // SAFETY: the list has room for the run.
        unsafe { lengths.wrapping_add(index).write(run.iov_len as u32) };
    }
    data
}

/// Copies the data of a list of `count` runs to them, or from them to there.
///
/// # Safety
/// `bounce` is a bounce buffer with such a list, which nobody else uses, and the runs are valid memory of
/// this process.
pub(crate) unsafe fn carry_out(bounce: *mut u8, count: usize, writes: bool) {
    let (addresses, lengths, mut data) = parts(bounce, count.min(BOUNCE / ENTRY));
    let end = bounce.wrapping_add(BOUNCE).addr();
    for index in 0..count.min(BOUNCE / ENTRY) {
        // SAFETY: the list has this run.
        let address = unsafe { addresses.wrapping_add(index).read() } as usize;
        // SAFETY: the list has this run.
        let len = unsafe { lengths.wrapping_add(index).read() } as usize;
        if len > end - data.addr() {
            return;
        }
        let there = std::ptr::with_exposed_provenance_mut::<u8>(address);
        let (from, to) = if writes { (data, there) } else { (there, data) };
        // SAFETY: the run is valid, and its data lies in the buffer.
        unsafe { to.copy_from(from, len) };
        data = data.wrapping_add(len);
    }
}

fn parts(bounce: *mut u8, count: usize) -> (*mut u64, *mut u32, *mut u8) {
    let lengths = bounce.wrapping_add(count * size_of::<u64>());
    (bounce.cast(), lengths.cast(), bounce.wrapping_add(count * ENTRY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_transport::single_copy::piece;

    #[test]
    fn a_list_moves_its_runs_there_and_back() {
        let mut buffer = vec![0u64; BOUNCE / 8];
        let bounce: *mut u8 = buffer.as_mut_ptr().cast();
        let mut memory = [7u8; 5000];
        let first = memory.as_mut_ptr();
        let runs: Vec<_> = (0..1700).map(|index| piece(first.wrapping_add(index * 3 % 5000), 1)).collect();
        let (fit, len) = fitting(&runs);
        assert_eq!((fit.len(), len), (BOUNCE / 13, BOUNCE / 13));
        // SAFETY: a buffer of this test.
        let data = unsafe { write(bounce, fit) };
        // SAFETY: the buffer has the data's bytes.
        unsafe { data.write_bytes(9, len) };
        // SAFETY: the runs lie in the array.
        unsafe { carry_out(bounce, fit.len(), true) };
        let written = |at: usize| at.is_multiple_of(3) && at / 3 < len;
        // SAFETY: the array is this test's.
        assert!((0..5000).all(|at| unsafe { *first.wrapping_add(at) } == if written(at) { 9 } else { 7 }));
        // SAFETY: the buffer has the data's bytes.
        unsafe { data.write_bytes(0, len) };
        // SAFETY: the runs lie in the array.
        unsafe { carry_out(bounce, fit.len(), false) };
        // SAFETY: the buffer has the data's bytes.
        assert!((0..len).all(|at| unsafe { *data.wrapping_add(at) } == 9));
        assert!(are_short(&runs) && !are_short(&[piece(first, 257)]));
    }

    #[test]
    fn a_list_that_ends_beyond_the_buffer_is_left() {
        let mut buffer = vec![u64::MAX; BOUNCE / 8];
        // SAFETY: a buffer of this test; its first run is longer than the buffer.
        unsafe { carry_out(buffer.as_mut_ptr().cast(), usize::MAX, true) };
        assert!(buffer.iter().all(|word| *word == u64::MAX));
    }
}
