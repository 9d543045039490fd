//! Accumulates: `MPI_Accumulate`, `MPI_Get_accumulate`, `MPI_Fetch_and_op`, `MPI_Compare_and_swap`.
//!
//! The standard demands atomicity for each element, between accumulates of the same predefined type (MPI 5.0,
//! section 12.7.1). So type and address alone decide how an element is changed, whoever changes it:
//!
//! | element | how |
//! |---|---|
//! | of 1, 2, 4 or 8 bytes, aligned, in memory that all processes map | as the window's [granularity](crate::Window::granularity) says. 0: processor atomics while the target's accumulate lock is open, else by its holder. 1 to 8: processor atomics. From 9 on: by its holder |
//! | every other one | by the lock's holder |
//!
//! Processor atomics are an exchange where there is no such operation, and stores where several elements are
//! replaced. In mapped memory the lock is held for 128 KiB at a time, or as many bytes as the granularity
//! says. In memory that is not mapped, also by the target itself: the lock's holder reads, computes and
//! writes by single copies. On another machine a thread of the library changes the elements, in the same
//! ways. Nothing waits for the target's program. Those of one thread keep their order: on one machine they
//! are done when the function returns, and messages to another one stay in order.

use crate::answers::Answers;
use crate::atomics;
use crate::far::Far;
use crate::means::{ChangeKind, Means};
use crate::operator::{Accumulate, combine, unaligned};
use crate::place::{Memory, Place, check_fit, with_bytes};
use crate::turns::Turns;
use heddle_datatype::{Op, OperatorTable};
use heddle_message::buffer::{Buffer, zeroed};
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;

/// Bytes that the operation reads or writes at the origin, packed; null if there are none. The results are
/// there when the function returns if they are `needed`.
#[derive(Debug, Clone, Copy)]
struct Stream {
    operands: *const u8,
    results: *mut u8,
    needed: bool,
}

