//! User memory that takes part in an operation: an address, and the layout of the data.

mod block_copy;

use crate::error::{Error, Result};
use block_copy::{copy_from_memory, copy_past_caches, copy_whole_lines};
use heddle_datatype::{Cursor, Datatype};
use heddle_platform::allocate::filled;
use heddle_spec::constants as mpi;
use heddle_transport::Stores;
use std::ptr::{null, null_mut};

/// No data lies below this address; null and the standard's special addresses do. It is compared with a sign:
/// the upper half of the addresses belongs to the kernel.
const LOWEST_ADDRESS: i64 = 4096;

/// Fewer elements than this have a length in bytes that 64 bits hold, whatever predefined datatype they have.
const COUNTABLE: u64 = 1 << 40;

/// Data of this many bytes or more, of which a message is sent in pieces, is likely to come from memory, or
/// from a cache that the cores share.
const BEYOND_CACHES: usize = 2 << 20;

/// Data of this many bytes or more is likely to be larger than its part of a cache that cores share.
pub(crate) const SHARED_CACHE_BYTES: usize = 4 << 20;

/// Returns true if data of the program can lie at an address.
#[inline(always)]
#[must_use]
pub fn can_hold_data(address: *const u8) -> bool {
    is_possible(address.addr() as i64)
}

#[inline(always)]
fn is_possible(address: i64) -> bool {
    address >= LOWEST_ADDRESS
}

/// Returns true if an express path may multiply a count of elements by the size of one. It leaves other
/// counts to [`check_count`].
#[inline(always)]
#[must_use]
pub fn is_countable(count: i64) -> bool {
    // As a `u64`, a negative count is a large one.
    (count as u64) < COUNTABLE
}

/// Returns the number of bytes of data in `count` elements.
///
/// # Errors
/// `MPI_ERR_COUNT` if the count is negative or too large.
#[inline(always)]
pub fn check_count(count: i64, datatype: &Datatype) -> Result<i64> {
    match datatype.packed_len(count) {
        Some(bytes) => Ok(bytes),
        None => Err(bad_count(count, datatype)),
    }
}

/// Checks that `bytes` bytes of data can be at an address.
///
/// # Errors
/// `MPI_ERR_BUFFER`.
#[inline(always)]
pub fn check_address(address: *const u8, bytes: i64, datatype: &Datatype) -> Result<()> {
    // Wrapping: a displacement may be an address, with MPI_BOTTOM, and may be negative.
    let first = (address.addr() as i64).wrapping_add(datatype.true_lb());
    if !is_possible(first) && bytes > 0 { Err(bad_address(address.addr(), bytes)) } else { Ok(()) }
}

/// Checks the address of bytes in packed form.
///
/// # Errors
/// `MPI_ERR_BUFFER` if no memory can be there.
pub fn check_packed_address(address: *const u8, bytes: i64) -> Result<()> {
    if !can_hold_data(address) && bytes > 0 { Err(bad_address(address.addr(), bytes)) } else { Ok(()) }
}

#[cold]
fn bad_count(count: i64, datatype: &Datatype) -> Error {
    let message = match count {
        ..0 => format!("the count is {count}, but it may not be negative"),
        _ => format!("{count} elements of {} bytes each exceed the address space", datatype.size()),
    };
    Error::new(mpi::MPI_ERR_COUNT, message)
}

#[cold]
fn bad_address(address: usize, bytes: i64) -> Error {
    let message = match address {
        0 => format!("the buffer is a null pointer, but it is to hold {bytes} bytes"),
        mpi::MPI_IN_PLACE => "MPI_IN_PLACE is not allowed for this buffer or on this rank".to_owned(),
        _ => format!("{address:#x} cannot be the address of a buffer of {bytes} bytes here"),
    };
    Error::new(mpi::MPI_ERR_BUFFER, message)
}

/// A user buffer: an address, the number of bytes of data, and their layout. It keeps nothing alive: the
/// datatype is held by the thread that has the buffer, or by a request.
///
/// A buffer is passed by value. An operation on a VNI that referred to a buffer in the caller's frame would
/// force it into memory, since another thread may run the operation. Written and read there in pieces of
/// different sizes, it would cost more than the message.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    address: *mut u8,
    bytes: usize,
    /// The datatype, or null for bare bytes. The lowest bit says that the data has gaps.
    datatype: *const Datatype,
}

const GAPS: usize = 1;
const _: () = assert!(align_of::<Datatype>() > GAPS);

