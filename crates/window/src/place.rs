//! Data within a target: checked once, then put, got and accumulated.

use crate::answers::Answers;
use crate::attached::Data;
use crate::far::Far;
use crate::remote::Remote;
use crate::runs::by_lists;
use crate::target::Target;
use crate::window::Window;
use heddle_datatype::Datatype;
use heddle_message::buffer::{Buffer, check_count, zeroed};
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_transport::single_copy::Piece;
use std::io;

/// Data within a target's memory, as a program names it.
#[derive(Debug, Clone, Copy)]
pub struct TargetLocation<'a> {
    /// The target's rank.
    pub rank: i32,
    /// In displacement units of the target; in a dynamic window an address.
    pub disp: i64,
    /// Elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: &'a Datatype,
}

/// Data within a target's memory that this process may access now.
#[derive(Debug)]
pub struct Place<'a> {
    pub(crate) window: &'a Window,
    pub(crate) target: &'a Target,
    pub(crate) rank: usize,
    pub(crate) memory: Memory,
    count: i64,
    datatype: &'a Datatype,
    len: usize,
}

/// How the data is reached. The address is the one that the datatype's displacements count from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Memory {
    /// Mapped here.
    Mapped(*mut u8),
    /// At an address of another process, by copies of the transport.
    Remote(u64),
}

impl Window {
    /// The place of data; `None` for `MPI_PROC_NULL`, where nothing is to be done.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_COUNT`; `MPI_ERR_RMA_SYNC` outside of an epoch; `MPI_ERR_DISP` or
    /// `MPI_ERR_RMA_RANGE` if the data does not lie in the target's memory; `MPI_ERR_UNSUPPORTED_OPERATION`
    /// if that cannot be reached.
    pub fn place<'a>(&'a self, location: &TargetLocation<'a>) -> Result<Option<Place<'a>>> {
        let TargetLocation { rank, disp, count, datatype } = *location;
        let len = check_count(count, datatype)? as usize;
        if rank == mpi::MPI_PROC_NULL {
            return Ok(None);
        }
        let target = self.target(rank)?;
        if !target.is_accessible() {
            return Err(no_epoch(rank));
        }
        let offset = if self.is_dynamic() { disp } else { offset_in(target, rank, disp)? };
        if let Some((first, end)) = span(location, offset, len) {
            self.check_span(target, location, offset, (first, end))?;
        } else if len != 0 {
            return Err(outside(rank, "its addresses exceed 64 bits"));
        }
        let memory = self.memory_at(target, rank as usize, offset, len)?;
        Ok(Some(Place { window: self, target, rank: rank as usize, memory, count, datatype, len }))
    }

    fn check_span(
        &self,
        target: &Target,
        location: &TargetLocation<'_>,
        offset: i64,
        (first, end): (i64, i64),
    ) -> Result<()> {
        if self.is_dynamic() {
            let TargetLocation { rank, count, datatype, .. } = *location;
            let data = Data { rank: rank as usize, address: offset, count, datatype, span: (first, end) };
            return match data.not_attached(self.remote()) {
                None => Ok(()),
                Some(run) => Err(not_attached(rank, run)),
            };
        }
        if first >= 0 && end as u64 <= target.size() {
            return Ok(());
        }
        let what = format!("it lies at bytes {first} to {end}, and the memory has {} bytes", target.size());
        Err(outside(location.rank, &what))
    }

    fn memory_at(&self, target: &Target, rank: usize, offset: i64, len: usize) -> Result<Memory> {
        if self.is_dynamic() && rank == self.rank() {
            return Ok(Memory::Mapped(std::ptr::with_exposed_provenance_mut(offset as usize)));
        }
        if !target.base().is_null() {
            return Ok(Memory::Mapped(target.base().wrapping_offset(offset as isize)));
        }
        if len == 0 {
            return Ok(Memory::Mapped(std::ptr::null_mut()));
        }
        let address = (target.address() as i64).wrapping_add(offset) as u64;
        if self.remote().reaches(rank) {
            return Ok(Memory::Remote(address));
        }
        Err(Error::unsupported(
            "a window over private memory (MPI_Win_create, MPI_Win_create_dynamic) where single copies between processes are \
             not possible; allocate the memory with MPI_Alloc_mem or MPI_Win_allocate. It",
        ))
    }
}

#[cold]
fn no_epoch(rank: i32) -> Error {
    let message = format!(
        "rank {rank} of the window cannot be accessed outside of an epoch: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or \
         MPI_Win_lock_all first"
    );
    Error::new(mpi::MPI_ERR_RMA_SYNC, message)
}

#[cold]
fn not_attached(rank: i32, (first, end): (i64, i64)) -> Error {
    outside(rank, &format!("its bytes at {first:#x} to {end:#x} are not all attached"))
}

