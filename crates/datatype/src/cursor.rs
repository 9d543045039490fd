//! Moving the bytes of a buffer between its layout and a packed stream, from any position to any other.
//!
//! A position counts packed bytes and may be within an element. Nothing else is kept between two calls, so a
//! message can be cut wherever the transport's slots end.

use std::ptr;

use crate::datatype::Datatype;
use crate::walk::{Flow, Visit, walk_rounds};

/// A piece of a buffer: bytes that lie together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// From the buffer's address, in bytes.
    pub offset: i64,
    /// Bytes.
    pub len: usize,
}

/// Copies `len` bytes, quickly if they are few.
///
/// # Safety
/// `from` must be readable and `to` writable for `len` bytes, and the two must not overlap.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    macro_rules! sized {
        ($($size:literal)*) => {
            match len {
                $($size => {
                    // SAFETY: the caller vouches for `len` bytes at both addresses.
                    unsafe { ptr::copy_nonoverlapping(from, to, $size) }
                })*
                _ => {
                    // SAFETY: the caller vouches for `len` bytes at both addresses.
                    unsafe { ptr::copy_nonoverlapping(from, to, len) }
                }
            }
        };
    }
    sized!(4 8 16 2 1 12 24 32)
}

/// Copies blocks of `len` bytes; both addresses advance by their stride after each.
///
/// # Safety
/// Each block must be readable and writable, and sources and destinations must not overlap.
#[inline]
unsafe fn copy_blocks(
    mut from: *const u8,
    from_stride: i64,
    mut to: *mut u8,
    to_stride: i64,
    count: i64,
    len: usize,
) {
    macro_rules! blocks {
        ($len:expr) => {
            for _ in 0..count {
                // SAFETY: the caller vouches for every block.
                unsafe { ptr::copy_nonoverlapping(from, to, $len) };
                from = from.wrapping_offset(from_stride as isize);
                to = to.wrapping_offset(to_stride as isize);
            }
        };
    }
    match len {
        1 => blocks!(1),
        2 => blocks!(2),
        4 => blocks!(4),
        8 => blocks!(8),
        12 => blocks!(12),
        16 => blocks!(16),
        24 => blocks!(24),
        32 => blocks!(32),
        _ => blocks!(len),
    }
}

/// Copies from the layout to the stream.
struct Pack {
    base: *const u8,
    stream: *mut u8,
}

impl Visit for Pack {
    #[inline]
    fn run(&mut self, offset: i64, len: i64) -> Flow {
        let from = self.base.wrapping_offset(offset as isize);
        // SAFETY: the caller of `pack` vouches for the buffer, and the walk is bounded by the stream's
        // length.
        unsafe { copy(from, self.stream, len as usize) };
        self.stream = self.stream.wrapping_add(len as usize);
        Flow::Continue(())
    }

    #[inline]
    fn strided(&mut self, offset: i64, count: i64, stride: i64, len: i64) -> Flow {
        let from = self.base.wrapping_offset(offset as isize);
        // SAFETY: the caller of `pack` vouches for each block of the buffer, and the walk is bounded by the
        // stream's length.
        unsafe { copy_blocks(from, stride, self.stream, len, count, len as usize) };
        self.stream = self.stream.wrapping_offset((count * len) as isize);
        Flow::Continue(())
    }
}

/// Copies from the stream to the layout.
struct Unpack {
    base: *mut u8,
    stream: *const u8,
}

impl Visit for Unpack {
    #[inline]
    fn run(&mut self, offset: i64, len: i64) -> Flow {
        let to = self.base.wrapping_offset(offset as isize);
        // SAFETY: the caller of `unpack` vouches for the buffer, and the walk is bounded by the stream's
        // length.
        unsafe { copy(self.stream, to, len as usize) };
        self.stream = self.stream.wrapping_add(len as usize);
        Flow::Continue(())
    }

    #[inline]
    fn strided(&mut self, offset: i64, count: i64, stride: i64, len: i64) -> Flow {
        let to = self.base.wrapping_offset(offset as isize);
        // SAFETY: the caller of `unpack` vouches for each block of the buffer, and the walk is bounded by the
        // stream's length.
        unsafe { copy_blocks(self.stream, len, to, stride, count, len as usize) };
        self.stream = self.stream.wrapping_offset((count * len) as isize);
        Flow::Continue(())
    }
}

/// Lists runs, joining those that touch, until a list is full.
struct List<'a> {
    runs: &'a mut [Run],
    used: usize,
    bytes: i64,
}

impl Visit for List<'_> {
    fn run(&mut self, offset: i64, len: i64) -> Flow {
        if let Some(last) = self.used.checked_sub(1).and_then(|last| self.runs.get_mut(last))
            && last.offset.wrapping_add(last.len as i64) == offset
        {
            last.len += len as usize;
        } else if let Some(free) = self.runs.get_mut(self.used) {
            *free = Run { offset, len: len as usize };
            self.used += 1;
        } else {
            return Flow::Break(());
        }
        self.bytes += len;
        Flow::Continue(())
    }
}

impl Datatype {
    /// Where a move of at most `limit` bytes from `position` ends.
    #[inline]
    fn end(&self, count: i64, position: i64, limit: usize) -> i64 {
        let total = self.packed_len(count).unwrap_or(i64::MAX);
        position.saturating_add(i64::try_from(limit).unwrap_or(i64::MAX)).min(total)
    }