// SAFETY: the program leaves the buffer to MPI until the operation completes (MPI 5.0, section 3.7.2), so any
// thread that makes progress may touch it.
unsafe impl Send for Buffer {}
// SAFETY: threads share only the address; the program leaves the memory to MPI until the operation completes
// (MPI 5.0, section 3.7.2).
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The buffer of `count` elements of `datatype` at `address`.
    ///
    /// # Safety
    /// The memory that the datatype describes is valid for the operation (reads for a send, writes
    /// for a receive) until the operation completes. The buffer and its clones are used only as
    /// long as the datatype exists.
    #[inline(always)]
    pub unsafe fn new(address: *mut u8, count: i64, datatype: &Datatype) -> Buffer {
        let bytes = (count * datatype.size()) as usize;
        let gaps = usize::from(!datatype.is_contiguous() && bytes != 0);
        Buffer { address, bytes, datatype: std::ptr::from_ref(datatype).map_addr(|address| address | gaps) }
    }

    /// A contiguous buffer.
    ///
    /// # Safety
    /// The same as for [`Buffer::new`].
    #[inline]
    pub unsafe fn bytes(address: *mut u8, bytes: usize) -> Buffer {
        Buffer { address, bytes, datatype: null() }
    }

    /// A buffer of no bytes.
    pub fn empty() -> Buffer {
        Buffer { address: null_mut(), bytes: 0, datatype: null() }
    }

    /// Returns the datatype, or null if there is none.
    #[inline(always)]
    pub fn datatype(&self) -> *const Datatype {
        self.datatype.map_addr(|address| address & !GAPS)
    }

    /// Returns the datatype if the data has gaps.
    #[inline(always)]
    fn typed(&self) -> Option<&Datatype> {
        if self.datatype.addr() & GAPS == 0 {
            return None;
        }
        // SAFETY: the datatype exists as long as the buffer is used, by the promise made to `new`.
        Some(unsafe { &*self.datatype() })
    }

    /// The number of bytes of data, not of the extent.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The buffer's first `bytes` bytes of data.
    #[must_use]
    pub fn first(self, bytes: usize) -> Buffer {
        debug_assert!(bytes <= self.bytes);
        Buffer { bytes, ..self }
    }

    /// Returns true if there is no data.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The address from which the elements lie.
    #[inline(always)]
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Returns the address of the data if it lies in one piece.
    #[inline(always)]
    pub fn contiguous(&self) -> Option<*mut u8> {
        if self.datatype.addr() & GAPS == 0 { Some(self.address) } else { None }
    }

    /// Copies `len` bytes of data, from byte `offset` on, to `to`, which has room for them. The
    /// range must lie in the buffer.
    #[inline(always)]
    pub(crate) fn read(&self, offset: usize, to: *mut u8, len: usize) {
        debug_assert!(offset + len <= self.bytes);
        match self.typed() {
            // SAFETY: the range lies in the buffer, which is valid by the promise made to `new`.
            None => unsafe { copy_small(self.address.wrapping_add(offset), to, len) },
            Some(typed) => self.pack(typed, offset, to, len),
        }
    }

    /// Does the same, and stores the data as it is told.
    #[inline]
    pub(crate) fn read_as(&self, offset: usize, (to, stores): (*mut u8, Stores), len: usize) {
        match self.contiguous().filter(|_| stores == Stores::PastCaches) {
            // SAFETY: the caller gives room for `len` bytes.
            Some(_) => unsafe { copy_past_caches(self.piece(offset, len), to) },
            None => self.read(offset, to, len),
        }
    }

    /// A part of data that lie in one piece.
    fn piece(&self, offset: usize, len: usize) -> &[u8] {
        debug_assert!(offset + len <= self.bytes && self.contiguous().is_some());
        // Data of no bytes may be at no address.
        if len == 0 {
            return &[];
        }
        // SAFETY: the range lies in the buffer, which is valid by the promise made to `new`.
        unsafe { std::slice::from_raw_parts(self.address.wrapping_add(offset), len) }
    }

    /// A copy of the data.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub fn copied(&self) -> Result<Box<[u8]>> {
        let mut copy = zeroed(self.len())?;
        self.copy_out(&mut copy);
        Ok(copy.into_boxed_slice())
    }

    /// Copies all data to the beginning of `to`, which has room for it.
    ///
    /// # Panics
    /// If `to` is too small.
    pub fn copy_out(&self, to: &mut [u8]) {
        assert!(to.len() >= self.bytes, "{} bytes of data do not fit into {}", self.bytes, to.len());
        self.read(0, to.as_mut_ptr(), self.bytes);
    }

    /// Copies `len` bytes of data, from byte `offset` on, to `to`.
    ///
    /// # Safety
    /// The range lies in the buffer, and `to` has room for it.
    pub unsafe fn copy_part_out(&self, offset: usize, to: *mut u8, len: usize) {
        self.read(offset, to, len);
    }

    /// Does the same as [`copy_part_out`](Self::copy_part_out), and stores the data as it is told.
    ///
    /// # Safety
    /// The same.
    pub unsafe fn copy_part_out_as(&self, offset: usize, to: (*mut u8, Stores), len: usize) {
        self.read_as(offset, to, len);
    }

    /// Does the same as [`read_as`](Self::read_as), for a piece of a large message.
    pub(crate) fn read_piece(&self, offset: usize, (to, stores): (*mut u8, Stores), len: usize) {
        debug_assert!(offset + len <= self.bytes);
        match self.contiguous() {
            _ if stores == Stores::PastCaches => self.read_as(offset, (to, stores), len),
            // SAFETY: the caller gives room for `len` bytes.
            Some(_) if self.bytes >= BEYOND_CACHES => unsafe {
                copy_from_memory(self.piece(offset, len), to)
            },
            // SAFETY: the range lies in the buffer, which is valid by the promise made to `new`.
            Some(from) => unsafe { copy_whole_lines(from.wrapping_add(offset), to, len) },
            None => self.read(offset, to, len),
        }
    }

    /// Copies `data` into the buffer from byte `offset` on. The range must lie in the buffer.
    #[inline(always)]
    pub fn write(&self, offset: usize, data: &[u8]) {
        debug_assert!(offset + data.len() <= self.bytes);
        match self.typed() {
            // SAFETY: the range lies in the buffer, which is valid by the promise made to `new`.
            None => unsafe { copy_small(data.as_ptr(), self.address.wrapping_add(offset), data.len()) },
            Some(typed) => self.unpack(typed, offset, data),
        }
    }

    /// Does the same as [`write`](Self::write), for large data or a piece of them. `past_caches` is true if
    /// the stores go to memory directly.
    pub(crate) fn write_piece(&self, offset: usize, data: &[u8], past_caches: bool) {
        debug_assert!(offset + data.len() <= self.bytes);
        match self.contiguous() {
            // SAFETY: the range lies in the buffer, which is valid by the promise made to `new`.
            Some(to) if past_caches => unsafe { copy_past_caches(data, to.wrapping_add(offset)) },
            _ => self.write(offset, data),
        }
    }

    fn cursor<'a>(&self, typed: &'a Datatype, offset: usize) -> Cursor<'a> {
        // The last element may be one of which there is a part.
        let mut cursor = Cursor::new(typed, (self.bytes as u64).div_ceil(typed.size() as u64) as i64);
        cursor.seek(offset as i64);
        cursor
    }

    #[cold]
    fn pack(&self, typed: &Datatype, offset: usize, to: *mut u8, len: usize) {
        // SAFETY: the caller gives room for `len` bytes.
        let to = unsafe { std::slice::from_raw_parts_mut(to, len) };
        // SAFETY: the datatype's memory is valid by the promise made to `new`.
        let moved = unsafe { self.cursor(typed, offset).pack(self.address, to) };
        debug_assert_eq!(moved, len);
    }

    #[cold]
    fn unpack(&self, typed: &Datatype, offset: usize, data: &[u8]) {
        // SAFETY: the datatype's memory is valid by the promise made to `new`.
        let moved = unsafe { self.cursor(typed, offset).unpack(self.address, data) };
        debug_assert_eq!(moved, data.len());
    }

    /// Copies the first `len` bytes of data to another buffer.
    pub fn copy_to(&self, other: &Buffer, len: usize) {
        if len == 0 {
            return;
        }
        if let Some(from) = self.contiguous() {
            // SAFETY: `len` bytes at `from` are valid by the promise made to `new`.
            let data = unsafe { std::slice::from_raw_parts(from, len) };
            if len >= SHARED_CACHE_BYTES {
                return other.write_piece(0, data, true);
            }
            return other.write(0, data);
        }
        if let Some(to) = other.contiguous() {
            return self.read(0, to, len);
        }
        let mut chunk = [0u8; 4096];
        for offset in (0..len).step_by(chunk.len()) {
            let part = chunk.len().min(len - offset);
            self.read(offset, chunk.as_mut_ptr(), part);
            other.write(offset, &chunk[..part]);
        }
    }
}

/// Copies `len` bytes. It is quick for a small message, where a call of `memcpy` costs more than the copy.
///
/// # Safety
/// `len` bytes are valid at both addresses and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_small(from: *const u8, to: *mut u8, len: usize) {
    if len == 8 {
        // SAFETY: 8 bytes are valid at both addresses.
        let bytes = unsafe { from.cast::<[u8; 8]>().read() };
        // SAFETY: 8 bytes are valid at both addresses.
        unsafe { to.cast::<[u8; 8]>().write(bytes) };
    } else if len != 0 {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
    }
}

/// Room for a copy of data as long as the program says.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub fn zeroed(len: usize) -> Result<Vec<u8>> {
    Ok(filled(len, 0)?)
}