#[cold]
fn outside(rank: i32, what: &str) -> Error {
    let message = format!("the data does not lie in the memory of rank {rank} of the window: {what}");
    Error::new(mpi::MPI_ERR_RMA_RANGE, message)
}

/// The displacement in bytes.
fn offset_in(target: &Target, rank: i32, disp: i64) -> Result<i64> {
    if disp < 0 {
        let message = format!("the displacement {disp} in the memory of rank {rank} is negative");
        return Err(Error::new(mpi::MPI_ERR_DISP, message));
    }
    let offset = disp.checked_mul(target.disp_unit() as i64);
    offset.ok_or_else(|| outside(rank, "its displacement exceeds 63 bits"))
}

/// The first byte of the data and the one behind the last, counted like `offset`; `None` if there is no data
/// or if a number exceeds 64 bits.
fn span(location: &TargetLocation<'_>, offset: i64, len: usize) -> Option<(i64, i64)> {
    if len == 0 {
        return None;
    }
    let datatype = location.datatype;
    let first = offset.checked_add(datatype.true_lb())?;
    let end = first.checked_add(datatype.true_extent())?;
    let shift = (location.count - 1).checked_mul(datatype.extent())?;
    Some((first.min(first.checked_add(shift)?), end.max(end.checked_add(shift)?)))
}

#[cold]
fn truncated(len: usize, room: usize) -> Error {
    let message = format!("{len} bytes of data do not fit into the {room} bytes that the other side has");
    Error::new(mpi::MPI_ERR_TRUNCATE, message)
}

/// Checks that `len` bytes of data fit into `room` bytes.
pub(crate) fn check_fit(len: usize, room: usize) -> Result<()> {
    if len <= room { Ok(()) } else { Err(truncated(len, room)) }
}

impl Place<'_> {
    /// Returns true if there is no data.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes of data.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn datatype(&self) -> &Datatype {
        self.datatype
    }

    pub(crate) fn count(&self) -> i64 {
        self.count
    }

    /// The data as a buffer, if it lies in this process.
    fn buffer(&self) -> Option<Buffer> {
        match self.memory {
            // SAFETY: `place` has checked that the data lies within the target's memory, and the place does
            // not outlive the datatype.
            Memory::Mapped(base) => Some(unsafe { Buffer::new(base, self.count, self.datatype) }),
            Memory::Remote(_) => None,
        }
    }

    /// `MPI_Put`: copies the origin's data here. Long data may be read until
    /// [its request](Window::request), or the end of the epoch, if this is another machine.
    ///
    /// # Errors
    /// `MPI_ERR_TRUNCATE` if there is more of it than here is room; `MPI_ERR_OTHER` if the
    /// kernel refuses the copy.
    pub fn put(&self, origin: &Buffer) -> Result<()> {
        check_fit(origin.len(), self.len)?;
        match self.buffer() {
            Some(buffer) => origin.copy_to(&buffer, origin.len()),
            None => match self.window.remote().far(self.rank).zip(origin.contiguous()) {
                Some((far, from)) => self.write_from(far, (from, origin.len())),
                None => with_bytes(origin, |bytes| self.write(bytes))?,
            },
        }
        Ok(())
    }

    /// `MPI_Get`: copies the data from here to the origin. From another machine it may come until
    /// [its request](Window::request), or the end of the epoch.
    ///
    /// # Errors
    /// The same as for [`put`](Self::put).
    pub fn get(&self, origin: &Buffer) -> Result<()> {
        check_fit(self.len, origin.len())?;
        match (self.buffer(), origin.contiguous()) {
            (Some(buffer), _) => buffer.copy_to(origin, self.len),
            (None, Some(to)) => match self.window.remote().far(self.rank) {
                Some(far) => self.fetch_to(far, to),
                None => self.read_to(to)?,
            },
            (None, None) => {
                let mut packed = zeroed(self.len)?;
                self.read_to(packed.as_mut_ptr())?;
                origin.write(0, &packed);
            }
        }
        Ok(())
    }

    /// Copies the data from here, packed, to `to`, which has room for it.
    pub(crate) fn read_to(&self, to: *mut u8) -> Result<()> {
        if let Some(buffer) = self.buffer() {
            // SAFETY: the caller gives room for the data.
            let to = unsafe { Buffer::bytes(to, self.len) };
            buffer.copy_to(&to, self.len);
            return Ok(());
        }
        let (remote, reads) = (self.window.remote(), Answers::default());
        let copy = |runs: &[Piece], at| {
            // SAFETY: `place` has checked that the runs lie in the target's memory; they are as long as the
            // data together, for which the caller gives room.
            unsafe { remote.read_runs(self.rank, runs, to.wrapping_add(at), &reads) }
        };
        let result = by_lists((self.datatype, self.count), self.len, |offset| self.address_of(offset), copy);
        remote.finish(self.rank, &reads);
        result.map_err(|error| self.refused(&error))
    }

    /// Begins to copy the data from another machine, packed, to `to`.
    fn fetch_to(&self, far: &Far, to: *mut u8) {
        let mut at = 0;
        for run in self.datatype.runs(self.count, 0) {
            let here = (to.wrapping_add(at), run.len);
            // SAFETY: the program has room for the data, and leaves that alone until it completes the get.
            unsafe { far.read(self.rank, self.address_of(run.offset), here, None) };
            at += run.len;
        }
    }

    /// Begins to copy packed data to another machine; it may be less than there is room for.
    fn write_from(&self, far: &Far, (from, len): (*const u8, usize)) {
        let mut at = 0;
        for run in self.datatype.runs(self.count, 0) {
            let part = run.len.min(len - at);
            if part == 0 {
                break;
            }
            // SAFETY: `place` has checked that the run lies in the target's memory; the program has the data,
            // and leaves that alone until it completes the put.
            unsafe { far.write_from(self.rank, self.address_of(run.offset), from.wrapping_add(at), part) };
            at += part;
        }
    }

    /// The address in the target's process of a run, which counts from the datatype's origin.
    fn address_of(&self, offset: i64) -> u64 {
        let Memory::Remote(address) = self.memory else { unreachable!("memory that is mapped is a buffer") };
        address.wrapping_add_signed(offset)
    }

    /// Copies packed data here; it may be less than there is room for.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        if let Some(buffer) = self.buffer() {
            buffer.write(0, bytes);
            return Ok(());
        }
        let copy = |runs: &[Piece], at: usize| {
            // SAFETY: `place` has checked that the runs lie in the target's memory; the slice is as long.
            unsafe { self.window.remote().write_runs(self.rank, runs, bytes[at..].as_ptr()) }
        };
        by_lists((self.datatype, self.count), bytes.len(), |offset| self.address_of(offset), copy)
            .map_err(|error| self.refused(&error))
    }

    #[cold]
    fn refused(&self, error: &io::Error) -> Error {
        let message = format!(
            "the memory of rank {} of the window (process {} of the job) cannot be copied: {error}",
            self.rank,
            self.target.process()
        );
        Error::new(mpi::MPI_ERR_OTHER, message)
    }
}

