//! Accumulates: `MPI_Accumulate`, `MPI_Get_accumulate`, `MPI_Fetch_and_op`, `MPI_Compare_and_swap`.
//!
//! The standard demands atomicity for each element, between accumulates of the same predefined type (MPI 5.0,
//! section 12.7.1). So type and address alone decide how an element is changed, whoever changes it:
//!
//! | element | how |
//! |---|---|
//! | of 1, 2, 4 or 8 bytes, aligned, in memory that all processes map | processor atomics; an exchange where the processor has no such operation |
//! | every other one | in the target's accumulate lock |
//!
//! In memory that is not mapped, also by the target itself: the lock's holder reads, computes and writes by
//! single copies. Nothing waits for the target's program. Accumulates are done when the function returns, so
//! those of one thread keep their order.

use crate::atomics::{self, Operation, can_be_atomic};
use crate::place::{Memory, Place, check_fit, with_bytes};
use crate::remote::Remote;
use heddle_datatype::Op;
use heddle_datatype::{Basic, Class, Datatype};
use heddle_message::buffer::Buffer;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;

/// A predefined operator on a predefined type.
#[derive(Debug)]
pub struct Accumulate {
    pub(crate) operation: Operation,
    pub(crate) basic: &'static Basic,
    /// The predefined type itself.
    pub(crate) element: &'static Datatype,
}

impl Accumulate {
    /// An operator for the data of a datatype.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` if not all data of the datatype is of one predefined type; `MPI_ERR_OP` if the
    /// operator is not defined on it.
    pub fn new(op: Op, datatype: &Datatype) -> Result<Accumulate> {
        let Some(basic) = datatype.uniform_basic() else {
            let message = "an accumulate needs a datatype whose data is of one predefined type";
            return Err(Error::new(mpi::MPI_ERR_TYPE, message));
        };
        let Some(element) = heddle_datatype::predefined(basic.handle) else {
            unreachable!("a basic type has a predefined datatype")
        };
        let kernel = heddle_datatype::kernel(op, element)
            .map_err(|error| Error::new(mpi::MPI_ERR_OP, error.to_string()))?;
        Ok(Accumulate {
            operation: Operation { op, integer: heddle_datatype::integer_bytes(basic.handle) != 0, kernel },
            basic,
            element,
        })
    }

    /// Checks that a datatype's data is of the accumulate's type.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` if it is of another one.
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        if datatype.size() == 0 || datatype.uniform_basic().is_some_and(|basic| basic.kind == self.basic.kind)
        {
            return Ok(());
        }
        let message = format!(
            "the data of the two sides of an accumulate is not of one type: here it is {}",
            self.basic.name
        );
        Err(Error::new(mpi::MPI_ERR_TYPE, message))
    }

    /// Combines one packed operand with an element that has gaps.
    ///
    /// # Safety
    /// All three are valid, those that are not null.
    pub(crate) unsafe fn one_with_gaps(&self, to: *mut u8, operand: *const u8, result: *mut u8) {
        let element = self.element;
        let mut data = vec![0; element.size() as usize];
        // SAFETY: an element, and room for it.
        unsafe { element.pack(to, 1, 0, &mut data) };
        if !result.is_null() {
            // SAFETY: by the caller's promise.
            unsafe { result.copy_from(data.as_ptr(), data.len()) };
        }
        if self.operation.op != Op::NoOp {
            // SAFETY: by the caller's promise.
            let operand = unsafe { std::slice::from_raw_parts(operand, data.len()) };
            combine(self, operand, &mut data);
            // SAFETY: room for an element.
            unsafe { element.unpack(to, 1, 0, &data) };
        }
    }

    /// The size of an element that the processor can change at once; 0 for pairs.
    pub(crate) fn atomic_size(&self) -> usize {
        if self.basic.class == Class::Pair { 0 } else { self.element.size() as usize }
    }
}

