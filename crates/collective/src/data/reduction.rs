//! Computing with an operator: `inout = in OP inout`.

use super::elements::Elements;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::{Error, Result};
use heddle_comm::op::{OpRef, UserOp};
use heddle_datatype::{Kernel, OperatorTable, kernel};
use heddle_objects::table::Ref;
use heddle_spec::constants as mpi;

/// An operator on a datatype.
#[derive(Debug)]
pub struct Reduction<'a> {
    op: &'a OpRef,
    datatype: &'a TypeInUse,
    /// The handle that the program's function receives.
    handle: usize,
    kernel: Option<Kernel>,
}

impl<'a> Reduction<'a> {
    /// The operator `op` on elements of `datatype`, whose handle is `handle`.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if the operator is not defined on the datatype.
    pub fn new(op: &'a OpRef, datatype: &'a TypeInUse, handle: usize) -> Result<Reduction<'a>> {
        let kernel = match op {
            OpRef::User(_) => None,
            OpRef::Predefined(op) if op.is_reduction() => {
                let table = if heddle_settings::is_strict() {
                    OperatorTable::Standard
                } else {
                    OperatorTable::Reduction
                };
                let kernel = kernel(*op, datatype, table);
                Some(kernel.map_err(|error| Error::new(mpi::MPI_ERR_OP, error.to_string()))?)
            }
            OpRef::Predefined(op) => {
                let message = format!("{} is for one-sided communication, not for reductions", op.name());
                return Err(Error::new(mpi::MPI_ERR_OP, message));
            }
        };
        Ok(Reduction { op, datatype, handle, kernel })
    }

    pub(crate) fn commutes(&self) -> bool {
        self.op.commutes()
    }

    pub(crate) fn datatype(&self) -> &'a TypeInUse {
        self.datatype
    }

    /// What computes without the reduction's borrowed parts.
    pub(crate) fn combiner(&self) -> Combiner {
        match (self.op, self.kernel) {
            (OpRef::User(op), _) => {
                Combiner::User { op: op.clone(), extent: self.datatype.extent(), handle: self.handle }
            }
            (_, Some(kernel)) => Combiner::Kernel { kernel, size: self.datatype.size() as usize },
            (OpRef::Predefined(_), None) => unreachable!("predefined operators come with their kernel"),
        }
    }

    /// `inout = input OP inout` on `count` elements.
    pub(crate) fn apply(&self, input: Elements<'_>, inout: Elements<'_>, count: i64) {
        // SAFETY: the caller of `Elements::new` promised the memory of both vectors, which never overlap.
        unsafe { self.combiner().apply(input.address(), inout.address(), count) };
    }
}

/// Computes with an operator on elements of a datatype.
#[derive(Debug, Clone)]
pub(crate) enum Combiner {
    /// The library's function for the datatype, and the bytes of an element.
    Kernel { kernel: Kernel, size: usize },
    /// The program's function; the extent and the handle of the datatype that it receives.
    User { op: Ref<UserOp>, extent: i64, handle: usize },
}

impl Combiner {
    /// `inout = input OP inout` on `count` elements.
    ///
    /// # Safety
    /// Both vectors have that many elements of the reduction's datatype, and do not overlap.
    pub(crate) unsafe fn apply(&self, input: *mut u8, inout: *mut u8, count: i64) {
        if count == 0 {
            return;
        }
        match self {
            // SAFETY: the caller's promise.
            Combiner::User { op, extent, handle } => unsafe {
                op.call(input, inout, count, *extent, *handle)
            },
            // SAFETY: the caller's promise; the kernel was chosen for this datatype.
            Combiner::Kernel { kernel, .. } => unsafe { kernel(input, inout, count as usize) },
        }
    }

    /// `result = left OP right` on `count` elements without gaps. The operands on the right are copied a few
    /// at a time, so that they are computed with while they are in the first cache.
    ///
    /// # Safety
    /// All vectors have that many elements of the reduction's datatype. The result does not overlap the
    /// operands on the left; it may be those on the right.
    #[inline(always)]
    pub(crate) unsafe fn combine(&self, (left, right): (*const u8, *const u8), result: *mut u8, count: i64) {
        if right == result {
            // SAFETY: the caller's promise.
            return unsafe { self.apply(left.cast_mut(), result, count) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.combine_apart((left, right), result, count) };
    }

    /// The same if the result is elsewhere.
    ///
    /// # Safety
    /// The same as for [`Self::combine`].
    unsafe fn combine_apart(&self, (left, right): (*const u8, *const u8), result: *mut u8, count: i64) {
        let (size, at_once) = match *self {
            Combiner::Kernel { size, .. } => (size, (AT_ONCE / size.max(1)).max(1) as i64),
            Combiner::User { extent, .. } => (extent as usize, count.max(1)),
        };
        for first in (0..count).step_by(at_once as usize) {
            let (at, count) = (first as usize * size, at_once.min(count - first));
            let (left, right, result) =
                (left.wrapping_add(at), right.wrapping_add(at), result.wrapping_add(at));
            // SAFETY: the caller's promise.
            unsafe { right.copy_to_nonoverlapping(result, count as usize * size) };
            // SAFETY: the caller's promise.
            unsafe { self.apply(left.cast_mut(), result, count) };
        }
    }
}

/// The bytes of operands that are copied at once: a quarter of a first cache.
const AT_ONCE: usize = 8 << 10;