    /// Packs bytes of `count` items at `src` from `position` on, until `dst` is full. Returns their number.
    ///
    /// # Safety
    /// The data of `count` items of this datatype at `src` must be readable, and must not overlap `dst`.
    /// `src` may be null if the datatype's displacements are addresses.
    #[inline]
    pub unsafe fn pack(&self, src: *const u8, count: i64, position: i64, dst: &mut [u8]) -> usize {
        let end = self.end(count, position, dst.len());
        if end <= position {
            return 0;
        }
        let len = (end - position) as usize;
        if self.contiguous {
            let from = src.wrapping_offset(position as isize);
            // SAFETY: the data are one run at `src`, and `len` is at most the length of `dst`.
            unsafe { ptr::copy_nonoverlapping(from, dst.as_mut_ptr(), len) };
            return len;
        }
        let mut pack = Pack { base: src, stream: dst.as_mut_ptr() };
        let _ = walk_rounds(&self.plan, self.extent(), 0, position, end, &mut pack);
        len
    }

    /// Unpacks `src` into `count` items at `dst` from `position` on, until the items are full.
    /// Returns the number of bytes.
    ///
    /// # Safety
    /// The data of `count` items of this datatype at `dst` must be writable, and must not overlap `src`.
    /// `dst` may be null if the datatype's displacements are addresses.
    #[inline]
    pub unsafe fn unpack(&self, dst: *mut u8, count: i64, position: i64, src: &[u8]) -> usize {
        let end = self.end(count, position, src.len());
        if end <= position {
            return 0;
        }
        let len = (end - position) as usize;
        if self.contiguous {
            let to = dst.wrapping_offset(position as isize);
            // SAFETY: the data are one run at `dst`, and `len` is at most the length of `src`.
            unsafe { ptr::copy_nonoverlapping(src.as_ptr(), to, len) };
            return len;
        }
        let mut unpack = Unpack { base: dst, stream: src.as_ptr() };
        let _ = walk_rounds(&self.plan, self.extent(), 0, position, end, &mut unpack);
        len
    }

    /// Lists the runs of at most `limit` bytes of `count` items, from `position` on, until `runs` is full.
    /// Returns the number of runs and of their bytes; the next list starts behind those bytes.
    #[inline]
    pub fn fill_runs(&self, count: i64, position: i64, limit: usize, runs: &mut [Run]) -> (usize, usize) {
        let end = self.end(count, position, limit);
        if end <= position || runs.is_empty() {
            return (0, 0);
        }
        if self.contiguous {
            let len = (end - position) as usize;
            runs[0] = Run { offset: position, len };
            return (1, len);
        }
        let mut list = List { runs, used: 0, bytes: 0 };
        let _ = walk_rounds(&self.plan, self.extent(), 0, position, end, &mut list);
        (list.used, list.bytes as usize)
    }

    /// The runs of `count` items, from `position` on.
    #[must_use]
    pub fn runs(&self, count: i64, position: i64) -> Runs<'_> {
        Runs {
            datatype: self,
            count,
            position,
            batch: [Run { offset: 0, len: 0 }; BATCH],
            next: 0,
            filled: 0,
        }
    }
}

/// The number of runs that [`Runs`] finds at a time.
const BATCH: usize = 16;

/// The runs of a buffer, in the order of the packed bytes.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    datatype: &'a Datatype,
    count: i64,
    position: i64,
    batch: [Run; BATCH],
    next: usize,
    filled: usize,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.next == self.filled {
            let (filled, bytes) =
                self.datatype.fill_runs(self.count, self.position, usize::MAX, &mut self.batch);
            (self.next, self.filled) = (0, filled);
            self.position += bytes as i64;
        }
        let run = self.batch[..self.filled].get(self.next).copied()?;
        self.next += 1;
        Some(run)
    }
}

/// A position in a buffer that advances with each pack or unpack.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    datatype: &'a Datatype,
    count: i64,
    position: i64,
}

impl<'a> Cursor<'a> {
    /// The start of `count` items.
    #[must_use]
    pub const fn new(datatype: &'a Datatype, count: i64) -> Self {
        Self { datatype, count, position: 0 }
    }

    /// The number of bytes that were moved.
    #[must_use]
    pub const fn position(&self) -> i64 {
        self.position
    }

    /// The number of bytes that remain.
    #[must_use]
    pub fn remaining(&self) -> i64 {
        self.datatype.packed_len(self.count).unwrap_or(i64::MAX) - self.position
    }

    /// Goes to a position, in packed bytes from the start; beyond the end, to the end.
    pub fn seek(&mut self, position: i64) {
        let end = self.datatype.packed_len(self.count).unwrap_or(i64::MAX);
        self.position = position.clamp(0, end);
    }

    /// Packs bytes until `dst` is full or none is left, and advances. Returns their number.
    ///
    /// # Safety
    /// The same as for [`Datatype::pack`].
    #[inline]
    pub unsafe fn pack(&mut self, src: *const u8, dst: &mut [u8]) -> usize {
        // SAFETY: the caller vouches for `src`.
        let moved = unsafe { self.datatype.pack(src, self.count, self.position, dst) };
        self.position += moved as i64;
        moved
    }

    /// Unpacks `src` until it is empty or there is no room left, and advances. Returns the number of bytes.
    ///
    /// # Safety
    /// The same as for [`Datatype::unpack`].
    #[inline]
    pub unsafe fn unpack(&mut self, dst: *mut u8, src: &[u8]) -> usize {
        // SAFETY: the caller vouches for `dst`.
        let moved = unsafe { self.datatype.unpack(dst, self.count, self.position, src) };
        self.position += moved as i64;
        moved
    }
}