impl Place<'_> {
    /// Combines the origin's data with the data here. `origin` is `None` under `MPI_NO_OP`; `result`
    /// receives the data before.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` if the types differ, `MPI_ERR_TRUNCATE` if the numbers of elements do; `MPI_ERR_OTHER`
    /// if the kernel refuses a copy.
    pub fn accumulate(
        &self,
        accumulate: &Accumulate,
        origin: Option<&Buffer>,
        result: Option<&Buffer>,
    ) -> Result<()> {
        accumulate.check(self.datatype())?;
        let mut len = self.len();
        if let Some(origin) = origin {
            check_fit(origin.len(), len)?;
            len = origin.len();
        }
        if let Some(result) = result {
            check_fit(len, result.len())?;
        }
        let mut before = Vec::new();
        let results = match result.map(Buffer::contiguous) {
            None => std::ptr::null_mut(),
            Some(Some(address)) => address,
            Some(None) => {
                before = zeroed(len)?;
                before.as_mut_ptr()
            }
        };
        let needed = !before.is_empty();
        let apply = |operands| self.apply(accumulate, len, Stream { operands, results, needed });
        match origin {
            Some(origin) => with_bytes(origin, |bytes| apply(bytes.as_ptr()))?,
            None => apply(std::ptr::null())?,
        }
        if let (Some(result), false) = (result, before.is_empty()) {
            result.write(0, &before);
        }
        Ok(())
    }

    /// Combines `len` bytes.
    fn apply(&self, accumulate: &Accumulate, len: usize, stream: Stream) -> Result<()> {
        if let (Memory::Remote(address), Some(far)) = (self.memory, self.window.remote().far(self.rank)) {
            self.accumulate_far(far, address, accumulate, len, stream);
            return Ok(());
        }
        match self.memory {
            Memory::Mapped(base) if accumulate.element.is_contiguous() => {
                self.apply_in_place(base, accumulate, len, stream);
                Ok(())
            }
            _ => self.in_accumulate_lock(|| self.apply_locked(accumulate, len, stream)),
        }
    }

    /// Combines `len` bytes where they are.
    fn apply_in_place(&self, base: *mut u8, accumulate: &Accumulate, len: usize, stream: Stream) {
        let (size, operation) = (accumulate.atomic_size(), &accumulate.operation);
        let kind = operation.kind(!stream.results.is_null());
        let element = accumulate.element.size() as usize;
        let mut turns = Turns::new(self.window, self.target, kind, (element, size));
        let mut at = 0;
        for run in self.datatype().runs(self.count(), 0) {
            let end = at + run.len.min(len - at);
            let mut target = base.wrapping_offset(run.offset as isize);
            while at < end {
                let (means, part) = turns.next(target, end - at);
                let advance =
                    |pointer: *mut u8| if pointer.is_null() { pointer } else { pointer.wrapping_add(at) };
                let operands = advance(stream.operands.cast_mut()).cast_const();
                let results = advance(stream.results);
                match means {
                    // SAFETY: the part lies in the target's memory, and the streams are as long as the data.
                    Means::Atomics => unsafe {
                        atomics::accumulate(operation, size, target, operands, results, part / size);
                    },
                    // SAFETY: the same.
                    Means::Any => unsafe { unaligned(accumulate, target, operands, results, part) },
                }
                (at, target) = (at + part, target.wrapping_add(part));
            }
            if at == len {
                break;
            }
        }
    }

    /// Combines `len` bytes inside of the accumulate lock: reads the data, computes, and writes it back.
    fn apply_locked(&self, accumulate: &Accumulate, len: usize, stream: Stream) -> Result<()> {
        let mut data = zeroed(self.len())?;
        self.read_to(data.as_mut_ptr())?;
        if !stream.results.is_null() {
            // SAFETY: the results have room for the data.
            unsafe { stream.results.copy_from(data.as_ptr(), len) };
        }
        if accumulate.operation.op == Op::NoOp {
            return Ok(());
        }
        // SAFETY: the operands are as long as the data.
        let operands = unsafe { std::slice::from_raw_parts(stream.operands, len) };
        combine(accumulate, operands, &mut data[..len]);
        self.write(&data[..len])
    }

    /// `MPI_Compare_and_swap`: stores `value` if the element here holds `expected`; `result` receives the
    /// element before, as late as the data of [`get`](Self::get). All are elements of the place's datatype, a
    /// predefined one.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` if the table does not have the type; `MPI_ERR_OTHER` if the kernel refuses a copy.
    ///
    /// # Safety
    /// `value` and `expected` are valid for reads of an element, `result` for writes.
    pub unsafe fn compare_and_swap(
        &self,
        value: *const u8,
        expected: *const u8,
        result: *mut u8,
        table: OperatorTable,
    ) -> Result<()> {
        let size = self.len();
        if !self.datatype().predefined_basic().is_some_and(|basic| table.can_be_compared(basic)) {
            let message = "MPI_Compare_and_swap works on C integer, Fortran integer, logical, multi-language and byte types";
            return Err(Error::new(mpi::MPI_ERR_TYPE, message));
        }
        if let Memory::Mapped(target) = self.memory {
            let mut turns = Turns::new(self.window, self.target, ChangeKind::Computed, (size, size));
            let (means, _) = turns.next(target, size);
            match means {
                // SAFETY: the element lies in the target's memory; the caller vouches for the others.
                Means::Atomics => unsafe { atomics::compare_and_swap(size, target, expected, value, result) },
                // SAFETY: the same.
                Means::Any => unsafe { atomics::swap_alone(size, target, (expected, value), result) },
            }
            return Ok(());
        }
        if let (Memory::Remote(address), Some(far)) = (self.memory, self.window.remote().far(self.rank)) {
            // SAFETY: the caller vouches for the elements.
            unsafe { far.compare_and_swap(self.rank, (address, size), (expected, value), result) };
            return Ok(());
        }
        self.in_accumulate_lock(|| {
            let mut before = vec![0; size];
            self.read_to(before.as_mut_ptr())?;
            // SAFETY: the caller vouches for an element.
            let expected = unsafe { std::slice::from_raw_parts(expected, size) };
            // SAFETY: the caller vouches for an element.
            let value = unsafe { std::slice::from_raw_parts(value, size) };
            if before == expected {
                self.write(value)?;
            }
            // SAFETY: the caller vouches for an element.
            unsafe { result.copy_from(before.as_ptr(), size) };
            Ok(())
        })
    }

    /// Runs `change` while no other thread and no other process is inside of the target's accumulate lock.
    fn in_accumulate_lock(&self, change: impl FnOnce() -> Result<()>) -> Result<()> {
        let _alone = self.window.take_alone(self.target);
        change()
    }

    /// Combines `len` bytes of operands with the data at `address` of a process on another machine.
    fn accumulate_far(&self, far: &Far, address: u64, accumulate: &Accumulate, len: usize, stream: Stream) {
        let operator = accumulate.operation.op;
        if operator == Op::NoOp && stream.results.is_null() {
            return;
        }
        let element = accumulate.element;
        let size = element.size() as usize;
        let wanted = (operator as u16, accumulate.basic.handle, size);
        let (reads, mut at) = (Answers::default(), 0);
        let begin = |address: u64, at: usize, len: usize| {
            let advance =
                |pointer: *mut u8| if pointer.is_null() { pointer } else { pointer.wrapping_add(at) };
            let (operands, results) = (advance(stream.operands.cast_mut()), advance(stream.results));
            let thread = stream.needed.then_some(&reads);
            // SAFETY: the streams are as long as the data. The reads are finished below, or the results are
            // the program's, which leaves them alone until it completes the operation.
            unsafe {
                far.accumulate(self.rank, wanted, address, (operands.cast_const(), results), len, thread);
            };
        };
        for run in self.datatype().runs(self.count(), 0) {
            let run_len = run.len.min(len - at);
            let start = address.wrapping_add_signed(run.offset);
            if element.is_contiguous() {
                begin(start, at, run_len);
            } else {
                // Elements with gaps go one by one. A run may have the end of one and the beginning of the
                // next.
                let first = at.next_multiple_of(size) - at;
                for inside in (first..run_len).step_by(size) {
                    begin(start.wrapping_add(inside as u64), at + inside, size);
                }
            }
            at += run_len;
            if at == len {
                break;
            }
        }
        far.finish(&reads);
    }
}