/// Passes the data of a buffer, packed, to `use_bytes`.
///
/// # Errors
/// `MPI_ERR_NO_MEM` if there is no memory to pack them, or what `use_bytes` returns.
pub(crate) fn with_bytes<R>(buffer: &Buffer, use_bytes: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    match buffer.contiguous() {
        _ if buffer.is_empty() => use_bytes(&[]),
        // SAFETY: the buffer's memory is valid for reads, and the program leaves it
        // alone during the operation.
        Some(address) => use_bytes(unsafe { std::slice::from_raw_parts(address, buffer.len()) }),
        None => {
            let packed = buffer.copied()?;
            use_bytes(&packed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulate_lock::AccumulateLock;
    use crate::target::Way;
    use heddle_datatype::{Form, types};
    use heddle_sync::SharedMarks;

    fn location(count: i64, datatype: &Datatype) -> TargetLocation<'_> {
        TargetLocation { rank: 0, disp: 0, count, datatype }
    }

    #[test]
    fn the_span_holds_all_data_whatever_its_order() {
        let int = &types::MPI_INT;
        assert_eq!(span(&location(3, int), 8, 12), Some((8, 20)));
        assert_eq!(span(&location(0, int), 8, 0), None);
        let backwards = Datatype::vector(Form::Small, 3, 1, -2, &int.into()).expect("a type");
        assert_eq!(span(&location(1, &backwards), 16, 12), Some((0, 20)));
        let shrunk = Datatype::resized(Form::Small, 0, -4, &int.into()).expect("a type");
        assert_eq!(span(&location(3, &shrunk), 8, 12), Some((0, 12)));
        assert_eq!(span(&location(1 << 61, int), 1 << 62, usize::MAX), None, "beyond 63 bits");
    }

    #[test]
    fn displacements_count_units_and_are_not_negative() {
        let (lock, marks) = (AccumulateLock::default(), SharedMarks::default());
        let part = (std::ptr::null_mut(), 100, 8);
        // SAFETY: lock and marks are dropped after it.
        let target = unsafe { Target::new(part, Way::Atomics, (&lock, &marks), (0, 0)) };
        assert_eq!(offset_in(&target, 0, 3), Ok(24));
        assert_eq!(offset_in(&target, 0, -1).map_err(|e| e.code()), Err(mpi::MPI_ERR_DISP));
        assert_eq!(offset_in(&target, 0, 1 << 61).map_err(|e| e.code()), Err(mpi::MPI_ERR_RMA_RANGE));
    }
}
