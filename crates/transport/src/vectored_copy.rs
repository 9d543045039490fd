//! Copies between one block of memory here and many pieces of another process's memory. The kernel takes
//! a list of pieces, so that a thousand short ones cost one system call.

use crate::single_copy::{Piece, Transfer, piece};
use std::io;

/// The most pieces that the kernel takes at a time.
const MOST: usize = libc::UIO_MAXIOV as usize;

/// Copies pieces of the memory of process `pid`, one behind the other, to `here`. If it fails, some of them
/// are copied.
///
/// # Errors
/// The kernel's error, as that of [`single_copy::read`](crate::single_copy::read).
///
/// # Safety
/// `here` is valid for writes of all the pieces' bytes.
pub unsafe fn read(pid: u32, there: &[Piece], here: *mut u8) -> io::Result<()> {
    // SAFETY: by the caller's promise; the kernel checks the other side.
    unsafe { transfer(libc::process_vm_readv, pid, there, here) }
}

/// Copies bytes from `here` on to pieces of the memory of process `pid`, one behind the other. If it fails,
/// some of them are copied.
///
/// # Errors
/// The kernel's error, as that of [`single_copy::write`](crate::single_copy::write).
///
/// # Safety
/// `here` is valid for reads of all the pieces' bytes.
pub unsafe fn write(pid: u32, there: &[Piece], here: *const u8) -> io::Result<()> {
    // SAFETY: by the caller's promise; the call only reads here, and the kernel checks the other side.
    unsafe { transfer(libc::process_vm_writev, pid, there, here.cast_mut()) }
}

unsafe fn transfer(call: Transfer, pid: u32, there: &[Piece], here: *mut u8) -> io::Result<()> {
    let (mut here, mut list) = (here, [piece(std::ptr::null_mut(), 0); MOST]);
    for pieces in there.chunks(MOST) {
        let list = &mut list[..pieces.len()];
        list.copy_from_slice(pieces);
        let mut rest: &mut [Piece] = list;
        while !rest.is_empty() {
            let block = piece(here, rest.iter().map(|piece| piece.iov_len).sum());
            let count = rest.len() as libc::c_ulong;
            // SAFETY: `here` is valid by the caller's promise.
            let moved = unsafe { call(pid.cast_signed(), &raw const block, 1, rest.as_ptr(), count, 0) };
            match moved {
                0 if block.iov_len != 0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
                0.. => {
                    here = here.wrapping_add(moved as usize);
                    rest = behind(rest, moved as usize);
                }
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The rest of the pieces when their first `moved` bytes are copied.
fn behind(pieces: &mut [Piece], mut moved: usize) -> &mut [Piece] {
    let mut whole = 0;
    for piece in pieces.iter_mut() {
        if moved < piece.iov_len {
            piece.iov_base = piece.iov_base.wrapping_byte_add(moved);
            piece.iov_len -= moved;
            break;
        }
        moved -= piece.iov_len;
        whole += 1;
    }
    &mut pieces[whole..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_third(memory: &mut [u8]) -> Vec<Piece> {
        memory.chunks_exact_mut(3).map(|three| piece(three.as_mut_ptr(), 1)).collect()
    }

    #[test]
    fn many_pieces_are_copied_in_their_order() {
        const COUNT: usize = 3 * MOST + 7;
        let pid = std::process::id();
        let mut memory = vec![0u8; 3 * COUNT];
        let bytes: Vec<u8> = (0..COUNT).map(|index| index as u8).collect();
        let pieces = every_third(&mut memory);
        // SAFETY: the vector has a byte for each piece.
        match unsafe { write(pid, &pieces, bytes.as_ptr()) } {
            Ok(()) => {}
            Err(error) => return assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}"),
        }
        let mut found = vec![0u8; COUNT];
        // SAFETY: the vector has a byte for each piece.
        unsafe { read(pid, &pieces, found.as_mut_ptr()) }.expect("the kernel allows it");
        assert_eq!(found, bytes);
        assert!(memory.chunks_exact(3).enumerate().all(|(index, three)| three == [index as u8, 0, 0]));
        let nowhere = [pieces[0], piece(std::ptr::without_provenance_mut(8), 1)];
        // SAFETY: the vector has a byte for each piece.
        assert!(unsafe { read(pid, &nowhere, found.as_mut_ptr()) }.is_err());
    }

    #[test]
    fn a_copy_goes_on_where_the_kernel_has_stopped() {
        let mut memory = [0u8; 30];
        let first = memory.as_mut_ptr();
        let list = || [0, 10, 20].map(|at| piece(first.wrapping_add(at), 5));
        let rest = |moved| {
            let mut list = list();
            behind(&mut list, moved)
                .iter()
                .map(|piece| (piece.iov_base.addr() - first.addr(), piece.iov_len))
                .collect::<Vec<_>>()
        };
        let whole: Vec<_> = vec![(0, 5), (10, 5), (20, 5)];
        assert_eq!(rest(0), whole);
        assert_eq!(rest(5), whole[1..]);
        assert_eq!(rest(7), [(12, 3), (20, 5)]);
        assert_eq!(rest(15), []);
    }
}