/// Bytes that the operation reads or writes at the origin, packed; null if there are none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) operands: *const u8,
    pub(crate) results: *mut u8,
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
                before.resize(len, 0);
                before.as_mut_ptr()
            }
        };
        let apply = |operands: *const u8| self.apply(accumulate, len, Stream { operands, results });
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
        let size = accumulate.atomic_size();
        let (Memory::Mapped(base), true) =
            (self.memory, self.target.is_shared() && matches!(size, 1 | 2 | 4 | 8))
        else {
            return self.in_accumulate_lock(|| self.apply_locked(accumulate, len, stream));
        };
        let mut at = 0;
        for run in self.datatype().runs(self.count(), 0) {
            let run_len = run.len.min(len - at);
            let target = base.wrapping_offset(run.offset as isize);
            let advance =
                |pointer: *mut u8| if pointer.is_null() { pointer } else { pointer.wrapping_add(at) };
            let (operands, results) =
                (advance(stream.operands.cast_mut()).cast_const(), advance(stream.results));
            if can_be_atomic(size, target) {
                // SAFETY: the run lies in the target's memory, and the streams are as long as the data.
                unsafe {
                    atomics::accumulate(
                        &accumulate.operation,
                        size,
                        target,
                        operands,
                        results,
                        run_len / size,
                    );
                };
            } else {
                self.in_accumulate_lock(|| {
                    // SAFETY: the run lies in the target's memory, and the streams are as long as the data.
                    unsafe { unaligned(accumulate, target, operands, results, run_len) };
                    Ok(())
                })?;
            }
            at += run_len;
            if at == len {
                break;
            }
        }
        Ok(())
    }

    /// Combines `len` bytes inside of the accumulate lock: reads the data, computes, and writes it back.
    fn apply_locked(&self, accumulate: &Accumulate, len: usize, stream: Stream) -> Result<()> {
        let mut data = vec![0; self.len()];
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
    /// element before. All are elements of the place's datatype, a predefined one.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` if the standard does not allow the type; `MPI_ERR_OTHER` if the kernel refuses a copy.
    ///
    /// # Safety
    /// `value` and `expected` are valid for reads of an element, `result` for writes.
    pub unsafe fn compare_and_swap(
        &self,
        value: *const u8,
        expected: *const u8,
        result: *mut u8,
    ) -> Result<()> {
        use Class::{Byte, CInteger, FortranInteger, Logical, MultiLanguage};
        let size = self.len();
        let allowed =
            |basic: &Basic| matches!(basic.class, CInteger | FortranInteger | Logical | MultiLanguage | Byte);
        if !self.datatype().named_basic().is_some_and(allowed) {
            let message = "MPI_Compare_and_swap works on C integer, Fortran integer, logical, multi-language and byte types";
            return Err(Error::new(mpi::MPI_ERR_TYPE, message));
        }
        if let Memory::Mapped(target) = self.memory
            && self.target.is_shared()
            && can_be_atomic(size, target)
        {
            // SAFETY: the element lies in the target's memory; the caller vouches for the others.
            unsafe { atomics::compare_and_swap(size, target, expected, value, result) };
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
        let remote = self.window.remote();
        remote.in_lock(self.rank, remote.geometry().accumulate_lock(), change)
    }
}

/// Combines elements one by one at any address.
///
/// # Safety
/// `len` bytes of whole elements are valid at all addresses that are not null.
pub(crate) unsafe fn unaligned(
    accumulate: &Accumulate,
    target: *mut u8,
    operands: *const u8,
    results: *mut u8,
    len: usize,
) {
    if !results.is_null() {
        // SAFETY: the caller's promise.
        unsafe { results.copy_from(target, len) };
    }
    if accumulate.operation.op != Op::NoOp {
        let Operation { kernel, .. } = accumulate.operation;
        // SAFETY: the caller's promise; kernels take elements at any address.
        unsafe { kernel(operands, target, len / accumulate.element.size() as usize) };
    }
}

/// Combines packed operands with packed data.
fn combine(accumulate: &Accumulate, operands: &[u8], data: &mut [u8]) {
    let Operation { kernel, .. } = accumulate.operation;
    let element = accumulate.element;
    let count = data.len() / element.size() as usize;
    if element.is_contiguous() {
        // SAFETY: both have whole elements, and do not overlap.
        return unsafe { kernel(operands.as_ptr(), data.as_mut_ptr(), count) };
    }
    // Pairs with gaps: the kernel wants them as a compiler lays them out.
    let (left, mut right) = (laid_out(element, operands, count), laid_out(element, data, count));
    // SAFETY: both have room for the elements with their gaps.
    unsafe { kernel(left.as_ptr(), right.as_mut_ptr(), count) };
    // SAFETY: the vector has the elements with their gaps.
    let packed = unsafe { element.pack(right.as_ptr(), count as i64, 0, data) };
    debug_assert_eq!(packed, data.len());
}

/// Packed elements with the gaps that the type has in memory.
fn laid_out(element: &Datatype, packed: &[u8], count: usize) -> Vec<u8> {
    let mut memory = vec![0; count * element.extent() as usize];
    // SAFETY: the vector has room for the elements with their gaps.
    unsafe { element.unpack(memory.as_mut_ptr(), count as i64, 0, packed) };
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_datatype::types;

    #[test]
    fn pairs_are_combined_whatever_their_gaps() {
        let accumulate = Accumulate::new(Op::Maxloc, &types::MPI_SHORT_INT).expect("defined");
        let pair = |value: i16, index: i32| {
            let mut bytes = value.to_ne_bytes().to_vec();
            bytes.extend(index.to_ne_bytes());
            bytes
        };
        let mut data = [pair(5, 1), pair(7, 2)].concat();
        combine(&accumulate, &[pair(6, 3), pair(7, 1)].concat(), &mut data);
        assert_eq!(data, [pair(6, 3), pair(7, 1)].concat());
        assert_eq!(accumulate.atomic_size(), 0);
    }

    #[test]
    fn operators_need_their_types() {
        let code =
            |op, datatype: &Datatype| Accumulate::new(op, datatype).map(drop).map_err(|error| error.code());
        assert_eq!(code(Op::Band, &types::MPI_DOUBLE), Err(mpi::MPI_ERR_OP));
        assert_eq!(code(Op::Replace, &types::MPI_DOUBLE), Ok(()));
        assert_eq!(code(Op::NoOp, &types::MPI_CHAR), Ok(()));
    }

    #[test]
    fn elements_of_every_size_are_changed_by_atomics() {
        let accumulate = Accumulate::new(Op::Prod, &types::MPI_DOUBLE).expect("defined");
        let mut target = [3.0f64, 5.0];
        let (operands, mut results) = ([2.0f64, 4.0], [0.0f64; 2]);
        // SAFETY: arrays of two elements.
        unsafe {
            atomics::accumulate(
                &accumulate.operation,
                8,
                target.as_mut_ptr().cast(),
                operands.as_ptr().cast(),
                results.as_mut_ptr().cast(),
                2,
            );
        };
        assert_eq!((target, results), ([6.0, 20.0], [3.0, 5.0]));
    }
}
