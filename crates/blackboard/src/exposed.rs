//! Copies from and to the memory of another process, by the kernel.

use crate::published::Span;
use heddle_message::buffer::Buffer;
use heddle_transport::single_copy;
use std::io;

/// The bytes of exposed data that are copied at once to memory with gaps.
const PIECE: usize = 16 << 10;

/// The pieces in which exposed data of `len` bytes are copied from and to memory with gaps.
fn pieces(len: usize) -> impl Iterator<Item = Span> {
    (0..len).step_by(PIECE).map(move |start| Span { start, len: PIECE.min(len - start) })
}

/// Copies data at `address` in the memory of a process to a buffer.
pub(crate) fn copy_from(pid: u32, address: u64, room: &Buffer) -> io::Result<()> {
    if let Some(at) = room.contiguous() {
        // SAFETY: the buffer is valid for its length.
        return unsafe { single_copy::read(pid, address, at, room.len()) };
    }
    let mut memory = [0u8; PIECE];
    for Span { start: offset, len } in pieces(room.len()) {
        let piece = &mut memory[..len];
        // SAFETY: the array has the length given.
        unsafe { single_copy::read(pid, address + offset as u64, piece.as_mut_ptr(), piece.len()) }?;
        room.write(offset, piece);
    }
    Ok(())
}

/// Copies the data of a buffer to `address` in the memory of a process.
pub(crate) fn copy_to(pid: u32, address: u64, data: &Buffer) -> io::Result<()> {
    if let Some(at) = data.contiguous() {
        // SAFETY: the buffer is valid for its length.
        return unsafe { single_copy::write(pid, address, at, data.len()) };
    }
    let mut piece = [0u8; PIECE];
    for Span { start: offset, len } in pieces(data.len()) {
        // SAFETY: the array has room for that many bytes.
        unsafe { data.copy_part_out(offset, piece.as_mut_ptr(), len) };
        // SAFETY: so many bytes of the array were written.
        unsafe { single_copy::write(pid, address + offset as u64, piece.as_mut_ptr(), len) }?;
    }
    Ok(())
}
