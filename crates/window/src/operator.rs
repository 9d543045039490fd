//! A predefined operator on elements of a predefined type: what an accumulate does to its target.

use crate::atomics::Operation;
use heddle_datatype::{Basic, Datatype, Op, OperatorTable, TypeClass};
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
    /// table does not have the operator on it.
    pub fn new(op: Op, datatype: &Datatype, table: OperatorTable) -> Result<Accumulate> {
        let Some(basic) = datatype.uniform_basic() else {
            let message = "an accumulate needs a datatype whose data is of one predefined type";
            return Err(Error::new(mpi::MPI_ERR_TYPE, message));
        };
        let Some(element) = heddle_datatype::predefined(basic.handle) else {
            unreachable!("a basic type has a predefined datatype")
        };
        let kernel = heddle_datatype::kernel(op, element, table)
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
        if self.basic.class == TypeClass::Pair { 0 } else { self.element.size() as usize }
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
pub(crate) fn combine(accumulate: &Accumulate, operands: &[u8], data: &mut [u8]) {
    let Operation { kernel, .. } = accumulate.operation;
    let element = accumulate.element;
    let count = data.len() / element.size() as usize;
    if element.is_contiguous() {
        // SAFETY: both have whole elements, and do not overlap.
        return unsafe { kernel(operands.as_ptr(), data.as_mut_ptr(), count) };
    }
    // Pairs with gaps: the kernel wants them as a compiler lays them out.
    let at_once = PAIRS_AT_ONCE * element.size() as usize;
    for (operands, data) in operands.chunks(at_once).zip(data.chunks_mut(at_once)) {
        let count = data.len() / element.size() as usize;
        let (left, mut right) = (laid_out(element, operands, count), laid_out(element, data, count));
        // SAFETY: both have room for the elements with their gaps.
        unsafe { kernel(left.as_ptr(), right.as_mut_ptr(), count) };
        // SAFETY: the vector has the elements with their gaps.
        let packed = unsafe { element.pack(right.as_ptr(), count as i64, 0, data) };
        debug_assert_eq!(packed, data.len());
    }
}

/// The most pairs that are laid out at once.
const PAIRS_AT_ONCE: usize = 1024;

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
    use crate::atomics;
    use heddle_datatype::types;

    #[test]
    fn pairs_are_combined_whatever_their_gaps() {
        let accumulate =
            Accumulate::new(Op::Maxloc, &types::MPI_SHORT_INT, OperatorTable::Standard).expect("defined");
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
        let code = |op, datatype: &Datatype| {
            Accumulate::new(op, datatype, OperatorTable::Standard).map(drop).map_err(|error| error.code())
        };
        assert_eq!(code(Op::Band, &types::MPI_DOUBLE), Err(mpi::MPI_ERR_OP));
        assert_eq!(code(Op::Replace, &types::MPI_DOUBLE), Ok(()));
        assert_eq!(code(Op::NoOp, &types::MPI_CHAR), Ok(()));
    }

    #[test]
    fn elements_of_every_size_are_changed_by_atomics() {
        let accumulate =
            Accumulate::new(Op::Prod, &types::MPI_DOUBLE, OperatorTable::Standard).expect("defined");
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

    #[test]
    fn elements_are_replaced_with_and_without_a_result() {
        for (size, datatype) in
            [(1, &types::MPI_CHAR), (2, &types::MPI_SHORT), (4, &types::MPI_INT), (8, &types::MPI_DOUBLE)]
        {
            let accumulate =
                Accumulate::new(Op::Replace, datatype, OperatorTable::Standard).expect("defined");
            let mut target = [[1u8; 8]; 3];
            let (first, second) = ([[2u8; 8]; 3], [[3u8; 8]; 3]);
            let mut before = [[0u8; 8]; 3];
            let mut replace = |operands: &[[u8; 8]; 3], results: *mut u8, count| {
                let (target, operands) = (target.as_mut_ptr().cast(), operands.as_ptr().cast());
                // SAFETY: the arrays have 24 bytes.
                unsafe { atomics::accumulate(&accumulate.operation, size, target, operands, results, count) };
            };
            replace(&first, std::ptr::null_mut(), 24 / size - 1);
            replace(&second, before.as_mut_ptr().cast(), 24 / size);
            assert_eq!(before.as_flattened()[..24 - size], [2; 24][size..], "elements of {size} bytes");
            assert_eq!(before.as_flattened()[24 - size..], [1; 24][24 - size..], "the last stays");
            assert_eq!(target, second);
        }
    }
}
